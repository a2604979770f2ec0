//===- StepBase.td - the step dialect, its enums and attributes --*- tablegen -*-===//
#ifndef DIALECTS_STEP_STEPBASE_TD
#define DIALECTS_STEP_STEPBASE_TD
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"

def Step_Dialect : Dialect {
  let name = "step";
  let cppNamespace = "::recipe::step";
  let summary = "Buffers and launches: what the runtime executes";
  let description = [{
    After plan a module holds distinct kernels, buffers with their place in the arena, one `step.arena` with the sizes for each
    legal number of ranks, and one `step.program` for each sub-program. runtime/abi/step.proto is the same program outside MLIR.
  }];
  let useDefaultAttributePrinterParser = 1;
}

def Step_ArgumentKind : I32EnumAttr<"ArgumentKind", "what a launch argument refers to in its train.kernel", [
    I32EnumAttrCase<"Operand", 0, "operand">, I32EnumAttrCase<"Result", 1, "result">, I32EnumAttrCase<"Temp", 2, "temp">]> {
  let cppNamespace = "::recipe::step";
  let genSpecializedAttr = 0;
}

def Step_ArgumentAttr : AttrDef<Step_Dialect, "Argument"> {
  let mnemonic = "arg";
  let summary = "An operand, result or temporary of the enclosing train.kernel, at a byte offset";
  let parameters = (ins EnumParameter<Step_ArgumentKind>:$kind, "int64_t":$index, "int64_t":$offset);
  let assemblyFormat = "`<` $kind $index `+` $offset `>`";
}

def Step_LaunchAttr : AttrDef<Step_Dialect, "Launch"> {
  let mnemonic = "launch";
  let summary = "One launch of a kernel: argument order, constant scalars, number of workgroups, private scratch bytes per thread";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$kernel, OptionalArrayRefParameter<"::recipe::step::ArgumentAttr">:$arguments,
    "::mlir::DenseI64ArrayAttr":$scalars, "int64_t":$workgroups, "int64_t":$scratch_bytes, "int64_t":$flops, "int64_t":$bytes);
  let assemblyFormat = "`<` $kernel `(` (`)`) : ($arguments^ `)`)? `,` `scalars` `=` $scalars `,` `workgroups` `=` $workgroups `,` `scratch` `=` $scratch_bytes `,` `flops` `=` $flops `,` `bytes` `=` $bytes `>`";
}

def Step_Space : I32EnumAttr<"Space", "the part of the arena that a buffer lies in", [
    I32EnumAttrCase<"State", 0, "state">, I32EnumAttrCase<"Input", 1, "input">, I32EnumAttrCase<"Transient", 2, "transient">]> {
  let cppNamespace = "::recipe::step";
  let genSpecializedAttr = 0;
}
def Step_SpaceAttr : EnumAttr<Step_Dialect, Step_Space, "space">;

def Step_Predicate : I32EnumAttr<"Predicate", "for which micro-batches an instruction runs", [
    I32EnumAttrCase<"Always", 0, "always">, I32EnumAttrCase<"FirstMicrobatch", 1, "first_microbatch">,
    I32EnumAttrCase<"LastMicrobatch", 2, "last_microbatch">, I32EnumAttrCase<"SegmentBegin", 3, "segment_begin">,
    I32EnumAttrCase<"SegmentEnd", 4, "segment_end">, I32EnumAttrCase<"Accumulating", 5, "accumulating">]> {
  let cppNamespace = "::recipe::step";
  let genSpecializedAttr = 0;
}
def Step_PredicateAttr : EnumAttr<Step_Dialect, Step_Predicate, "predicate">;

def Step_CollectiveKind : I32EnumAttr<"CollectiveKind", "what a collective does with the buffer of each rank", [
    I32EnumAttrCase<"AllReduce", 0, "all_reduce">]> {
  let cppNamespace = "::recipe::step";
  let genSpecializedAttr = 0;
}
def Step_CollectiveKindAttr : EnumAttr<Step_Dialect, Step_CollectiveKind, "collective_kind">;

def Step_Access : I32EnumAttr<"Access", "what a launch does with an argument", [
    I32EnumAttrCase<"Read", 0, "read">, I32EnumAttrCase<"Write", 1, "write">, I32EnumAttrCase<"Temp", 2, "temp">]> {
  let cppNamespace = "::recipe::step";
  let genSpecializedAttr = 0;
}

def Step_SliceAttr : AttrDef<Step_Dialect, "Slice"> {
  let mnemonic = "slice";
  let summary = "An argument of an instruction: a buffer from a byte offset on, and what is done with it; a temp is written and read back";
  let parameters = (ins EnumParameter<Step_Access>:$access, "::mlir::FlatSymbolRefAttr":$buffer, "int64_t":$offset);
  let assemblyFormat = "`<` $access $buffer `+` $offset `>`";
}

def Step_ShareAttr : AttrDef<Step_Dialect, "Share"> {
  let mnemonic = "share";
  let summary = "Bytes of one category at the peak";
  let parameters = (ins "::mlir::StringAttr":$category, "int64_t":$bytes);
  let assemblyFormat = "`<` $category $bytes `>`";
}

def Step_RowAttr : AttrDef<Step_Dialect, "Row"> {
  let mnemonic = "row";
  let summary = "The arena on a number of ranks: region sizes, and the categories that are live when most is";
  let parameters = (ins "int64_t":$ranks, "int64_t":$accumulation, "int64_t":$nodes, "int64_t":$state, "int64_t":$input,
    "int64_t":$transient, ArrayRefParameter<"::recipe::step::ShareAttr">:$shares);
  let assemblyFormat = "`<` `ranks` `=` $ranks `,` `accumulation` `=` $accumulation `,` `nodes` `=` $nodes `,` `state` `=` $state `,` `input` `=` $input `,` `transient` `=` $transient `,` `[` $shares `]` `>`";
  let extraClassDeclaration = "int64_t total() const { return getState() + getInput() + getTransient(); }";
}

class Step_Op<string mnemonic, list<Trait> traits = []> : Op<Step_Dialect, mnemonic, traits>;

#endif
