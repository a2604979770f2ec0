#include "runtime/comm/TreeAllReduce.h"
#include <cassert>

using namespace recipe::rt;
using recipe::abi::Transfer;

AllReduce recipe::rt::prepareAllReduce(const Communicator &comm, std::byte *data, int64_t elements,
                                       int64_t elementBytes, rcp_kernel_v1 combine, OpName op) {
  int64_t chunk = abi::kAllReduceChunkBytes / elementBytes;
  return {data,    elements,      elementBytes,
          combine, std::move(op), abi::expandAllReduce(comm.rank(), comm.size(), elements, chunk)};
}

void TreeAllReduce::start(const AllReduce &newOp, int newTag) {
  assert(!op && "the one before is done");
  op = &newOp;
  tag = newTag;
  next = 0;
  phase = 0;
}

void TreeAllReduce::post(const Transfer &transfer, int slot) {
  size_t bytes = size_t(transfer.elements * op->elementBytes);
  std::byte *place = op->data + transfer.begin * op->elementBytes;
  Communicator::Request request;
  if (transfer.kind == Transfer::Send) {
    request = comm.send(transfer.partner, tag, place, bytes);
    sent += bytes;
  } else {
    request = comm.receive(transfer.partner, tag, slot >= 0 ? slotData(slot) : place, bytes);
  }
  inFlight[count++] = {request, &transfer, slot};
}

/// Posts what may be in flight now; whether that was anything.
bool TreeAllReduce::post() {
  bool any = false;
  while (next < op->transfers.size() && count < kMostInFlight) {
    const Transfer &transfer = op->transfers[next];
    if (transfer.phase != phase) {
      // What the next phase sends is what this one receives.
      if (count > 0)
        break;
      phase = transfer.phase;
    }
    int slot = -1;
    if (transfer.combine) {
      slot = 0;
      while (slot < abi::kAllReduceStagingSlots && (usedSlots >> slot & 1))
        ++slot;
      if (slot == abi::kAllReduceStagingSlots)
        break;
      usedSlots |= uint32_t(1) << slot;
    }
    post(transfer, slot);
    ++next;
    any = true;
  }
  return any;
}

void TreeAllReduce::combine(const InFlight &arrived) const {
  const Transfer &transfer = *arrived.transfer;
  void *buffers[] = {op->data + transfer.begin * op->elementBytes, slotData(arrived.slot)};
  int64_t scalars[] = {transfer.elements, transfer.incomingIsLeft};
  rcp_launch_v1 launch = {buffers, scalars, nullptr, nullptr};
  int64_t workgroups = (transfer.elements + abi::kCombineWorkgroupElements - 1) / abi::kCombineWorkgroupElements;
  for (int64_t workgroup = 0; workgroup < workgroups; ++workgroup)
    op->combine(&launch, workgroup, nullptr);
}

absl::StatusOr<TreeAllReduce::Progress> TreeAllReduce::poll() {
  bool any = post();
  for (int i = 0; i < count;) {
    RCP_ASSIGN_OR_RETURN(bool done, comm.test(inFlight[i].request));
    if (!done) {
      ++i;
      continue;
    }
    InFlight ended = inFlight[i];
    // The order stays: the oldest is the likeliest to be complete.
    std::copy(inFlight + i + 1, inFlight + count, inFlight + i);
    --count;
    if (ended.slot >= 0) {
      combine(ended);
      usedSlots &= ~(uint32_t(1) << ended.slot);
    }
    any = true;
    // The transport idles while there is nothing in flight.
    post();
  }
  if (count == 0 && next == op->transfers.size()) {
    op = nullptr;
    return Done;
  }
  return any ? Some : Nothing;
}
