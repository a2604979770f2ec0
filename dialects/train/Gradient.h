// What an op's gradient rule may ask of the grad pass.
#ifndef DIALECTS_TRAIN_GRADIENT_H
#define DIALECTS_TRAIN_GRADIENT_H

#include "mlir/IR/Value.h"

namespace recipe::train {

// Implemented by the grad pass.
class GradientContext {
public:
  virtual ~GradientContext() = default;
  // True when a gradient of this forward value is wanted (it lies between a trainable parameter and the loss).
  virtual bool needsGradient(mlir::Value forwardValue) const = 0;
  // p: batch segments (tree leaves) inside one micro-batch; see docs/numerics.md.
  virtual int64_t batchNodes() const = 0;
  // The running accumulator that the gradient of this use of a parameter continues from, of the given accumulator type
  // ([8, C] for gains and biases, the parameter's own shape otherwise); null when each micro-batch starts anew. A rule
  // passes it on as the backward op's accumulator operand.
  virtual mlir::Value accumulatorFor(mlir::OpOperand &parameterUse, mlir::Type accumulatorType) = 0;
  // The same for a result that is written to a loss variable.
  virtual mlir::Value accumulatorFor(mlir::OpResult lossResult) = 0;
};

} // namespace recipe::train
#endif
