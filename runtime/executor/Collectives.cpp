#include "runtime/executor/Collectives.h"
#include "absl/strings/str_cat.h"
#include "runtime/executor/Program.h"
#include "runtime/loader/Validate.h"

using namespace recipe::rt;

/// Where the recipe has the model that all sums over ranks come from: "model at recipe:7:3".
static std::string modelInRecipe(const recipe::abi::Step &step) {
  for (const recipe::abi::ResolvedRecipe::Entry &entry : step.recipe().entries())
    if (entry.key() == "model.type")
      return absl::StrCat("model at ", entry.origin());
  return "";
}

Collectives::Collectives(const LoadedStep &loaded, const Arena &arena, Communicator &comm, CommOptions options)
    : comm(comm), timeout(options.timeoutSeconds) {
  const abi::Step &step = *loaded.step;
  for (const abi::SubProgram &program : step.programs())
    for (const abi::Instruction &instruction : program.instructions()) {
      if (!instruction.has_collective())
        continue;
      const abi::Buffer &buffer = step.buffers(int(instruction.arguments(0).buffer()));
      OpName op{instruction.id(), buffer.name(), ""};
      if (instruction.arguments_size() > 1)
        absl::StrAppend(&op.name, " and ", instruction.arguments_size() - 1, " more");
      if (instruction.location() < uint32_t(step.locations_size()))
        op.location = step.locations(int(instruction.location()));
      if (std::string model = modelInRecipe(step); !model.empty())
        absl::StrAppend(&op.location, op.location.empty() ? "" : ", ", model);
      bySignal[instruction.signal()] = operations.size();
      operations.push_back(prepareAllReduce(comm, bufferAddress(arena, buffer, 0), instruction.collective().elements(),
                                            elementBytes(buffer.type()), loaded.kernels[instruction.kernel()],
                                            std::move(op)));
    }
  tickets.resize(operations.size());
  options.staging = arena.region(abi::TRANSIENT) + step.certificate().communication_offset();
  thread = std::make_unique<CommThread>(comm, std::move(options));
}

absl::Status Collectives::wait(size_t index) {
  CommThread::Ticket ticket = std::exchange(tickets[index], 0);
  return ticket ? thread->wait(ticket) : absl::OkStatus();
}

absl::Status Collectives::waitForAll() {
  for (size_t index = 0; index < tickets.size(); ++index)
    RCP_RETURN_IF_ERROR(wait(index));
  return absl::OkStatus();
}
