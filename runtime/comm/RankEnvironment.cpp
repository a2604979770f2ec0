#include "runtime/comm/RankEnvironment.h"
#include "absl/strings/numbers.h"

using namespace recipe::rt;

std::optional<RankEnvironment> recipe::rt::rankEnvironment(const std::function<const char *(const char *)> &variable) {
  auto number = [&](const char *name) -> std::optional<int> {
    const char *text = variable(name);
    int value = 0;
    if (!text || !absl::SimpleAtoi(text, &value) || value < 0)
      return std::nullopt;
    return value;
  };
  if (auto rank = number("OMPI_COMM_WORLD_RANK"))
    return RankEnvironment{*rank, number("OMPI_COMM_WORLD_SIZE").value_or(0), "mpirun"};
  // srun gives every process of a step a step number; a batch script has none.
  if (auto rank = number("SLURM_PROCID"); rank && number("SLURM_STEP_ID"))
    return RankEnvironment{*rank, number("SLURM_STEP_NUM_TASKS").value_or(number("SLURM_NTASKS").value_or(0)), "srun"};
  for (const char *name : {"PMIX_RANK", "PMI_RANK"})
    if (auto rank = number(name))
      return RankEnvironment{*rank, number("PMI_SIZE").value_or(0), "PMI"};
  return std::nullopt;
}
