//===- StepOps.td - the planned program --------------------------*- tablegen -*-===//
#ifndef DIALECTS_STEP_STEPOPS_TD
#define DIALECTS_STEP_STEPOPS_TD
include "dialects/step/StepBase.td"

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

def Step_BufferOp : Step_Op<"buffer", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A tensor at its place in the arena";
  let description = [{
    The type is the whole tensor's, with its layout; `bytes` are those of a rank's part. `offset` counts from the start of the region, in multiples of 64 bytes. An input buffer exists once for each slot s, at
    `offset + s * slot_stride`. A transient buffer holds one value; `shares` names the buffer whose storage it takes over because the
    kernel that writes it may work in place. `data` fills a constant, which no instruction may write. `min_nodes` tells from which number
    of batch-tree nodes per rank on the buffer exists (copies of gradients for pending nodes).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Step_SpaceAttr:$space, I64Attr:$offset, I64Attr:$bytes,
    TypeAttrOf<AnyRankedTensor>:$type, StrAttr:$category, DefaultValuedAttr<I64Attr, "0">:$slot_stride,
    OptionalAttr<FlatSymbolRefAttr>:$shares, OptionalAttr<ElementsAttr>:$data, DefaultValuedAttr<I64Attr, "0">:$min_nodes);
  let assemblyFormat = "$sym_name $space `at` $offset `size` $bytes `:` $type `,` $category attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = "int64_t end() { return getOffset() + getBytes(); }";
}

def Step_ParameterOp : Step_Op<"parameter", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A Hugging Face tensor, or a slice of one, and the buffers that belong to it";
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$values, ArrayAttr:$gradients, ArrayAttr:$optimizer, StrAttr:$hf_name,
    DenseI64ArrayAttr:$hf_shape, DenseI64ArrayAttr:$hf_slice, BoolAttr:$decay);
  let assemblyFormat = "$name $values attr-dict";
}

def Step_ArenaOp : Step_Op<"arena", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Sizes of the arena; its verifier proves the whole plan";
  let description = [{
    One row for each legal number of ranks. Scratch of `max_threads` slices of `scratch_stride` bytes lies at `scratch_offset` of the
    transient region, and behind it, on more than one rank, `communication` bytes for what arrives from other ranks. `live_bytes` is the most that transient buffers take at one time: no plan can do with less. The verifier recomputes from the instructions alone when each buffer lives, and rejects: an argument outside its
    buffer; a transient buffer that is read before it is written, written by two instructions, or live at the same time as another
    one on the same bytes (a parameter's gradient lives to the end of the update); a write to an input or a constant; a buffer outside its region in some row.

    Layouts are proved, too (CollectiveVerify.cpp), for the launches of one op together, along the last micro-batch and the update:
    - C1: what is computed from split samples is split or Partial, what is computed from Partial sums alone is Partial, and nothing else is.
    - C2: a Partial buffer is read only by what adds to it, before a collective has made it whole; everything else waits for the collective.
    - C3: a collective reduces Partial buffers over the axis that they are Partial over, once, in the last micro-batch, after everything
      that adds to them.
    - C4: nothing touches the buffers of a collective between its issue and a wait for its signal, and each is waited for in the update.
    - C5: `eval`, `init` and `prologue` run on each rank by itself: no collectives, and no unfinished sums.
  }];
  let arguments = (ins ArrayAttr:$rows, I64Attr:$scratch_offset, I64Attr:$scratch_stride, I64Attr:$max_threads,
    I64Attr:$live_bytes, DefaultValuedAttr<I64Attr, "0">:$budget, DefaultValuedAttr<I64Attr, "0">:$communication);
  let assemblyFormat = "$rows `live` $live_bytes `scratch` $max_threads `x` $scratch_stride `at` $scratch_offset attr-dict";
  let hasVerifier = 1;
}

def Step_ProgramOp : Step_Op<"program", [Symbol, SingleBlock, NoTerminator]> {
  let summary = "A sub-program: instructions in order";
  let description = [{
    `forward` and `backward` run for each micro-batch, one after the other, `update` after the last one: they share the lifetimes of
    transient buffers. For every other program the transient region starts empty.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Step_InstructionOp : Step_Op<"instruction", [HasParent<"ProgramOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "One launch of a kernel on buffers";
  let description = [{
    `id` is a hash of program, name and number of the launch within its op: stable between compiles. Launches of one op bear one name
    and follow each other. `waits` are the signals of collectives that must have ended before the launch begins.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$id, FlatSymbolRefAttr:$kernel, ArrayAttr:$arguments,
    DenseI64ArrayAttr:$scalars, I64Attr:$workgroups, I64Attr:$scratch_bytes, Step_PredicateAttr:$predicate, I64Attr:$flops,
    I64Attr:$bytes, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$waits);
  let assemblyFormat = "$name $kernel $arguments `scalars` $scalars `workgroups` $workgroups `scratch` $scratch_bytes `when` $predicate attr-dict";
  let hasVerifier = 1;
}

def Step_CollectiveOp : Step_Op<"collective", [HasParent<"ProgramOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A collective over one axis of the mesh, in place on buffers that follow each other, on the communication queue";
  let description = [{
    Issued where it stands; the program goes on. Collectives run in the order of issue, which is the same on every rank. `signal` is what
    instructions name in `waits`; the id serves. `all_reduce` adds `elements` values, from the first buffer's begin to the last one's end, by the tree
    of adjacent pairs of ranks; `kernel` adds what arrived to what is there. On one rank nothing happens: the buffers are whole already. What
    lies between two of the buffers (alignment) belongs to nobody and is added along.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$id, Step_CollectiveKindAttr:$kind, StrAttr:$axis, ArrayAttr:$buffers,
    I64Attr:$elements, FlatSymbolRefAttr:$kernel, Step_PredicateAttr:$predicate, I64Attr:$signal);
  let assemblyFormat = "$name $kind `over` $axis $buffers `elements` $elements `with` $kernel `when` $predicate `signal` $signal attr-dict";
  let hasVerifier = 1;
}

#endif
