//===- Passes.td - every pass, with what it requires and ensures -*- tablegen -*-===//
//
// The order in which they run is in compiler/Pipeline.cpp and nowhere else.
//
//===----------------------------------------------------------------------===//
#ifndef PASSES_PASSES_TD
#define PASSES_PASSES_TD
include "mlir/Pass/PassBase.td"

def GradPass : Pass<"grad", "::mlir::ModuleOp"> {
  let summary = "Differentiate the forward graph with respect to its trainable parameters";
  let description = [{
    `@forward` becomes `@train`: forward, `train.backward_begin`, backward. Only values between a trainable parameter and the loss are
    visited; the rules are the ops' own. The gradient of each use of a parameter is written to a variable `grad:<parameter>`
    (`grad:<parameter>:<use>` when there are several). Contributions to the gradient of an activation are added in reverse order of
    use; neighbouring ones that are contractions of one form and number of segments become one contraction over all their
    pairs, in order of use. `@segment_begin` sets all sums to zero (only when a node of the batch tree takes several
    micro-batches) and `@segment_end` merges a completed node with the pending ones (only when a rank can have several).

    Requires: `train.step` on the module; a graph `@forward` whose loss variables take results of `train.linear_cross_entropy`;
    every trainable parameter reaches the loss; every op between has a gradient.
    Ensures: `@train` instead of `@forward`; a gradient variable, written once, for each use of each trainable parameter, of
    its type or, for vectors, [8, C] by position segment.
  }];
  let dependentDialects = ["::recipe::train::TrainDialect"];
}

def UpdatePass : Pass<"update", "::mlir::ModuleOp"> {
  let summary = "Add the optimizer's update, the initial state and the schedule";
  let description = [{
    `@update`: loss and valid tokens to the step scalars, position sums, gradients of several uses added in order of use, the
    global norm, AdamW for each trainable parameter (decay only where the parameter says so). `@init`: parameters as their `init`
    says, optimizer state zero. `@prologue`: learning rate and bias corrections. In `@eval` the writes of `@loss` and `@count`
    become `train.eval_loss`, of each token instead of sums over samples.

    Requires: gradient variables for every trainable parameter (grad); variables `@loss` and `@count`; `init` on parameters.
    Ensures: graphs `@update`, `@init`, `@prologue`; variables `adam_m:<parameter>` and `adam_v:<parameter>`; `@eval` writes no variable.
  }];
  let dependentDialects = ["::recipe::train::TrainDialect"];
  let options = [
    Option<"beta1", "beta1", "double", "0.9", "decay rate of the first moment">,
    Option<"beta2", "beta2", "double", "0.95", "decay rate of the second moment">,
    Option<"eps", "eps", "double", "1e-8", "added to the root of the second moment">,
    Option<"weightDecay", "weight-decay", "double", "0.1", "weight decay of parameters that decay">,
    Option<"clip", "clip", "double", "1.0", "largest norm of the gradient; 0: any">];
}

def PrecisionPass : Pass<"precision", "::mlir::ModuleOp"> {
  let summary = "Let contractions take bf16: explicit casts, as few as possible; or multiply f32 by parts in bf16";
  let description = [{
    In `@train` and `@eval` every op that may take operands in bf16 (`getBF16Operands`) does, unless `keep-fp32` names its precision class
    or matches its model name (* any text, ? any character; gradients belong to their op, and what reads a parameter of a kept op is kept, too). A
    value is cast once, where it is made, before all consumers; no result is cast back, since results are f32. `blocks` sets
    the `bf16_order` of these ops. A parameter is read as its
    working copy, a variable `working:<parameter>`: the update writes it from the new value, and `@refresh` writes all of
    them from parameters that came from anywhere. Parameters, optimizer state, gradients and sums stay f32. Without `casts` all stays f32.

    `bf16x6` sets `f32_products` of the ops that then multiply f32 operands.

    Requires: graphs without kernels; results of grad and update.
    Ensures: bf16 values are results of `train.cast` or reads of working copies; a working copy for each parameter that is read in bf16; `@refresh`
    if there is one.
  }];
  let dependentDialects = ["::recipe::train::TrainDialect"];
  let options = [Option<"casts", "casts", "bool", "true", "operands in bf16">, ListOption<"keepFp32", "keep-fp32", "std::string", "classes or globs that stay in f32">,
    Option<"blocks", "blocks", "bool", "false", "bf16 terms in blocks, not in pairs: the target has AMX">,
    Option<"bf16x6", "bf16x6", "bool", "false", "products of f32 operands as six of bf16 parts: the target has AMX">];
}

