#include "runtime/loader/Validate.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "runtime/abi/AllReduceSchedule.h"
#include <climits>

using namespace recipe::rt;
using recipe::abi::Instruction;

template <typename... T> static absl::Status invalid(const T &...text) {
  return absl::InvalidArgumentError(absl::StrCat(text...));
}

/// Alignment leaves less than this between two buffers.
static const uint64_t kMostBetween = 4096;

/// A collective takes whole state buffers that follow each other. Indices are checked.
static absl::Status checkCollectiveBuffers(const recipe::abi::Step &step, const Instruction &instruction) {
  const recipe::abi::Collective &collective = instruction.collective();
  uint64_t size = uint64_t(recipe::rt::elementBytes(collective.type())), begin = 0, end = 0;
  if (size == 0 || instruction.arguments().empty())
    return invalid("a collective must have buffers of a known type, got ", instruction.arguments_size(),
                   " buffers of type ", int(collective.type()));
  for (const recipe::abi::KernelArgument &argument : instruction.arguments()) {
    const recipe::abi::Buffer &buffer = step.buffers(int(argument.buffer()));
    bool isFirst = &argument == &instruction.arguments(0);
    if (buffer.region() != recipe::abi::STATE || buffer.min_nodes() != 0 || buffer.type() != collective.type() ||
        argument.offset() != 0 || buffer.bytes() % size != 0)
      return invalid("a collective must take whole state buffers of its type that are on every rank, got '",
                     buffer.name(), "'");
    if (!isFirst && (buffer.offset() < end || buffer.offset() - end >= kMostBetween))
      return invalid("buffers of a collective must follow each other, got '", buffer.name(), "' at ", buffer.offset(),
                     " after ", end);
    begin = isFirst ? buffer.offset() : begin;
    end = buffer.offset() + buffer.bytes(); // both are below 2^46
  }
  if (collective.elements() < 1 || uint64_t(collective.elements()) != (end - begin) / size)
    return invalid("a collective must take all of its buffers, got ", collective.elements(), " elements and ",
                   end - begin, " bytes");
  return absl::OkStatus();
}

static absl::Status checkCollective(const recipe::abi::Step &step, const Instruction &instruction) {
  const recipe::abi::Collective &collective = instruction.collective();
  if (!recipe::abi::Collective::Kind_IsValid(collective.kind()))
    return invalid("unknown kind of collective ", int(collective.kind()));
  if (collective.axis() != "data")
    return invalid("a collective must be over axis 'data', got '", collective.axis(), "'");
  RCP_RETURN_IF_ERROR(checkCollectiveBuffers(step, instruction));
  if (instruction.queue() != recipe::abi::COMMUNICATION || instruction.signal() == 0)
    return invalid("a collective must be on the communication queue and have a signal, got queue ",
                   int(instruction.queue()), " and signal ", instruction.signal());
  if (instruction.predicate() != recipe::abi::ALWAYS && instruction.predicate() != recipe::abi::LAST_MICROBATCH)
    return invalid("a collective must run ALWAYS or in the LAST_MICROBATCH, got ",
                   recipe::abi::Predicate_Name(instruction.predicate()));
  if (instruction.waits_size() != 0)
    return invalid("a collective must not wait, got ", instruction.waits_size(), " waits");
  return absl::OkStatus();
}

static absl::Status checkLaunch(const recipe::abi::Step &step, const Instruction &instruction) {
  if (instruction.workgroups() < 1 || instruction.workgroups() > INT_MAX)
    return invalid("workgroups must be 1..", INT_MAX, ", got ", instruction.workgroups());
  if (instruction.scratch_bytes() > step.certificate().scratch_stride())
    return invalid("scratch must fit a thread's slice of ", step.certificate().scratch_stride(), " bytes, got ",
                   instruction.scratch_bytes());
  if (instruction.queue() != recipe::abi::COMPUTE || instruction.signal() != 0)
    return invalid("a launch must be on the compute queue and have no signal, got queue ", int(instruction.queue()),
                   " and signal ", instruction.signal());
  return absl::OkStatus();
}

static absl::Status checkInstruction(const recipe::abi::Step &step, const Instruction &instruction) {
  if (instruction.kernel() >= uint32_t(step.kernels_size()))
    return invalid("kernel must be below ", step.kernels_size(), ", got ", instruction.kernel());
  for (const recipe::abi::KernelArgument &argument : instruction.arguments()) {
    if (argument.buffer() >= uint32_t(step.buffers_size()))
      return invalid("buffer must be below ", step.buffers_size(), ", got ", argument.buffer());
    const recipe::abi::Buffer &buffer = step.buffers(int(argument.buffer()));
    if (argument.offset() != 0 && argument.offset() >= buffer.bytes())
      return invalid("argument must start inside buffer '", buffer.name(), "' of ", buffer.bytes(), " bytes, got ",
                     argument.offset());
    // Such an instruction runs, if at all, with fewer tree levels than it has arguments for.
    if (buffer.min_nodes() != 0 && instruction.predicate() != recipe::abi::ACCUMULATING)
      return invalid("buffer '", buffer.name(), "' is not on every rank: the predicate must be ACCUMULATING, got ",
                     recipe::abi::Predicate_Name(instruction.predicate()));
  }
  if (!recipe::abi::Predicate_IsValid(instruction.predicate()))
    return invalid("unknown predicate ", int(instruction.predicate()));
  uint32_t locations = uint32_t(step.locations_size());
  if (instruction.location() != 0 && instruction.location() >= locations)
    return invalid("location must be below ", locations, ", got ", instruction.location());
  return instruction.has_collective() ? checkCollective(step, instruction) : checkLaunch(step, instruction);
}

