// How the reference meaning of an op reaches its host tensors. Internal to dialects/train/Reference*.cpp.
#ifndef DIALECTS_TRAIN_REFERENCETENSORS_H
#define DIALECTS_TRAIN_REFERENCETENSORS_H

#include "dialects/train/Policies.h"
#include "dialects/train/Reductions.h"
#include "dialects/train/Shapes.h"
#include <type_traits>

namespace recipe::train {

using Operands = llvm::ArrayRef<const HostTensor *>;
using Results = llvm::MutableArrayRef<HostTensor>;

// Runs body(policy) in the mode of the context.
template <class Body> llvm::LogicalResult inMode(const ReferenceContext &context, Body body) {
  if (context.mode == ReferenceMode::Fp64) {
    body(Fp64Policy());
  } else {
    FlushDenormals flush;
    body(ExactPolicy());
  }
  return mlir::success();
}

template <class P> const typename P::F *valuesOf(const HostTensor *tensor) {
  if constexpr (std::is_same_v<typename P::F, double>)
    return tensor->f64.data();
  else
    return tensor->f32.data();
}

// Operand `odsIndex` of the op's definition, which takes at most one value; null when it is absent.
template <class Op> const HostTensor *operandOf(Op op, Operands operands, unsigned odsIndex) {
  auto [index, length] = op.getODSOperandIndexAndLength(odsIndex);
  return length ? operands[index] : nullptr;
}

// The zeroed values of a result, with the shape of its type.
template <class P> typename P::F *allocate(HostTensor &tensor, mlir::Value result) {
  llvm::ArrayRef<int64_t> shape = shapeOf(result);
  tensor.shape.assign(shape.begin(), shape.end());
  if constexpr (std::is_same_v<typename P::F, double>) {
    tensor.type = HostTensor::Type::F64;
    tensor.f64.assign(tensor.size(), 0.0);
    return tensor.f64.data();
  } else {
    tensor.type = HostTensor::Type::F32;
    tensor.f32.assign(tensor.size(), 0.0f);
    return tensor.f32.data();
  }
}

// A copy of the accumulator, or zeros.
template <class P> std::vector<typename P::F> startOf(const HostTensor *accumulator, int64_t size) {
  if (!accumulator)
    return std::vector<typename P::F>(size);
  const typename P::F *values = valuesOf<P>(accumulator);
  return std::vector<typename P::F>(values, values + size);
}

// Samples, positions and channels of a [B, T, C] value.
struct TokenShape {
  explicit TokenShape(mlir::Value value)
      : samples(shapeOf(value)[0]), positions(shapeOf(value)[1]), channels(shapeOf(value)[2]) {}
  int64_t samples, positions, channels;

  int64_t tokens() const { return samples * positions; }
  int64_t positionSegment(int64_t token) const {
    int64_t length = (positions + kPositionSegments - 1) / kPositionSegments;
    return token % positions / length;
  }
};

// A vector gradient or loss: [8][channels] by position segment, one chain per batch node that starts at the accumulator
// (one node) or +0.0, then the tree over nodes. next(token, c, acc) continues a chain.
template <class P, class Next>
void sumTokens(P p, const TokenShape &shape, int64_t channels, int64_t nodes, const HostTensor *accumulator,
               typename P::F *result, Next next) {
  std::vector<std::vector<typename P::F>> chains;
  int64_t tokensPerNode = shape.tokens() / nodes;
  for (int64_t node = 0; node < nodes; ++node) {
    std::vector<typename P::F> sums = startOf<P>(accumulator, kPositionSegments * channels);
    for (int64_t token = node * tokensPerNode; token < (node + 1) * tokensPerNode; ++token) {
      typename P::F *row = sums.data() + shape.positionSegment(token) * channels;
      for (int64_t c = 0; c < channels; ++c)
        row[c] = next(token, c, row[c]);
    }
    chains.push_back(std::move(sums));
  }
  std::vector<typename P::F> sum = treeSum(p, std::move(chains));
  std::copy(sum.begin(), sum.end(), result);
}

// The words of a 64-bit number.
template <class P> Words<P> wordsOf(uint64_t value) { return {uint32_t(value), uint32_t(value >> 32)}; }

// Fails when an op that draws or reads step scalars has none.
inline llvm::LogicalResult expectParams(mlir::Operation *op, const ReferenceContext &context) {
  if (context.params)
    return mlir::success();
  return op->emitOpError("needs the step's scalars to be evaluated");
}

} // namespace recipe::train
#endif
