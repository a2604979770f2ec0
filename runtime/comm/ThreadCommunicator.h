// N ranks inside one process, for tests: each a thread of the test's own.
#ifndef RUNTIME_COMM_THREADCOMMUNICATOR_H
#define RUNTIME_COMM_THREADCOMMUNICATOR_H
#include "runtime/comm/Communicator.h"
#include <memory>

namespace recipe::rt {

/// The ranks of one run. A send is complete only once its receive has taken the bytes, so that whatever would
/// deadlock over a transport without buffers does so here. Lengths that differ fail both sides.
std::vector<std::unique_ptr<Communicator>> makeThreadCommunicators(int size);

} // namespace recipe::rt
#endif
