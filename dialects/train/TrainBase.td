//===- TrainBase.td - the train dialect, its attributes and op base ---*- tablegen -*-===//
#ifndef DIALECTS_TRAIN_TRAINBASE_TD
#define DIALECTS_TRAIN_TRAINBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/train/TrainInterfaces.td"

def Train_Dialect : Dialect {
  let name = "train";
  let cppNamespace = "::recipe::train";
  let summary = "Whole training steps as high-level tensor ops";
  let description = [{
    A module holds `train.variable` symbols (parameters, optimizer state, gradients) and `train.graph` symbols, each a
    straight line of ops on static tensors. Activations are `tensor<BxTxCxf32>` for one micro-batch: B samples, T positions.
    Tensors of bf16 are made by `train.cast` alone; which ops take them shows in their operand types.
    The order of every reduction is part of an op's meaning: docs/numerics.md.
  }];
  let useDefaultAttributePrinterParser = 1;
}

def Train_Role : I32EnumAttr<"Role", "what a variable is", [
    I32EnumAttrCase<"Parameter", 0, "parameter">, I32EnumAttrCase<"AdamM", 1, "adam_m">,
    I32EnumAttrCase<"AdamV", 2, "adam_v">, I32EnumAttrCase<"Gradient", 3, "gradient">,
    I32EnumAttrCase<"Pending", 4, "pending">, I32EnumAttrCase<"Loss", 5, "loss">,
    I32EnumAttrCase<"Output", 6, "output">, I32EnumAttrCase<"Working", 7, "working">]> {
  let cppNamespace = "::recipe::train";
  let genSpecializedAttr = 0;
}
def Train_RoleAttr : EnumAttr<Train_Dialect, Train_Role, "role">;

def Train_ContractForm : I32EnumAttr<"ContractForm", "which operand of a contraction is transposed", [
    I32EnumAttrCase<"NN", 0, "nn">, I32EnumAttrCase<"NT", 1, "nt">, I32EnumAttrCase<"TN", 2, "tn">]> {
  let cppNamespace = "::recipe::train";
  let genSpecializedAttr = 0;
}
def Train_ContractFormAttr : EnumAttr<Train_Dialect, Train_ContractForm, "form">;

def Train_BF16Order : I32EnumAttr<"BF16Order", "how a chain takes the products of bf16 operands (docs/numerics.md)", [
    I32EnumAttrCase<"Pairs", 0, "pairs">, I32EnumAttrCase<"Blocks", 1, "blocks">]> {
  let cppNamespace = "::recipe::train";
  let genSpecializedAttr = 0;
}
def Train_BF16OrderAttr : EnumAttr<Train_Dialect, Train_BF16Order, "bf16_order">;

def Train_F32Products : I32EnumAttr<"F32Products", "how products of f32 operands are computed (docs/numerics.md)", [
    I32EnumAttrCase<"FMA", 0, "fma">, I32EnumAttrCase<"BF16X6", 1, "bf16x6">]> {
  let cppNamespace = "::recipe::train";
  let genSpecializedAttr = 0;
}
def Train_F32ProductsAttr : EnumAttr<Train_Dialect, Train_F32Products, "f32_products">;

def Train_PrecisionClass : I32EnumAttr<"PrecisionClass", "what the precision policy may do with an op", [
    I32EnumAttrCase<"Matmul", 0, "matmul">, I32EnumAttrCase<"Attention", 1, "attention">,
    I32EnumAttrCase<"Elementwise", 2, "elementwise">, I32EnumAttrCase<"Norm", 3, "norm">,
    I32EnumAttrCase<"Loss", 4, "loss">, I32EnumAttrCase<"Embedding", 5, "embedding">,
    I32EnumAttrCase<"Optimizer", 6, "optimizer">, I32EnumAttrCase<"Table", 7, "table">,
    I32EnumAttrCase<"Structural", 8, "structural">]> {
  let cppNamespace = "::recipe::train";
  let genSpecializedAttr = 0;
}

class Train_StructuralOp<string mnemonic, list<Trait> traits = []> : Op<Train_Dialect, mnemonic, traits>;

// An op that computes: it owes all five duties.
class Train_Op<string mnemonic, list<Trait> traits = []> : Op<Train_Dialect, mnemonic, traits # [
    DeclareOpInterfaceMethods<Train_GradientOpInterface>,
    DeclareOpInterfaceMethods<Train_LayoutRuleOpInterface>,
    DeclareOpInterfaceMethods<Train_PrecisionOpInterface>,
    DeclareOpInterfaceMethods<Train_CostOpInterface>,
    DeclareOpInterfaceMethods<Train_ReferenceOpInterface>]> {
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Train_F32 : StaticShapeTensorOf<[F32]>;
def Train_BF16 : StaticShapeTensorOf<[BF16]>;
def Train_Float : StaticShapeTensorOf<[F32, BF16]>;
def Train_I32 : StaticShapeTensorOf<[I32]>;

#endif
