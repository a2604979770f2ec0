// Whether this process is a rank of a job, and which.
#ifndef RUNTIME_COMM_RANKENVIRONMENT_H
#define RUNTIME_COMM_RANKENVIRONMENT_H
#include <functional>
#include <optional>
#include <string>

namespace recipe::rt {

/// What the starter of a job told its processes.
struct RankEnvironment {
  int rank = 0;
  int size = 0;        // 0: not told
  std::string starter; // "mpirun", "srun", "PMI"
};

/// As told by mpirun (OpenMPI), srun or another PMI or PMIx starter; nothing outside of a job. A Slurm batch script is
/// not yet a rank: what it starts without srun is on its own.
std::optional<RankEnvironment> rankEnvironment(const std::function<const char *(const char *)> &variable);

} // namespace recipe::rt
#endif
