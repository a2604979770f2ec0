//===- TrainUpdate.td - accumulation, optimizer, init, schedule --*- tablegen -*-===//
#ifndef DIALECTS_TRAIN_TRAINUPDATE_TD
#define DIALECTS_TRAIN_TRAINUPDATE_TD
include "dialects/train/TrainBase.td"

def Train_FillOp : Train_Op<"fill", [Pure]> {
  let summary = "A tensor of one value";
  let arguments = (ins F64Attr:$value);
  let results = (outs Train_F32:$result);
}
def Train_InitNormalOp : Train_Op<"init_normal", [Pure]> {
  let summary = "N(0, stddev) from the counter-based generator keyed by seed and `key` (hash of the parameter's name)";
  let arguments = (ins F64Attr:$stddev, I64Attr:$key);
  let results = (outs Train_F32:$result);
}
def Train_TreeMergeOp : Train_Op<"tree_merge", [Pure]> {
  let summary = "One node of the batch tree is complete: merge it with the pending subtrees";
  let description = [{
    value [..], pending [L, ..], n = StepParams.node, c = StepParams.node_count (2^L at most). For each trailing one bit l of n,
    ascending: value = pending[l] + value. Then, unless n = c - 1, pending[t] = value with t the number of trailing ones.
  }];
  let arguments = (ins Train_F32:$value, Train_F32:$pending);
  let results = (outs Train_F32:$result, Train_F32:$pending_result);
}
def Train_PositionSumOp : Train_Op<"position_sum", [Pure]> {
  let summary = "[8, C] -> [C]: tree over position segments";
  let arguments = (ins Train_F32:$x);
  let results = (outs Train_F32:$result);
}
def Train_StepLossOp : Train_Op<"step_loss", [MemoryEffects<[MemWrite]>]> {
  let summary = "Position trees of loss [8] and count [8] into StepParams.loss_sum and valid_tokens";
  let arguments = (ins Train_F32:$loss, Train_F32:$count);
}
def Train_EvalLossOp : Train_Op<"eval_loss", [MemoryEffects<[MemWrite]>]> {
  let summary = "Sums of each token's loss [B,T] and count [B,T] into StepParams.loss_sum and valid_tokens, the same in any order";
  let arguments = (ins Train_F32:$loss, Train_F32:$count);
}
def Train_GradNormOp : Train_Op<"grad_norm", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Reproducible global norm of all gradients; sets StepParams.grad_norm, grad_scale and skip_update";
  let arguments = (ins Variadic<Train_F32>:$gradients, F64Attr:$clip);
}
def Train_AdamwOp : Train_Op<"adamw", [MemoryEffects<[MemRead]>]> {
  let summary = "One AdamW update; reads learning rate, bias corrections, grad_scale and skip_update from StepParams";
  let arguments = (ins Train_F32:$parameter, Train_F32:$m, Train_F32:$v, Train_F32:$gradient, F64Attr:$beta1, F64Attr:$beta2,
    F64Attr:$eps, F64Attr:$weight_decay);
  let results = (outs Train_F32:$parameter_result, Train_F32:$m_result, Train_F32:$v_result);
}
def Train_ScheduleOp : Train_Op<"schedule", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The prologue: learning rate and bias corrections of StepParams.step, in fp64";
  let arguments = (ins F64Attr:$beta1, F64Attr:$beta2);
}

#endif