static absl::Status inInstruction(const recipe::abi::SubProgram &program, int index, const absl::Status &status) {
  return invalid("instruction ", index, " '", program.instructions(index).name(), "' of '", program.name(),
                 "': ", status.message());
}

static absl::Status checkProgram(const recipe::abi::Step &step, const recipe::abi::SubProgram &program) {
  for (int i = 0; i < program.instructions_size(); ++i)
    if (absl::Status status = checkInstruction(step, program.instructions(i)); !status.ok())
      return inInstruction(program, i, status);
  return absl::OkStatus();
}

/// Whoever waits must wait for something that was issued before, or it would wait forever. `issued` are the signals of
/// what ran before in the step, to which this program's are added.
static absl::Status checkSignals(const recipe::abi::SubProgram &program, absl::flat_hash_set<uint64_t> &issued) {
  for (int i = 0; i < program.instructions_size(); ++i) {
    const Instruction &instruction = program.instructions(i);
    for (uint64_t signal : instruction.waits())
      if (!issued.contains(signal))
        return inInstruction(program, i, invalid("must wait for a collective that was issued before, got ", signal));
    if (instruction.has_collective() && !issued.insert(instruction.signal()).second)
      return inInstruction(program, i, invalid("signals must be unique, got ", instruction.signal()));
  }
  return absl::OkStatus();
}

/// The schedule names programs, each once, and what is outside of it communicates with nobody.
static absl::Status checkSchedule(const recipe::abi::Step &step) {
  absl::flat_hash_map<std::string, const recipe::abi::SubProgram *> outside;
  for (const recipe::abi::SubProgram &program : step.programs())
    if (program.name().empty() || !outside.insert({program.name(), &program}).second)
      return invalid("program names must be unique and not empty, got '", program.name(), "'");
  absl::flat_hash_set<uint64_t> issued;
  for (const recipe::abi::ScheduleEntry &entry : step.schedule()) {
    auto program = outside.find(entry.program());
    if (program == outside.end())
      return invalid("schedule: no program '", entry.program(), "', or it is there twice");
    if (!recipe::abi::ScheduleEntry::Loop_IsValid(entry.loop()))
      return invalid("schedule: unknown loop ", int(entry.loop()));
    RCP_RETURN_IF_ERROR(checkSignals(*program->second, issued));
    outside.erase(program);
  }
  for (const recipe::abi::SubProgram &program : step.programs())
    for (const Instruction &instruction : program.instructions())
      if (outside.contains(program.name()) && (instruction.has_collective() || instruction.waits_size() != 0))
        return invalid("program '", program.name(), "' is not in the schedule: it must not communicate, got '",
                       instruction.name(), "'");
  return absl::OkStatus();
}

/// What arrives needs its place.
static absl::Status checkCommunication(const recipe::abi::Step &step, const RankPlan &plan) {
  if (plan.ranks == 1)
    return absl::OkStatus();
  bool communicates = false;
  for (const recipe::abi::SubProgram &program : step.programs())
    for (const Instruction &instruction : program.instructions())
      communicates |= instruction.has_collective();
  if (!communicates)
    return invalid("the step has no sums over ranks: it must run on 1 rank, got ", plan.ranks);
  const recipe::abi::Certificate &certificate = step.certificate();
  uint64_t offset = certificate.communication_offset(), bytes = certificate.communication_bytes();
  uint64_t transient = plan.memory.transient_bytes();
  if (offset % 64 != 0 || bytes < uint64_t(recipe::abi::kAllReduceStagingBytes) || bytes > transient ||
      offset > transient - bytes)
    return invalid("certificate: communication must be ", recipe::abi::kAllReduceStagingBytes,
                   " bytes or more inside the transient region of ", transient, " bytes, got ", bytes, " at ", offset);
  return absl::OkStatus();
}

static bool isSymbol(const std::string &name) {
  for (char c : name)
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '_' && c != '.' &&
        c != '$')
      return false;
  return !name.empty();
}

absl::Status recipe::rt::validatePrograms(const abi::Step &step) {
  for (const abi::Kernel &kernel : step.kernels())
    if (!isSymbol(kernel.symbol()))
      return invalid("a kernel's symbol must be an identifier, got '", kernel.symbol(), "'");
  for (const abi::SubProgram &program : step.programs())
    RCP_RETURN_IF_ERROR(checkProgram(step, program));
  return checkSchedule(step);
}

absl::Status recipe::rt::validateStep(const abi::Step &step, const RankPlan &plan) {
  RCP_RETURN_IF_ERROR(validateBuffers(step, plan));
  RCP_RETURN_IF_ERROR(validateParameters(step));
  RCP_RETURN_IF_ERROR(validatePrograms(step));
  return checkCommunication(step, plan);
}
