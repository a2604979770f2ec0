// Builds the forward graph of a model for one device: global shapes, Hugging Face names, canonical segments.
//
// A model writes its forward pass once against this class; it is run twice, for @forward and for @eval (without
// dropout). Every op gets a model name as its location, unique in its graph. Activations are [B, T, C].
#ifndef MODELS_GRAPHBUILDER_H
#define MODELS_GRAPHBUILDER_H

#include "dialects/train/Segments.h"
#include "dialects/train/StepFacts.h"
#include "dialects/train/Train.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace recipe::models {

// How @init fills a parameter.
struct Init {
  enum Kind { Normal, Constant } kind;
  double value; // the standard deviation, or the constant
};

// Where a parameter lies inside a Hugging Face tensor.
struct Slice {
  std::string label; // "q": part of the variable's name
  int64_t dim;
  int64_t offset;
  llvm::SmallVector<int64_t> wholeShape;
};

class GraphBuilder {
public:
  GraphBuilder(mlir::ModuleOp module, const train::StepFacts &facts);

  const train::StepFacts &facts() const { return stepFacts; }

  // Opens a graph; the values of the one before are no longer usable.
  void beginGraph(llvm::StringRef name, bool training);

  // "tokens", "labels" or "positions", [B, T].
  mlir::Value input(llvm::StringRef name);
  // Reads a parameter, declaring it at first sight. Matrices decay, vectors do not. `hfName` with a slice is the name
  // of the whole.
  mlir::Value parameter(llvm::StringRef hfName, llvm::ArrayRef<int64_t> shape, Init init, const Slice *slice = nullptr);

  mlir::Value embedding(llvm::StringRef name, mlir::Value ids, mlir::Value table);
  mlir::Value add(llvm::StringRef name, mlir::Value lhs, mlir::Value rhs);
  mlir::Value biasAdd(llvm::StringRef name, mlir::Value x, mlir::Value bias);
  // x times weight; `segments` of the contracted dimension, `outSegments` of the result's.
  mlir::Value contract(llvm::StringRef name, mlir::Value x, mlir::Value weight, train::ContractForm form,
                       const train::SegmentList &segments, const train::SegmentList &outSegments);
  mlir::Value layerNorm(llvm::StringRef name, mlir::Value x, mlir::Value gain, mlir::Value bias, double eps);
  mlir::Value rmsNorm(llvm::StringRef name, mlir::Value x, mlir::Value gain, double eps);
  // cos and sin for positions 0..T-1.
  std::pair<mlir::Value, mlir::Value> ropeTable(llvm::StringRef name, llvm::ArrayRef<double> inverseFrequencies,
                                                double attentionFactor);
  mlir::Value rope(llvm::StringRef name, mlir::Value x, std::pair<mlir::Value, mlir::Value> table,
                   mlir::Value positions, int64_t heads);
  mlir::Value attention(llvm::StringRef name, mlir::Value q, mlir::Value k, mlir::Value v, int64_t heads,
                        int64_t kvHeads, double scale, double dropout);
  mlir::Value gelu(llvm::StringRef name, mlir::Value x);
  mlir::Value swiglu(llvm::StringRef name, mlir::Value gate, mlir::Value up);
  // x itself when p is 0 or outside training.
  mlir::Value dropout(llvm::StringRef name, mlir::Value x, double p);
  // Writes the sums over valid tokens to @loss and @count; weight is [V, C].
  void loss(llvm::StringRef name, mlir::Value x, mlir::Value weight, mlir::Value labels);

private:
  mlir::Location loc(llvm::StringRef name);
  mlir::RankedTensorType f32(llvm::ArrayRef<int64_t> shape) const;
  void declare(llvm::StringRef symbol, mlir::RankedTensorType type, llvm::StringRef hfName, Init init,
               const Slice *slice);
  void writeLoss(llvm::StringRef variable, mlir::Value value);

  mlir::OpBuilder variables; // where the next variable goes: before the first graph
  mlir::OpBuilder builder;
  mlir::ModuleOp module;
  train::StepFacts stepFacts;
  bool training = false;
  llvm::StringMap<mlir::Value> values; // inputs and parameters of the open graph
  llvm::StringSet<> declared;          // variables
  llvm::StringSet<> names;             // of the open graph
};

} // namespace recipe::models
#endif
