// All-reduce by the balanced tree of adjacent pairs of ranks, in place, by point-to-point messages and a compiled
// kernel that combines two values.
#ifndef RUNTIME_COMM_TREEALLREDUCE_H
#define RUNTIME_COMM_TREEALLREDUCE_H
#include "runtime/abi/AllReduceSchedule.h"
#include "runtime/abi/kernel_abi.h"
#include "runtime/comm/Communicator.h"
#include <string>

namespace recipe::rt {

/// What a message about a collective says of it.
struct OpName {
  uint64_t id = 0;      // of the instruction
  std::string name;     // op and model name
  std::string location; // recipe line
};

/// One all-reduce, prepared before the first step: its execution allocates nothing. The combine kernel gets buffers
/// [accumulator, incoming] and scalars [elements, 1 if the incoming values are the left operands]; its workgroups are
/// of kCombineWorkgroupElements elements.
struct AllReduce {
  std::byte *data;
  int64_t elements;
  int64_t elementBytes;
  rcp_kernel_v1 combine;
  OpName op;
  std::vector<abi::Transfer> transfers; // of this rank
};

/// The sum of `elements` values at `data` over all ranks of `comm`, a power of two.
AllReduce prepareAllReduce(const Communicator &comm, std::byte *data, int64_t elements, int64_t elementBytes,
                           rcp_kernel_v1 combine, OpName op);

/// Executes one all-reduce after another; never blocks. One thread at a time, in the kernels' floating-point
/// environment.
class TreeAllReduce {
public:
  /// Arriving values wait in `staging` (abi::kAllReduceStagingBytes, 64-byte aligned) to be combined.
  TreeAllReduce(Communicator &comm, std::byte *staging) : comm(comm), staging(staging) {}

  /// All ranks start the same ones with the same tags in the same order. The one before must be done.
  void start(const AllReduce &op, int tag);
  /// Goes as far as it gets without waiting.
  enum Progress { Nothing, Some, Done };
  absl::StatusOr<Progress> poll();

  uint64_t bytesSent() const { return sent; }

private:
  struct InFlight {
    Communicator::Request request;
    const abi::Transfer *transfer;
    int slot; // of the staging; -1: in place
  };
  bool post();
  void post(const abi::Transfer &transfer, int slot);
  void combine(const InFlight &arrived) const;
  std::byte *slotData(int slot) const { return staging + slot * abi::kAllReduceChunkBytes; }

  static constexpr int kMostInFlight = 2 * int(abi::kAllReduceStagingSlots);
  Communicator &comm;
  std::byte *staging;
  const AllReduce *op = nullptr;
  int tag = 0;
  size_t next = 0; // transfer to post
  int phase = 0;
  uint32_t usedSlots = 0; // bits
  int count = 0;          // of transfers in flight
  InFlight inFlight[kMostInFlight];
  uint64_t sent = 0;
};

} // namespace recipe::rt
#endif
