// The order of operations that the bits of training follow, as far as the compiler and its target decide it. What a
// recipe decides is among the settings.
#ifndef RUNTIME_CHECKPOINT_NUMERICSIDENTITY_H
#define RUNTIME_CHECKPOINT_NUMERICSIDENTITY_H
#include "runtime/abi/step.pb.h"
#include <cstdint>
#include <string>

namespace recipe::rt {

struct NumericsIdentity {
  int64_t version = 0;   // of the rules of docs/numerics.md; 0: not recorded, as before version 1
  std::string bf16Order; // of the terms of bf16 products: pairs, blocks; empty: there are none
};

NumericsIdentity numericsOf(const abi::Manifest &step);

/// "version 1, bf16 sums in blocks (AMX)".
std::string describeNumerics(const NumericsIdentity &numerics);

/// What a run is told whose step has other numerics than the one that wrote its checkpoint; empty: the same ones, or an
/// order that only one side has, which comes with a setting that differs.
std::string compareNumerics(const NumericsIdentity &checkpoint, const NumericsIdentity &step);

} // namespace recipe::rt
#endif
