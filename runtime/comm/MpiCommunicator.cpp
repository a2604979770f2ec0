#include "runtime/comm/MpiCommunicator.h"
#include "absl/strings/str_cat.h"
#include <cassert>
#include <limits>
#include <mpi.h>
#include <mutex>

using namespace recipe::rt;

static absl::Status mpiStatus(int code, const char *call) {
  if (code == MPI_SUCCESS)
    return absl::OkStatus();
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return absl::UnavailableError(absl::StrCat(call, ": ", std::string(text, size_t(length))));
}

namespace {

class MpiCommunicator final : public Communicator {
public:
  MpiCommunicator(int rank, int size) : ownRank(rank), ranks(size) {}
  int rank() const override { return ownRank; }
  int size() const override { return ranks; }
  Request send(int to, int tag, const void *data, size_t bytes) override {
    return post(
        [&](MPI_Request *request) { return MPI_Isend(data, int(bytes), MPI_BYTE, to, tag, MPI_COMM_WORLD, request); });
  }
  Request receive(int from, int tag, void *data, size_t bytes) override {
    return post([&](MPI_Request *request) {
      return MPI_Irecv(data, int(bytes), MPI_BYTE, from, tag, MPI_COMM_WORLD, request);
    });
  }
  absl::StatusOr<bool> test(Request request) override;
  void abort(int exitCode) override;

private:
  template <typename Call> Request post(Call call);

  const int ownRank, ranks;
  std::mutex mutex; // of all that follows, and of MPI
  struct Slot {
    MPI_Request request = MPI_REQUEST_NULL;
    int error = MPI_SUCCESS; // of its start
  };
  std::vector<Slot> slots;
  std::vector<Request> unused;
};

} // namespace

template <typename Call> Communicator::Request MpiCommunicator::post(Call call) {
  std::lock_guard<std::mutex> lock(mutex);
  if (unused.empty()) {
    unused.push_back(Request(slots.size()));
    slots.emplace_back();
  }
  Request request = unused.back();
  unused.pop_back();
  Slot &slot = slots[size_t(request)];
  slot.error = call(&slot.request);
  return request; // NOLINT(clang-analyzer-optin.mpi.MPI-Checker): test() completes it
}

absl::StatusOr<bool> MpiCommunicator::test(Request request) {
  std::lock_guard<std::mutex> lock(mutex);
  Slot &slot = slots[size_t(request)];
  if (slot.error != MPI_SUCCESS)
    return mpiStatus(slot.error, "starting a message");
  int done = 0;
  RCP_RETURN_IF_ERROR(mpiStatus(MPI_Test(&slot.request, &done, MPI_STATUS_IGNORE), "MPI_Test"));
  if (done)
    unused.push_back(request);
  return done != 0;
}

void MpiCommunicator::abort(int exitCode) {
  // Not under the lock: whoever holds it may be the one that hangs.
  MPI_Abort(MPI_COMM_WORLD, exitCode);
}

absl::StatusOr<std::unique_ptr<Communicator>> recipe::rt::joinMpi() {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
    return absl::UnavailableError("MPI_Init_thread failed");
  if (provided < MPI_THREAD_SERIALIZED)
    return absl::UnavailableError(
        absl::StrCat("MPI must support MPI_THREAD_SERIALIZED, got level ", provided, ": use another MPI library"));
  RCP_RETURN_IF_ERROR(mpiStatus(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler"));
  int rank = 0, size = 0;
  RCP_RETURN_IF_ERROR(mpiStatus(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank"));
  RCP_RETURN_IF_ERROR(mpiStatus(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size"));
  return std::make_unique<MpiCommunicator>(rank, size);
}

absl::Status recipe::rt::leaveMpi() { return mpiStatus(MPI_Finalize(), "MPI_Finalize"); }
