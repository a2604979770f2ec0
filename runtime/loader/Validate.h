// Everything that a Step message promises and that running it relies on. After ok, every index is in range and every
// address that the executor forms lies inside the arena.
#ifndef RUNTIME_LOADER_VALIDATE_H
#define RUNTIME_LOADER_VALIDATE_H
#include "runtime/abi/step.pb.h"
#include "runtime/base/Status.h"
#include "runtime/loader/RankPlan.h"

namespace recipe::rt {

absl::Status validateStep(const abi::Step &step, const RankPlan &plan);

/// The parts of validateStep().
absl::Status validateBuffers(const abi::Step &step, const RankPlan &plan);
absl::Status validateParameters(const abi::Step &step);
absl::Status validatePrograms(const abi::Step &step);

/// Bytes of one element.
int64_t elementBytes(abi::DataType type);

} // namespace recipe::rt
#endif
