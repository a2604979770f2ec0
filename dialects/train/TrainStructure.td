//===- TrainStructure.td - graphs, variables, leaves, kernels ----*- tablegen -*-===//
#ifndef DIALECTS_TRAIN_TRAINSTRUCTURE_TD
#define DIALECTS_TRAIN_TRAINSTRUCTURE_TD
include "dialects/train/TrainBase.td"

def Train_VariableOp : Train_StructuralOp<"variable", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A tensor that lives as long as the run";
  let description = [{
    Parameters carry their Hugging Face tensor and, where they are a slice of it, dimension, offset and full shape
    (`hf_slice = [dim, offset]`, `hf_shape`); dim -1 means the whole tensor. `decay` says whether weight decay applies,
    `init` how `@init` fills it: a dictionary {normal = stddev} or {constant = value}. `of` names the parameter that a gradient
    or optimizer variable belongs to, or the sum that pending subtrees belong to; a parameter used k times has k gradient
    variables, `use` 0..k-1. A `working` variable is the bf16 copy of the parameter `of`, and the only variable that is bf16.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyRankedTensor>:$type, Train_RoleAttr:$role,
    OptionalAttr<StrAttr>:$hf_name, OptionalAttr<DenseI64ArrayAttr>:$hf_shape, OptionalAttr<DenseI64ArrayAttr>:$hf_slice,
    OptionalAttr<DictionaryAttr>:$init, OptionalAttr<BoolAttr>:$decay, OptionalAttr<BoolAttr>:$trainable,
    OptionalAttr<FlatSymbolRefAttr>:$of, OptionalAttr<I64Attr>:$use);
  let assemblyFormat = "$sym_name `:` $type $role attr-dict";
  let hasVerifier = 1;
}

def Train_GraphOp : Train_StructuralOp<"graph", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "A straight line of ops that runs as one program";
  let description = [{
    `@forward` and `@eval` come from import. After grad: `@train` (forward, `train.backward_begin`, backward), `@segment_begin`,
    `@segment_end`, `@update`, `@init`, `@prologue`, `@eval`; after precision `@refresh`, which makes what follows from parameters. Values enter by `train.input` and `train.read` and leave by `train.write`.
    A variable is written at most once in a graph, and not read after that.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Train_InputOp : Train_StructuralOp<"input", [MemoryEffects<[MemRead]>]> {
  let summary = "A batch input: tokens, labels or positions, tensor<BxTxi32>; a label < 0 does not count";
  let arguments = (ins StrAttr:$name);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}

def Train_ReadOp : Train_StructuralOp<"read", [MemoryEffects<[MemRead]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The value of a variable at the start of the graph (all reads precede all writes of the same variable)";
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$variable attr-dict `:` type($result)";
}

def Train_WriteOp : Train_StructuralOp<"write", [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Gives a variable its new value; at most once for each variable and graph";
  let arguments = (ins FlatSymbolRefAttr:$variable, AnyStaticShapeTensor:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

def Train_BackwardBeginOp : Train_StructuralOp<"backward_begin", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Everything before it is the sub-program forward, everything after it backward";
  let assemblyFormat = "attr-dict";
}

def Train_KernelOp : Train_StructuralOp<"kernel", [IsolatedFromAbove, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "A fused region: what becomes one kernel, or the few launches that kernel-select splits it into";
  let description = [{
    Block arguments are the operands with local, plain types; `train.yield` gives the results. kernel-select sets
    `launches` (array of #step.launch), `temps` (bytes of each temporary that lives across its launches) and `in_place`
    (pairs result, operand that may share storage).
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$inputs, StrAttr:$name, OptionalAttr<ArrayAttr>:$launches,
    OptionalAttr<DenseI64ArrayAttr>:$temps, OptionalAttr<DenseI64ArrayAttr>:$in_place);
  let results = (outs Variadic<AnyStaticShapeTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `(` $inputs `)` attr-dict-with-keyword `:` functional-type($inputs, $outputs) $body";
  let hasRegionVerifier = 1;
}

def Train_YieldOp : Train_StructuralOp<"yield", [Pure, Terminator]> {
  let summary = "The results of a kernel region, in a train.kernel or kept in a step.kernel";
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
