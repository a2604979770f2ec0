// A straight line of elementwise ops on 16 lanes: values in, values stored. A kernel of its own, or what follows the
// finished values of another one.
//
//   inputs    for each buffer that is read 0: one value per element, 1: one per channel
//   program   for each op {op, operands = numbers of values, attributes}; values are those that are given, then the
//             inputs, then the results of each op
//   results   numbers of the values that are stored
//   bf16      numbers of the buffers, inputs and then results, that hold bf16; absent: none
//   A result may be stored over any input of one value per element and of its type.
#ifndef PASSES_CODEGEN_LANEPROGRAM_H
#define PASSES_CODEGEN_LANEPROGRAM_H

#include "passes/codegen/LaneRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace recipe::codegen {

class LaneProgram {
public:
  // The buffers are the inputs, then the results, from `firstBuffer` on; `firstScalar` is the first launch scalar of
  // the ops. Emits what does not depend on the element.
  static llvm::Expected<LaneProgram> read(KernelBuilder &builder, mlir::DictionaryAttr spec, unsigned firstBuffer,
                                          unsigned firstScalar);

  struct Place {
    Val element; // i64: index of lane 0 in tensors of one value per element
    Val channel; // in those of one per channel; null when there are none
    Val mask;    // null: all lanes
  };
  // Loads, computes and stores; all loads come before all stores.
  void run(ValRange given, const Place &place) const;

  // `run` reads buffers of one value per element.
  bool readsElements() const { return llvm::is_contained(inputs, 0); }
  // Asks for the lines of cache that `run` will read.
  void prefetch(Val element) const;
  // Of those that it will write.
  void prefetchResults(Val element) const;
  // The buffer may be the memory of any result.
  void mayOverwrite(unsigned buffer) const;
  // Few instructions: code that may be repeated.
  bool isShort() const;

private:
  struct Step {
    const LaneRule *rule;
    llvm::ArrayRef<int64_t> operands;
    mlir::DictionaryAttr attributes;
    Vals prepared;
  };
  LaneProgram(KernelBuilder &builder, mlir::DictionaryAttr spec, unsigned firstBuffer);
  // The element `index` of buffer `number`, counted from the program's first.
  Address at(size_t number, Val index) const;
  bool isBF16(size_t number) const;

  KernelBuilder &b;
  llvm::ArrayRef<int64_t> inputs, results, halves;
  unsigned firstBuffer;
  llvm::SmallVector<Step> steps;
};

// The field `epilogue` of a kernel's specification: a program that takes what would go to buffer `result`, whose
// results may be the memory of `inputs`. None: the kernel stores by itself.
llvm::Expected<std::optional<LaneProgram>> readEpilogue(KernelBuilder &builder, mlir::DictionaryAttr spec,
                                                        unsigned result, llvm::ArrayRef<unsigned> inputs);

} // namespace recipe::codegen
#endif