def RecomputePass : Pass<"recompute", "::mlir::ModuleOp"> {
  let summary = "Compute again in backward what is cheap, instead of keeping it";
  let description = [{
    What forward gives and backward needs is kept in between. A result is dropped instead where its op is cheap (`isCheapToReplay`; `products` allows so many matrix products in a row, one only of what is kept for others), everything
    the op reads is there in backward (kept for others, dropped and replayed too, parameters, inputs, tables), and most of what the op gives would
    be kept. With `product-bytes`
    cheap ops come first, then single products, then two in a row, each from the first layer on, until so many bytes are dropped. Without `working-copies` a parameter that is read in bf16 is rounded before its first use, and again in backward.
    A dropped op is replayed once, just before the first op of backward that needs it, so that its results live shortly; forward is what it was. A
    replay bears the name of its op and `/replay`. The same ops on the same values: no bit changes.

    Requires: graphs of train ops without kernels and layouts; results of grad, and of precision if that runs.
    Ensures: no result of a cheap op crosses from forward to backward, unless its op reads what is gone by then or what crosses is small
    beside what the op gives.
  }];
  let dependentDialects = ["::recipe::train::TrainDialect"];
  let options = [Option<"products", "products", "int64_t", "0", "products in a row that may be replayed">,
    Option<"productBytes", "product-bytes", "int64_t", "-1", "stop replaying products where so many bytes are dropped; negative: any">,
    Option<"workingCopies", "working-copies", "bool", "true", "false: weights in bf16 are rounded where they are used">];
}

def FusePass : Pass<"fuse", "::mlir::ModuleOp"> {
  let summary = "Group the ops of each graph into kernel regions";
  let description = [{
    Rules (passes/fusion/rules) name ops that become one `train.kernel` region; every other compute op becomes a region of its own.
    A region is named by its anchor, or its first op, and the ops joined to it (a later region of the same name gets a `#2`, `#3`, ...
    suffix). It runs where its last op stood. Tables (`train.rope_table`) stay outside: plan folds them into constants. Dead
    pure ops are removed. No value changes: a region computes what its ops compute.

    Requires: graphs of train ops without kernels; a location name on every compute op.
    Ensures: every compute op except tables lies in a `train.kernel`, together with what may lie there
    (dialects/train/Regions.h); kernel names are unique in a graph.
  }];
  let dependentDialects = ["::recipe::train::TrainDialect", "::mlir::pdl::PDLDialect"];
  let options = [
    Option<"enabled", "enabled", "bool", "true", "false: one op to a region">,
    Option<"remarks", "remarks", "bool", "false", "tell at each op why a rule that speaks of it does not match">];
}

def SelectKernelsPass : Pass<"select-kernels", "::mlir::ModuleOp"> {
  let summary = "Decide the kernels, launches, temporaries and storage sharing of every region";
  let description = [{
    Asks the kernel rule of each region's op (passes/select/KernelRule.h), a pure function of op, local shapes and target.
    Launches of equal family, specification and region share one `step.kernel`.

    Requires: every compute op lies in a `train.kernel` (fuse).
    A `dist.all_reduce` gets the kernel that adds two parts of a sum (`step.combine`).

    Ensures: every `train.kernel` has `launches`, `temps` and `in_place`; every launch names a `step.kernel` of the module.
  }];
  let dependentDialects = ["::recipe::step::StepDialect"];
  let options = [
    Option<"maxThreads", "max-threads", "int64_t", "16", "threads that scratch exists for">];
}

