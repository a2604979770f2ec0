#include "runtime/data/Tokenize.h"

#include "runtime/data/TokenFileWriter.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace recipe::rt {

// Each byte of the open file is one token.
static absl::Status appendBytes(int fd, const std::string &input, const std::function<bool()> &stopRequested,
                                TokenFileWriter &writer) {
  struct stat info;
  if (::fstat(fd, &info) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(input, ": cannot be examined"));
  if (S_ISDIR(info.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(input, ": is a folder, not a text file"));
  // A device may have no end.
  if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(input, ": must be a file or a pipe, got something else"));
  std::vector<uint8_t> chunk(1 << 20);
  for (;;) {
    pollfd wait = {fd, POLLIN, 0};
    while (!(stopRequested && stopRequested()) && ::poll(&wait, 1, 200) <= 0)
      ;
    if (stopRequested && stopRequested())
      return absl::CancelledError("stopped, as asked");
    ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return absl::ErrnoToStatus(errno, absl::StrCat(input, ": cannot be read"));
    if (got == 0)
      return absl::OkStatus();
    absl::Status status = writer.appendStored({chunk.data(), static_cast<size_t>(got)});
    if (!status.ok())
      return status;
  }
}

// A typing error such as `-o book.txt book.txt` must not cost the user the text.
static absl::Status checkNotAnInput(const std::vector<std::string> &inputs, const std::string &output) {
  struct stat out;
  if (::stat(output.c_str(), &out) != 0)
    return absl::OkStatus();
  for (const std::string &input : inputs) {
    struct stat in;
    if (::stat(input.c_str(), &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
      return absl::InvalidArgumentError(
          absl::StrCat(output, ": the output must not be one of the inputs, got ", input));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> tokenizeFiles(const std::vector<std::string> &inputs, const std::string &output,
                                       const std::string &tokenizer, const std::function<bool()> &stopRequested) {
  if (tokenizer != "bytes")
    return absl::UnimplementedError(
        absl::StrCat("the tokenizer must be \"bytes\" (one token for each byte), got \"", tokenizer, "\""));
  if (absl::Status status = checkNotAnInput(inputs, output); !status.ok())
    return status;
  absl::StatusOr<TokenFileWriter> writer = TokenFileWriter::create(output, tokenizer, 256);
  if (!writer.ok())
    return writer.status();
  for (const std::string &input : inputs) {
    int fd = ::open(input.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      return absl::ErrnoToStatus(errno, absl::StrCat(input, ": cannot be opened"));
    absl::Status status = appendBytes(fd, input, stopRequested, *writer);
    ::close(fd);
    if (!status.ok())
      return status;
  }
  if (absl::Status status = writer->finish(); !status.ok())
    return status;
  return writer->tokenCount();
}

} // namespace recipe::rt
