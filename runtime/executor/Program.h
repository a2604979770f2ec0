// A sub-program with every index turned into an address: nothing is looked up or allocated while it runs.
#ifndef RUNTIME_EXECUTOR_PROGRAM_H
#define RUNTIME_EXECUTOR_PROGRAM_H
#include "runtime/device/cpu/Arena.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "runtime/executor/Collectives.h"
#include "runtime/loader/Loader.h"
#include <string>
#include <vector>

namespace recipe::rt {

/// Where in the step a program runs; decides predicates.
struct ProgramPosition {
  bool firstMicrobatch = true, lastMicrobatch = true;
  bool segmentBegin = true, segmentEnd = true;
  bool severalNodes = false;
  int slot = 0; // of the double-buffered inputs
};

/// Whether an instruction with this predicate runs at this position.
bool holds(abi::Predicate predicate, const ProgramPosition &position);

/// Instructions of a program, each with the number of those from it on that may run together: neighbours with the same
/// predicate that may run beside others, wait for no collective (but the first), and of which none writes bytes of a
/// buffer that another reads or writes.
struct TogetherRange {
  size_t first, count;
  bool operator==(const TogetherRange &other) const { return first == other.first && count == other.count; }
};
std::vector<TogetherRange> runTogether(const abi::Step &step, const abi::SubProgram &program);

/// Not movable: launches point into it. run() is for one thread at a time.
class Program {
public:
  /// Addresses of buffers in `arena`; scalars point into `step`, which must outlive the program. Without `collectives`,
  /// on one rank, there is nothing to issue and nothing to wait for.
  Program(const LoadedStep &step, const abi::SubProgram &program, const Arena &arena, Collectives *collectives,
          rcp_step_params_v1 *params, const rcp_host_v1 *host);
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  const std::string &name() const { return source.name(); }
  /// Its status is that of the collectives that it waits for.
  absl::Status run(ThreadPool &pool, const ProgramPosition &position);
  /// The same, adding up the time of each instruction; they run one by one for that.
  absl::Status runTimed(ThreadPool &pool, const ProgramPosition &position);

  struct Timing {
    const abi::Instruction *instruction;
    int64_t runs = 0, nanoseconds = 0;
  };
  const std::vector<Timing> &timings() const { return times; }

private:
  struct Item {
    bool isLaunch = false; // else a collective
    const rcp_launch_v1 *slots[2];
    abi::Predicate predicate;
    size_t collective = 0;     // what to issue
    std::vector<size_t> waits; // collectives that come first
  };
  void addCommunication(Item &item, const abi::Instruction &instruction);
  /// Waits for what the items need, then runs their launches, or issues the only one's collective.
  absl::Status run(TogetherRange range, ThreadPool &pool, const ProgramPosition &position);

  const abi::SubProgram &source;
  Collectives *collectives;
  std::vector<void *> addresses;       // of all arguments, for slot 0, then for slot 1
  std::vector<rcp_launch_v1> launches; // likewise
  std::vector<Item> items;
  std::vector<Launch> ready; // of the items, with the arguments of a slot
  std::vector<TogetherRange> ranges;
  std::vector<Timing> times;
};

/// Address of a buffer's first byte, in slot `slot` if it is an input.
std::byte *bufferAddress(const Arena &arena, const abi::Buffer &buffer, int slot);

} // namespace recipe::rt
#endif
