// Host tensors and the context in which a train op's reference meaning is evaluated.
//
// Two modes share one implementation (a template over a scalar policy, Formulas.h): `fp64`, where every float is a
// double and functions come from libm, and `exact`, which reproduces the native kernels bit for bit in f32. A tensor of
// bf16 is held as floats: in `exact` those that a bf16 can be, in `fp64` not rounded at all.
#ifndef DIALECTS_TRAIN_REFERENCE_H
#define DIALECTS_TRAIN_REFERENCE_H

#include "runtime/abi/kernel_abi.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/LogicalResult.h"
#include <cstdint>
#include <vector>

namespace recipe::train {

// A dense row-major tensor on the host. Exactly one of the vectors is used, by `type`.
struct HostTensor {
  enum class Type { F64, F32, I32 };
  Type type = Type::F32;
  llvm::SmallVector<int64_t> shape;
  std::vector<double> f64;
  std::vector<float> f32;
  std::vector<int32_t> i32;

  int64_t size() const {
    int64_t n = 1;
    for (int64_t d : shape)
      n *= d;
    return n;
  }
};

enum class ReferenceMode { Fp64, Exact };

struct ReferenceContext {
  ReferenceMode mode = ReferenceMode::Fp64;
  rcp_step_params_v1 *params = nullptr; // step scalars, read and written as kernels do
};

} // namespace recipe::train
#endif
