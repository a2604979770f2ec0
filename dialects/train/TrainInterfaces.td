//===- TrainInterfaces.td - the five duties of a train op --------*- tablegen -*-===//
//
// Every op of the train dialect implements all five, so that a forgotten duty is a build error.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECTS_TRAIN_TRAININTERFACES_TD
#define DIALECTS_TRAIN_TRAININTERFACES_TD

include "mlir/IR/OpBase.td"

def Train_GradientOpInterface : OpInterface<"GradientOpInterface"> {
  let cppNamespace = "::recipe::train";
  let description = [{
    How gradients of results become gradients of operands. The grad pass walks a forward graph backwards and calls
    `buildGradient` once for each op that lies between a trainable parameter and a loss.
  }];
  let methods = [
    InterfaceMethod<"False for ops that have no derivative by meaning (integer outputs, updates, backward ops).",
      "bool", "hasGradient", (ins)>,
    InterfaceMethod<[{
      Creates the backward ops. `resultGradients[i]` is the gradient of result i, or null when nothing depends on it.
      Appends to `operandGradients` one value for each operand: null where the operand needs none (integers) or where
      `context.needsGradient(operand)` is false. A parameter's gradient may be in accumulator form, see GradientContext.}],
      "::llvm::LogicalResult", "buildGradient",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$resultGradients,
           "::recipe::train::GradientContext &":$context,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$operandGradients)>
  ];
}

def Train_LayoutRuleOpInterface : OpInterface<"LayoutRuleOpInterface"> {
  let cppNamespace = "::recipe::train";
  let description = "How the layouts of operands determine the layouts of results, and which are legal.";
  let methods = [
    InterfaceMethod<[{
      Given one layout attribute per operand (a dist layout; null for a leaf without operands), appends one per result.
      Emits an error of the form "rule, got: ..." and fails where the combination is illegal (for example an
      elementwise op on a Partial operand).}],
      "::llvm::LogicalResult", "inferLayouts",
      (ins "::llvm::ArrayRef<::mlir::Attribute>":$operandLayouts,
           "::llvm::SmallVectorImpl<::mlir::Attribute> &":$resultLayouts)>
  ];
}

def Train_PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::recipe::train";
  let description = "The precision class of an op: what the precision policy may compute in reduced precision.";
  let methods = [
    InterfaceMethod<"", "::recipe::train::PrecisionClass", "getPrecisionClass", (ins)>,
    InterfaceMethod<[{
      The operands that may be bf16, all together, because the op's meaning says what it does with them and there are kernels
      for it. None: the op takes f32 only, always or with these shapes. An op that multiplies them has an optional attribute `bf16_order`, and `f32_products` if its f32
      operands may be multiplied by parts.}],
      "::llvm::SmallVector<::mlir::OpOperand *>", "getBF16Operands", (ins), "", "return {};">
  ];
}

def Train_CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::recipe::train";
  let description = "Static cost; floating point operations count a multiply-add as two; causal attention counts only unmasked pairs.";
  let methods = [
    InterfaceMethod<"floating point operations", "double", "getFlops", (ins)>,
    InterfaceMethod<"bytes read and written: every operand and result once", "double", "getBytes", (ins), "", [{
      return ::recipe::train::operandAndResultBytes($_op);
    }]>,
    InterfaceMethod<[{
      Whether computing the results once more costs little beside reading the operands and writing the results, so that backward may do
      that instead of keeping them. Only for ops of forward; the results must be the same bits at any time of the micro-batch.}],
      "bool", "isCheapToReplay", (ins)>
  ];
}

def Train_ReferenceOpInterface : OpInterface<"ReferenceOpInterface"> {
  let cppNamespace = "::recipe::train";
  let description = "The meaning of the op, evaluated on the host in fp64 or in exact f32 (docs/numerics.md).";
  let methods = [
    InterfaceMethod<[{
      Evaluates the op. `operands[i]` holds operand i; fills `results[i]` completely (shape, type, data).
      Ops that read or write step scalars do it through `context.params`.}],
      "::llvm::LogicalResult", "evaluate",
      (ins "::recipe::train::ReferenceContext &":$context,
           "::llvm::ArrayRef<const ::recipe::train::HostTensor *>":$operands,
           "::llvm::MutableArrayRef<::recipe::train::HostTensor>":$results)>
  ];
}

#endif
