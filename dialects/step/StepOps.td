//===- StepOps.td - the planned program --------------------------*- tablegen -*-===//
#ifndef DIALECTS_STEP_STEPOPS_TD
#define DIALECTS_STEP_STEPOPS_TD
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"

def Step_Dialect : Dialect {
  let name = "step";
  let cppNamespace = "::recipe::step";
  let summary = "Buffers and launches: what the runtime executes";
  let useDefaultAttributePrinterParser = 1;
}

def Step_ArgumentKind : I32EnumAttr<"ArgumentKind", "what a launch argument refers to in its train.kernel", [
    I32EnumAttrCase<"Operand", 0, "operand">, I32EnumAttrCase<"Result", 1, "result">, I32EnumAttrCase<"Temp", 2, "temp">]> {
  let cppNamespace = "::recipe::step";
  let genSpecializedAttr = 0;
}

// An operand, result or temporary of the enclosing train.kernel, at a byte offset.
def Step_ArgumentAttr : AttrDef<Step_Dialect, "Argument"> {
  let mnemonic = "arg";
  let parameters = (ins EnumParameter<Step_ArgumentKind>:$kind, "int64_t":$index, "int64_t":$offset);
  let assemblyFormat = "`<` $kind $index `+` $offset `>`";
}

// One launch of a kernel: argument order, constant scalars, number of workgroups, private scratch bytes per thread.
def Step_LaunchAttr : AttrDef<Step_Dialect, "Launch"> {
  let mnemonic = "launch";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$kernel, OptionalArrayRefParameter<"::recipe::step::ArgumentAttr">:$arguments,
    "::mlir::DenseI64ArrayAttr":$scalars, "int64_t":$workgroups, "int64_t":$scratch_bytes, "int64_t":$flops, "int64_t":$bytes);
  let assemblyFormat = "`<` $kernel `(` (`)`) : ($arguments^ `)`)? `,` `scalars` `=` $scalars `,` `workgroups` `=` $workgroups `,` `scratch` `=` $scratch_bytes `,` `flops` `=` $flops `,` `bytes` `=` $bytes `>`";
}

class Step_Op<string mnemonic, list<Trait> traits = []> : Op<Step_Dialect, mnemonic, traits>;

def Step_KernelOp : Step_Op<"kernel", [Symbol, IsolatedFromAbove, NoTerminator]> {
  let summary = "A distinct kernel: a family, its specification, and the fused region it computes";
  let description = [{
    Two launches with equal family, specification and region share one kernel. The region is empty for families whose specification
    says everything. Codegen emits one function for each.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$family, DictionaryAttr:$spec);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = "$sym_name `family` $family $spec attr-dict-with-keyword $body";
}

#endif
