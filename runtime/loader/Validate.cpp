#include "runtime/loader/Validate.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include <climits>

using namespace recipe::rt;
using recipe::abi::Instruction;

template <typename... T> static absl::Status invalid(const T &...text) {
  return absl::InvalidArgumentError(absl::StrCat(text...));
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
  if (instruction.workgroups() < 1 || instruction.workgroups() > INT_MAX)
    return invalid("workgroups must be 1..", INT_MAX, ", got ", instruction.workgroups());
  if (instruction.scratch_bytes() > step.certificate().scratch_stride())
    return invalid("scratch must fit a thread's slice of ", step.certificate().scratch_stride(), " bytes, got ",
                   instruction.scratch_bytes());
  if (!recipe::abi::Predicate_IsValid(instruction.predicate()))
    return invalid("unknown predicate ", int(instruction.predicate()));
  uint32_t locations = uint32_t(step.locations_size());
  if (instruction.location() != 0 && instruction.location() >= locations)
    return invalid("location must be below ", locations, ", got ", instruction.location());
  return absl::OkStatus();
}

/// The CPU runs a program in order, so every wait must name something earlier.
static absl::Status checkProgram(const recipe::abi::Step &step, const recipe::abi::SubProgram &program) {
  absl::flat_hash_set<uint64_t> earlier;
  for (int i = 0; i < program.instructions_size(); ++i) {
    const Instruction &instruction = program.instructions(i);
    absl::Status status = checkInstruction(step, instruction);
    for (uint64_t id : instruction.waits())
      if (status.ok() && !earlier.contains(id))
        status = invalid("must wait for an earlier instruction of the program, got id ", id);
    if (!status.ok())
      return invalid("instruction ", i, " '", instruction.name(), "' of '", program.name(), "': ", status.message());
    earlier.insert(instruction.id());
  }
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
  absl::flat_hash_set<std::string> names;
  for (const abi::SubProgram &program : step.programs()) {
    if (program.name().empty() || !names.insert(program.name()).second)
      return invalid("program names must be unique and not empty, got '", program.name(), "'");
    RCP_RETURN_IF_ERROR(checkProgram(step, program));
  }
  for (const abi::ScheduleEntry &entry : step.schedule()) {
    if (!names.contains(entry.program()))
      return invalid("schedule: no program '", entry.program(), "'");
    if (!abi::ScheduleEntry::Loop_IsValid(entry.loop()))
      return invalid("schedule: unknown loop ", int(entry.loop()));
  }
  return absl::OkStatus();
}

absl::Status recipe::rt::validateStep(const abi::Step &step, const RankPlan &plan) {
  RCP_RETURN_IF_ERROR(validateBuffers(step, plan));
  RCP_RETURN_IF_ERROR(validateParameters(step));
  return validatePrograms(step);
}
