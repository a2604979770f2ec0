// The ranks of an MPI job. Only this file's .cpp knows MPI.
#ifndef RUNTIME_COMM_MPICOMMUNICATOR_H
#define RUNTIME_COMM_MPICOMMUNICATOR_H
#include "runtime/comm/Communicator.h"
#include <memory>

namespace recipe::rt {

/// Joins the job that this process was started in; once in the life of a process. Waits for the other ranks, without
/// limit. Calls to MPI are made one at a time, from any thread (MPI_THREAD_SERIALIZED).
absl::StatusOr<std::unique_ptr<Communicator>> joinMpi();

/// Leaves the job in peace: all ranks call it, nothing is in flight. Waits without limit. abort() is the other way to
/// end.
absl::Status leaveMpi();

} // namespace recipe::rt
#endif
