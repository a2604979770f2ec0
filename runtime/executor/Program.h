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
  /// The same, adding up the time of each instruction.
  absl::Status runTimed(ThreadPool &pool, const ProgramPosition &position);

  struct Timing {
    const abi::Instruction *instruction;
    int64_t runs = 0, nanoseconds = 0;
  };
  const std::vector<Timing> &timings() const { return times; }

private:
  struct Item {
    Launch launch;
    const rcp_launch_v1 *slots[2];
    abi::Predicate predicate;
    size_t collective = 0;     // without a kernel: what to issue
    std::vector<size_t> waits; // collectives that come first
  };
  void addCommunication(Item &item, const abi::Instruction &instruction);
  /// Waits for what the item needs, then runs its launch or issues its collective.
  absl::Status run(Item &item, ThreadPool &pool, const ProgramPosition &position);

  const abi::SubProgram &source;
  Collectives *collectives;
  std::vector<void *> addresses;       // of all arguments, for slot 0, then for slot 1
  std::vector<rcp_launch_v1> launches; // likewise
  std::vector<Item> items;
  std::vector<Timing> times;
};

/// Address of a buffer's first byte, in slot `slot` if it is an input.
std::byte *bufferAddress(const Arena &arena, const abi::Buffer &buffer, int slot);

} // namespace recipe::rt
#endif
