#include "compiler/target/cpu/Link.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace recipe::cpu {

static Error writeFile(StringRef path, ArrayRef<char> bytes) {
  std::error_code failed;
  raw_fd_ostream out(path, failed);
  if (!failed) {
    out.write(bytes.data(), bytes.size());
    out.close();
    failed = out.error();
    out.clear_error();
  }
  return failed ? createFileError(path, failed) : Error::success();
}

// lld keeps its state in globals and leaves them usable for the next link only after a clean one.
static Error runLinker(ArrayRef<std::string> arguments) {
  static std::mutex oneAtATime;
  static bool usable = true;
  std::lock_guard<std::mutex> lock(oneAtATime);
  if (!usable)
    return createStringError("the linker failed earlier and cannot run again in this process");
  std::vector<const char *> argv;
  for (const std::string &argument : arguments)
    argv.push_back(argument.c_str());
  std::string messages;
  raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(argv, nulls(), stream, {{lld::Gnu, &lld::elf::link}});
  usable = result.canRunAgain;
  if (result.retCode != 0)
    return createStringError("linking the kernels failed: " + messages);
  return Error::success();
}

Expected<std::string> linkShared(ArrayRef<SmallVector<char, 0>> objects) {
  SmallString<128> folder;
  if (std::error_code failed = sys::fs::createUniqueDirectory("recipec", folder))
    return createFileError(folder, failed);
  scope_exit cleanUp([&] { (void)sys::fs::remove_directories(folder); });
  auto inFolder = [&](const Twine &name) {
    SmallString<128> path(folder);
    sys::path::append(path, name);
    return std::string(path);
  };

  std::string output = inFolder("kernels.so");
  std::vector<std::string> arguments = {
      "ld.lld",          "-shared",          "-o",          output,        "-nostdlib", "--no-undefined",
      "--build-id=none", "--hash-style=gnu", "--strip-all", "--threads=1", "-Bsymbolic"};
  for (auto [index, object] : enumerate(objects)) {
    arguments.push_back(inFolder(formatv("{0}.o", index).str()));
    if (Error failed = writeFile(arguments.back(), object))
      return failed;
  }
  if (Error failed = runLinker(arguments)) {
    // A full disk, or a limit on files, is not the linker's failure: the output is about as long as what goes into it.
    size_t length = 1 << 16; // and its pages
    for (const SmallVector<char, 0> &object : objects)
      length += object.size();
    if (Error cause = writeFile(output, std::vector<char>(length))) {
      consumeError(std::move(failed));
      return cause;
    }
    return failed;
  }
  auto bytes = MemoryBuffer::getFile(output, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!bytes)
    return createFileError(output, bytes.getError());
  return (*bytes)->getBuffer().str();
}

} // namespace recipe::cpu
