#include "runtime/tools/RankProcess.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/comm/Endpoint.h"
#include "runtime/comm/MpiCommunicator.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "runtime/tools/Launcher.h"
#include "runtime/tools/StarterOutput.h"
#include <algorithm>
#include <cmath>
#include <csignal>
#include <ctime>
#include <sched.h>
#include <unistd.h>

using namespace recipe::rt;

/// MPI's own waiting has no limit. Ends the process with a message unless it is destroyed in time.
namespace {
class Alarm {
public:
  explicit Alarm(double seconds) {
    struct sigaction action = {};
    action.sa_handler = [](int) {
      (void)!write(STDERR_FILENO, StarterOutput::kNotTogether, sizeof StarterOutput::kNotTogether - 1);
      (void)!write(STDERR_FILENO, "\n", 1);
      // The launcher looks at the other ranks before mpirun ends them.
      timespec moment = {0, 300'000'000};
      nanosleep(&moment, nullptr);
      _exit(kExitLost);
    };
    sigaction(SIGALRM, &action, nullptr);
    alarm(unsigned(std::ceil(seconds)) + 1);
  }
  ~Alarm() { alarm(0); }
  Alarm(const Alarm &) = delete;
  Alarm &operator=(const Alarm &) = delete;
};
} // namespace

absl::StatusOr<RankProcess> RankProcess::join(const RankEnvironment &environment, double timeoutSeconds) {
  Alarm limit(timeoutSeconds);
  RCP_ASSIGN_OR_RETURN(std::unique_ptr<Communicator> comm, joinMpi());
  if (environment.size > 0 && comm->size() != environment.size)
    return absl::InvalidArgumentError(absl::StrCat(
        environment.starter, " must start the ranks as one MPI job, got a job of ", comm->size(), " instead of ",
        environment.size, ": its process management and this MPI library do not fit (srun: --mpi=pmix)"));
  RankProcess process(std::move(comm), timeoutSeconds);
  RCP_ASSIGN_OR_RETURN(process.life, Heartbeat::create(*process.comm, timeoutSeconds));
  process.watched = std::make_unique<WatchedCommunicator>(*process.comm, *process.life);
  return process;
}

std::vector<int> recipe::rt::shareOfCpus(const std::vector<int> &cpus, int rankOnHost, int ranksOnHost, int threads) {
  if (size_t(ranksOnHost) * size_t(threads) > cpus.size())
    return {};
  auto begin = cpus.begin() + long(rankOnHost) * threads;
  return {begin, begin + threads};
}

absl::StatusOr<RankProcess::HostShare> RankProcess::shareHost(int wanted, int most) {
  std::vector<int> cpus = allowedCpus();
  // A starter that has bound each rank to CPUs of its own has shared the host already: such ranks do not count as
  // neighbours.
  std::string here = absl::StrCat(ownEndpoint(0).network, " ", absl::StrJoin(cpus, ","));
  RCP_ASSIGN_OR_RETURN(std::vector<std::string> all, allGather(*watched, here, timeoutSeconds));
  int ranksOnHost = int(std::count(all.begin(), all.end(), here));
  int rankOnHost = int(std::count(all.begin(), all.begin() + rank(), here));
  int threads = wanted > 0 ? wanted : std::clamp(int(cpus.size()) / ranksOnHost, 1, most);
  std::vector<int> share = shareOfCpus(cpus, rankOnHost, ranksOnHost, threads);
  if (ranksOnHost > 1 && !share.empty()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu : share)
      CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set); // an optimisation: a refusal changes nothing but speed
  }
  return HostShare{threads, share.empty()};
}

absl::Status RankProcess::leave() {
  Activity activity(watched.get(), "the end of the run");
  RCP_RETURN_IF_ERROR(barrier(*watched, timeoutSeconds));
  Alarm limit(timeoutSeconds);
  life.reset();
  return leaveMpi();
}

void RankProcess::giveUp(const absl::Status &reason, int exitCode, const std::function<void()> &tell) {
  if (life->giveUp(reason)) {
    tell();
    life->reported();
    // The others have a moment to end by themselves; MPI ends those that cannot.
    usleep(200'000);
    // A transport that has lost its other end may take for ever to abort.
    signal(SIGALRM, SIG_DFL);
    alarm(5);
    comm->abort(exitCode);
  }
  _exit(exitCode);
}

bool recipe::rt::isLoss(const absl::Status &status) {
  return status.code() == absl::StatusCode::kDeadlineExceeded || status.code() == absl::StatusCode::kUnavailable;
}
