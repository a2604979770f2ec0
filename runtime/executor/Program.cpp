#include "runtime/executor/Program.h"
#include "runtime/base/Clock.h"

using namespace recipe::rt;

bool recipe::rt::holds(abi::Predicate predicate, const ProgramPosition &position) {
  switch (predicate) {
  case abi::ALWAYS:
    return true;
  case abi::FIRST_MICROBATCH:
    return position.firstMicrobatch;
  case abi::LAST_MICROBATCH:
    return position.lastMicrobatch;
  case abi::SEGMENT_BEGIN:
    return position.segmentBegin;
  case abi::SEGMENT_END:
    return position.segmentEnd;
  case abi::ACCUMULATING:
    return position.segmentEnd && position.severalNodes;
  case abi::Predicate_INT_MIN_SENTINEL_DO_NOT_USE_:
  case abi::Predicate_INT_MAX_SENTINEL_DO_NOT_USE_:
    break;
  }
  return false;
}

std::byte *recipe::rt::bufferAddress(const Arena &arena, const abi::Buffer &buffer, int slot) {
  return arena.region(buffer.region()) + buffer.offset() + uint64_t(slot) * buffer.slot_stride();
}

Program::Program(const LoadedStep &step, const abi::SubProgram &program, const Arena &arena, Collectives *collectives,
                 rcp_step_params_v1 *params, const rcp_host_v1 *host)
    : source(program), collectives(collectives) {
  size_t arguments = 0, count = size_t(program.instructions_size());
  for (const abi::Instruction &instruction : program.instructions())
    arguments += size_t(instruction.arguments_size());
  addresses.reserve(2 * arguments);
  launches.reserve(2 * count);
  const abi::Certificate &certificate = step.step->certificate();
  items.resize(count);
  for (int slot = 0; slot < 2; ++slot)
    for (size_t i = 0; i < count; ++i) {
      const abi::Instruction &instruction = program.instructions(int(i));
      void *const *first = addresses.data() + addresses.size();
      for (const abi::KernelArgument &argument : instruction.arguments()) {
        const abi::Buffer &buffer = step.step->buffers(int(argument.buffer()));
        bool absent = buffer.min_nodes() > step.plan.nodeCount;
        int bufferSlot = buffer.region() == abi::INPUT ? slot : 0;
        addresses.push_back(absent ? nullptr : bufferAddress(arena, buffer, bufferSlot) + argument.offset());
      }
      launches.push_back({first, instruction.scalars().data(), params, host});
      Item &item = items[i];
      item.slots[slot] = &launches.back();
      item.predicate = instruction.predicate();
      if (!instruction.has_collective())
        item.launch.kernel = step.kernels[instruction.kernel()];
      item.launch.workgroups = instruction.workgroups();
      item.launch.scratch = arena.region(abi::TRANSIENT) + certificate.scratch_offset();
      item.launch.scratchStride = certificate.scratch_stride();
    }
  for (size_t i = 0; i < count; ++i) {
    const abi::Instruction &instruction = program.instructions(int(i));
    times.push_back({&instruction});
    if (collectives)
      addCommunication(items[i], instruction);
  }
}

void Program::addCommunication(Item &item, const abi::Instruction &instruction) {
  if (instruction.has_collective())
    item.collective = collectives->find(instruction.signal());
  for (uint64_t signal : instruction.waits())
    item.waits.push_back(collectives->find(signal));
}

absl::Status Program::run(Item &item, ThreadPool &pool, const ProgramPosition &position) {
  for (size_t collective : item.waits)
    RCP_RETURN_IF_ERROR(collectives->wait(collective));
  if (item.launch.kernel) {
    item.launch.arguments = item.slots[position.slot];
    pool.run(item.launch);
  } else if (collectives) {
    collectives->issue(item.collective);
  }
  return absl::OkStatus();
}

absl::Status Program::run(ThreadPool &pool, const ProgramPosition &position) {
  for (Item &item : items)
    if (holds(item.predicate, position))
      RCP_RETURN_IF_ERROR(run(item, pool, position));
  return absl::OkStatus();
}

absl::Status Program::runTimed(ThreadPool &pool, const ProgramPosition &position) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (!holds(items[i].predicate, position))
      continue;
    int64_t begin = nowNanoseconds();
    RCP_RETURN_IF_ERROR(run(items[i], pool, position));
    times[i].nanoseconds += nowNanoseconds() - begin;
    ++times[i].runs;
  }
  return absl::OkStatus();
}