def PlanArenaPass : Pass<"plan-arena", "::mlir::ModuleOp"> {
  let summary = "Give every value its place in the arena and turn graphs into programs";
  let description = [{
    Variables live in the state region (copies for pending tree nodes last, so that the arena of more ranks is a prefix), inputs
    double-buffered in the input region, all other values in the transient region by liveness. A value that is written to a
    variable is produced in the variable's storage. `step.arena` states the sizes for each legal number of ranks.

    `@segment_end` merges a sum right after the kernel that completes it. An all-reduce of a variable works in place, is issued in the last
    micro-batch once the sum is complete, and the first instruction that reads it waits: the communication runs beside the rest of backward.

    Requires: `train.kernel` regions with launches (select-kernels); all other ops are structural, tables, or all-reduces of variables
    that nothing else in `@update` reads.
    Ensures: the module holds `step` ops only; the verifier of `step.arena` accepts the plan.
  }];
  let dependentDialects = ["::recipe::step::StepDialect"];
  let options = [
    Option<"maxThreads", "max-threads", "int64_t", "16", "threads that scratch exists for">,
    Option<"evaluatesTables", "evaluates-tables", "bool", "true",
           "tables become constants with their values; else these have places only, and the step cannot run">];
}

def ShardPass : Pass<"shard", "::mlir::ModuleOp"> {
  let summary = "Assign a layout to every tensor and insert the collectives that the layouts demand";
  let description = [{
    Creates the mesh, splits batch inputs over its data axis, keeps variables whole on each rank, and lets every op's layout rule
    decide the rest. Gradient, pending and loss variables stay Partial over the data axis until the update, which reduces them
    once, before the first op that needs whole values. Graphs come for one rank's micro-batch: a dimension that is split over the
    axis becomes as many times longer as the axis has ranks. `@eval` stays a program of one rank, which has a batch of its own.

    Requires: graphs of train ops without layouts.
    Ensures: every tensor carries a layout that its op's rule confirms (D8); Partial values meet only ops that allow them.
  }];
  let dependentDialects = ["::recipe::train::TrainDialect", "::recipe::dist::DistDialect"];
  let options = [Option<"dataRanks", "data-ranks", "int64_t", "1", "ranks of the mesh's data axis">];
}

def FoldCollectivesPass : Pass<"fold-collectives", "::mlir::ModuleOp"> {
  let summary = "Forget mesh axes of one rank, and the collectives over them";
  let description = [{
    Splitting over one rank splits nothing, and the sum over one rank is its operand: such axes leave all layouts. A layout
    change between equal layouts moves nothing: its users take the operand.

    Requires: every mesh that a layout names.
    Ensures: every axis in a layout has at least two ranks; every remaining layout change communicates or slices.
  }];
  let dependentDialects = ["::recipe::dist::DistDialect"];
  let statistics = [Statistic<"folded", "folded", "layout changes removed">];
}

def VerifyLayoutsPass : Pass<"verify-layouts", "::mlir::ModuleOp"> {
  let summary = "Check every layout against its mesh and every op against its layout rule";
  let description = [{
    The verifier that runs between phases, as a pass: constraints D3 to D5 and D8 to D11 of the dist dialect (the others hold by
    construction of types and ops) and the rules T1 to T6 of train ops, inside kernel regions too. Changes nothing.

    Requires: nothing.
    Ensures: the layouts of the module are those that a correct data flow has; with `require-layouts` (after shard) every tensor
    outside kernel regions has one.
  }];
  let options = [
    Option<"requireLayouts", "require-layouts", "bool", "false", "a tensor without layout is an error">];
}

#endif
