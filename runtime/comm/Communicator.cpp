#include "runtime/comm/Communicator.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/comm/Backoff.h"
#include <algorithm>
#include <cassert>
#include <cstring>

using namespace recipe::rt;

Communicator::Request SelfCommunicator::send(int, int, const void *, size_t) {
  assert(false && "one rank has nobody to send to");
  return -1;
}

Communicator::Request SelfCommunicator::receive(int, int, void *, size_t) {
  assert(false && "one rank has nobody to receive from");
  return -1;
}

absl::StatusOr<bool> SelfCommunicator::test(Request) { return absl::InternalError("one rank has no transfers"); }

static absl::Status noAnswer(Communicator &comm, double seconds) {
  std::string missing = comm.describeMissing(0);
  std::string activity = comm.activity();
  return absl::DeadlineExceededError(absl::StrCat(activity, activity.empty() ? "" : ": ",
                                                  "other ranks gave no answer within ", seconds, " s",
                                                  missing.empty() ? "" : "; ", missing));
}

absl::Status recipe::rt::waitFor(Communicator &comm, absl::Span<const Communicator::Request> requests,
                                 double timeoutSeconds) {
  Backoff backoff;
  for (Communicator::Request request : requests) {
    backoff.progress();
    while (true) {
      RCP_ASSIGN_OR_RETURN(bool done, comm.test(request));
      if (done)
        break;
      if (double idle = backoff.idleSeconds(); idle > 0.001) {
        RCP_RETURN_IF_ERROR(comm.failureElsewhere());
        if (idle > timeoutSeconds && comm.secondsSinceFileWork() > timeoutSeconds)
          return noAnswer(comm, timeoutSeconds);
      }
      backoff.pause();
    }
  }
  return absl::OkStatus();
}

/// Sends one message and receives another, both of known length.
static absl::Status exchange(Communicator &comm, int to, const std::string &out, int from, std::string &in, int tag,
                             double timeoutSeconds) {
  Communicator::Request requests[] = {comm.receive(from, tag, in.data(), in.size()),
                                      comm.send(to, tag, out.data(), out.size())};
  return waitFor(comm, requests, timeoutSeconds);
}

/// Bruck's all-gather: after k rounds a rank holds the blocks of the 2^k ranks from itself on.
static absl::StatusOr<std::string> gatherBlocks(Communicator &comm, const std::string &block, int tag,
                                                double timeoutSeconds) {
  int size = comm.size(), rank = comm.rank();
  std::string held = block; // of ranks rank, rank + 1, ...
  for (int have = 1; have < size; have *= 2) {
    size_t count = size_t(std::min(have, size - have)) * block.size();
    std::string in(count, '\0');
    RCP_RETURN_IF_ERROR(exchange(comm, (rank - have + size) % size, held.substr(0, count), (rank + have) % size, in,
                                 tag, timeoutSeconds));
    held += in;
  }
  size_t own = size_t(size - rank) * block.size(); // rank 0's block comes after these
  return held.substr(own) + held.substr(0, own);
}

absl::Status recipe::rt::barrier(Communicator &comm, double timeoutSeconds) {
  return gatherBlocks(comm, "b", Communicator::kSmallCollectives, timeoutSeconds).status();
}

absl::StatusOr<bool> recipe::rt::anyRank(Communicator &comm, bool own, double timeoutSeconds) {
  RCP_ASSIGN_OR_RETURN(std::string all,
                       gatherBlocks(comm, own ? "y" : "n", Communicator::kSmallCollectives + 3, timeoutSeconds));
  return all.find('y') != std::string::npos;
}

absl::StatusOr<std::vector<std::string>> recipe::rt::allGather(Communicator &comm, const std::string &bytes,
                                                               double timeoutSeconds) {
  uint64_t length = bytes.size();
  std::string block(sizeof length, '\0');
  std::memcpy(block.data(), &length, sizeof length);
  RCP_ASSIGN_OR_RETURN(std::string blocks,
                       gatherBlocks(comm, block, Communicator::kSmallCollectives + 1, timeoutSeconds));
  std::vector<uint64_t> lengths(size_t(comm.size()));
  std::memcpy(lengths.data(), blocks.data(), blocks.size());
  uint64_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::string padded = bytes;
  padded.resize(longest);
  RCP_ASSIGN_OR_RETURN(blocks, gatherBlocks(comm, padded, Communicator::kSmallCollectives + 2, timeoutSeconds));
  std::vector<std::string> all;
  for (size_t rank = 0; rank < lengths.size(); ++rank)
    all.push_back(blocks.substr(rank * longest, lengths[rank]));
  return all;
}

absl::Status recipe::rt::broadcast(Communicator &comm, std::string &bytes, double timeoutSeconds) {
  // A binomial tree would send less; what goes this way is short.
  RCP_ASSIGN_OR_RETURN(std::vector<std::string> all,
                       allGather(comm, comm.rank() == 0 ? bytes : std::string(), timeoutSeconds));
  bytes = std::move(all[0]);
  return absl::OkStatus();
}

/// Another rank's error: "code message".
static absl::Status elsewhere(int rank, const std::string &text) {
  size_t space = text.find(' ');
  int code = int(absl::StatusCode::kUnknown);
  (void)absl::SimpleAtoi(text.substr(0, space), &code);
  return absl::Status(absl::StatusCode(code), absl::StrCat("rank ", rank, ": ", text.substr(space + 1)));
}

absl::Status recipe::rt::agree(Communicator &comm, const absl::Status &own, double timeoutSeconds) {
  if (comm.size() == 1)
    return own;
  std::string text = own.ok() ? "" : absl::StrCat(int(own.code()), " ", own.message());
  absl::StatusOr<std::vector<std::string>> all = allGather(comm, text, timeoutSeconds);
  if (!own.ok() || !all.ok())
    return own.ok() ? all.status() : own;
  for (size_t rank = 0; rank < all->size(); ++rank)
    if (!(*all)[rank].empty())
      return elsewhere(int(rank), (*all)[rank]);
  return absl::OkStatus();
}
