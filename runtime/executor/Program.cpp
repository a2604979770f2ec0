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

/// A launch that may run beside others, as far as others have to do with it: places of its buffers, by region.
struct Place {
  int region;
  uint64_t begin, end;
  bool written;
};

static std::vector<Place> placesOf(const recipe::abi::Step &step, const recipe::abi::Instruction &instruction) {
  std::vector<Place> places;
  for (const recipe::abi::KernelArgument &argument : instruction.arguments()) {
    const recipe::abi::Buffer &buffer = step.buffers(int(argument.buffer()));
    // Of an input both slots.
    uint64_t end = buffer.offset() + buffer.slot_stride() + buffer.bytes();
    places.push_back({int(buffer.region()), buffer.offset() + argument.offset(), end, argument.written()});
  }
  return places;
}

static bool collide(const std::vector<Place> &some, const std::vector<Place> &others) {
  for (const Place &a : some)
    for (const Place &b : others)
      if ((a.written || b.written) && a.region == b.region && a.begin < b.end && b.begin < a.end)
        return true;
  return false;
}

std::vector<TogetherRange> recipe::rt::runTogether(const abi::Step &step, const abi::SubProgram &program) {
  // A thread looks for its workgroup in all of them.
  constexpr size_t mostLaunches = 16;
  constexpr int64_t mostWorkgroups = 1 << 20;
  std::vector<TogetherRange> ranges;
  std::vector<Place> places; // of the last range
  int64_t workgroups = 0;
  for (int i = 0; i < program.instructions_size(); ++i) {
    const abi::Instruction &instruction = program.instructions(i);
    std::vector<Place> own = placesOf(step, instruction);
    bool joins = !ranges.empty() && ranges.back().count < mostLaunches && instruction.beside() &&
                 !instruction.has_collective() && instruction.waits().empty() &&
                 workgroups + instruction.workgroups() <= mostWorkgroups;
    if (joins) {
      const abi::Instruction &first = program.instructions(int(ranges.back().first));
      joins = first.beside() && !first.has_collective() && first.predicate() == instruction.predicate() &&
              !collide(places, own);
    }
    if (joins) {
      ++ranges.back().count;
    } else {
      ranges.push_back({size_t(i), 1});
      places.clear();
      workgroups = 0;
    }
    places.insert(places.end(), own.begin(), own.end());
    workgroups += instruction.workgroups();
  }
  return ranges;
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
  ready.resize(count);
  ranges = runTogether(*step.step, program);
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
      item.isLaunch = !instruction.has_collective();
      Launch &launch = ready[i];
      if (item.isLaunch)
        launch.kernel = step.kernels[instruction.kernel()];
      launch.workgroups = instruction.workgroups();
      launch.scratch = arena.region(abi::TRANSIENT) + certificate.scratch_offset();
      launch.scratchStride = certificate.scratch_stride();
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

absl::Status Program::run(TogetherRange range, ThreadPool &pool, const ProgramPosition &position) {
  const Item &first = items[range.first];
  for (size_t collective : first.waits)
    RCP_RETURN_IF_ERROR(collectives->wait(collective));
  if (first.isLaunch) {
    for (size_t i = range.first; i < range.first + range.count; ++i)
      ready[i].arguments = items[i].slots[position.slot];
    pool.run(absl::MakeConstSpan(ready).subspan(range.first, range.count));
  } else if (collectives) {
    collectives->issue(first.collective);
  }
  return absl::OkStatus();
}

absl::Status Program::run(ThreadPool &pool, const ProgramPosition &position) {
  for (TogetherRange range : ranges)
    if (holds(items[range.first].predicate, position))
      RCP_RETURN_IF_ERROR(run(range, pool, position));
  return absl::OkStatus();
}

absl::Status Program::runTimed(ThreadPool &pool, const ProgramPosition &position) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (!holds(items[i].predicate, position))
      continue;
    int64_t begin = nowNanoseconds();
    RCP_RETURN_IF_ERROR(run(TogetherRange{i, 1}, pool, position));
    times[i].nanoseconds += nowNanoseconds() - begin;
    ++times[i].runs;
  }
  return absl::OkStatus();
}
