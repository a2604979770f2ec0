// RUN: recipe-opt %s --shard=data-ranks=2 > %t
// RUN: FileCheck %s < %t
// RUN: recipe-opt %t --verify-layouts=require-layouts=true -o /dev/null
// RUN: recipe-opt %s --shard | %same_values %s -
// RUN: recipe-opt %s --shard | FileCheck %s --check-prefix=ONE

// CHECK: dist.mesh @mesh ["data"] [2]
// ONE: dist.mesh @mesh ["data"] [1]

// Parameters and optimizer state are whole on each rank; sums over tokens are Partial.
// CHECK: train.variable @w : tensor<9x8xf32, #dist.layout<@mesh, [<[], 9>, <[], 8>]>> parameter
train.variable @w : tensor<9x8xf32> parameter {hf_name = "w"}
// CHECK: train.variable @gain : tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>> parameter
train.variable @gain : tensor<8xf32> parameter {hf_name = "gain"}
// CHECK: train.variable @m : tensor<9x8xf32, #dist.layout<@mesh, [<[], 9>, <[], 8>]>> adam_m
train.variable @m : tensor<9x8xf32> adam_m {of = @w}
// CHECK: train.variable @v : tensor<9x8xf32, #dist.layout<@mesh, [<[], 9>, <[], 8>]>> adam_v
train.variable @v : tensor<9x8xf32> adam_v {of = @w}
// CHECK: train.variable @dw : tensor<9x8xf32, #dist.layout<@mesh, [<[], 9>, <[], 8>], partial = [<"data">]>> gradient
train.variable @dw : tensor<9x8xf32> gradient {of = @w, use = 0 : i64}
// CHECK: train.variable @dw1 : tensor<9x8xf32, #dist.layout<@mesh, [<[], 9>, <[], 8>], partial = [<"data">]>> gradient
train.variable @dw1 : tensor<9x8xf32> gradient {of = @w, use = 1 : i64}
// CHECK: train.variable @dgain : tensor<8x8xf32, #dist.layout<@mesh, [<[], 8>, <[], 8>], partial = [<"data">]>> gradient
train.variable @dgain : tensor<8x8xf32> gradient {of = @gain, use = 0 : i64}
// CHECK: train.variable @pending : tensor<2x9x8xf32, #dist.layout<@mesh, [<[], 2>, <[], 9>, <[], 8>], partial = [<"data">]>> pending
train.variable @pending : tensor<2x9x8xf32> pending {of = @w, use = 0 : i64}
// CHECK: train.variable @loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>> loss
train.variable @loss : tensor<8xf32> loss
train.variable @count : tensor<8xf32> loss

// Nothing is reduced in a micro-batch.
// CHECK-LABEL: train.graph @train
// CHECK-NOT: = dist.
// On one rank, too, reductions are where they would be on more.
// ONE-LABEL: train.graph @train
// ONE: train.input "tokens" : tensor<4x6xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 6>]>>
// ONE-NOT: = dist.
// ONE-LABEL: train.graph @update
// ONE-COUNT-5: = dist.all_reduce
train.graph @train {
  // Samples are split: each of the two ranks has 4 of 8.
  // CHECK: train.input "tokens" : tensor<8x6xi32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  %ids = train.input "tokens" : tensor<4x6xi32>
  %labels = train.input "labels" : tensor<4x6xi32>
  %w = train.read @w : tensor<9x8xf32>
  %gain = train.read @gain : tensor<8xf32>
  %dw1 = train.read @dw1 : tensor<9x8xf32>
  // CHECK: train.embedding {{.*}} -> tensor<8x6x8xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>, <[], 8>]>>
  %x = train.embedding %ids, %w : (tensor<4x6xi32>, tensor<9x8xf32>) -> tensor<4x6x8xf32>
  // CHECK: train.rms_norm {{.*}} tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>)
  %y, %rstd = train.rms_norm %x, %gain {eps = 1.0e-5 : f64} : (tensor<4x6x8xf32>, tensor<8xf32>) -> (tensor<4x6x8xf32>, tensor<4x6xf32>)
  train.backward_begin
  %l, %c, %dx, %dw = train.linear_cross_entropy_grad %y, %w, %labels {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<4x6x8xf32>, tensor<9x8xf32>, tensor<4x6xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<4x6x8xf32>, tensor<9x8xf32>)
  %dy, %dgain = train.rms_norm_grad %dx, %x, %gain, %rstd {batch_nodes = 1 : i64} : (tensor<4x6x8xf32>, tensor<4x6x8xf32>, tensor<8xf32>, tensor<4x6xf32>) -> (tensor<4x6x8xf32>, tensor<8x8xf32>)
  // The accumulator is Partial, too.
  // CHECK: train.embedding_grad {{.*}} : ({{.*}}, tensor<9x8xf32, #dist.layout<@mesh, [<[], 9>, <[], 8>], partial = [<"data">]>>) -> tensor<9x8xf32, #dist.layout<@mesh, [<[], 9>, <[], 8>], partial = [<"data">]>>
  %de = train.embedding_grad %dy, %ids, %dw1 {batch_nodes = 1 : i64} : (tensor<4x6x8xf32>, tensor<4x6xi32>, tensor<9x8xf32>) -> tensor<9x8xf32>
  train.write @loss, %l : tensor<8xf32>
  train.write @count, %c : tensor<8xf32>
  train.write @dw, %dw : tensor<9x8xf32>
  train.write @dw1, %de : tensor<9x8xf32>
  train.write @dgain, %dgain : tensor<8x8xf32>
}

// CHECK-LABEL: train.graph @segment_end
// CHECK-NOT: = dist.
train.graph @segment_end {
  %dw = train.read @dw : tensor<9x8xf32>
  %pending = train.read @pending : tensor<2x9x8xf32>
  %merged, %rest = train.tree_merge %dw, %pending : (tensor<9x8xf32>, tensor<2x9x8xf32>) -> (tensor<9x8xf32>, tensor<2x9x8xf32>)
  train.write @dw, %merged : tensor<9x8xf32>
  train.write @pending, %rest : tensor<2x9x8xf32>
}

// A zero takes the layout of the variable it fills.
// CHECK-LABEL: train.graph @segment_begin
// CHECK: train.fill {value = 0.000000e+00 : f64} : () -> tensor<9x8xf32, #dist.layout<@mesh, [<[], 9>, <[], 8>], partial = [<"data">]>>
train.graph @segment_begin {
  %zero = train.fill {value = 0.0 : f64} : () -> tensor<9x8xf32>
  train.write @dw, %zero : tensor<9x8xf32>
}

// Each sum is reduced once, in front of the first op that needs it whole.
// CHECK-LABEL: train.graph @update
train.graph @update {
  // CHECK-DAG: %[[LOSS:.*]] = train.read @loss
  // CHECK-DAG: %[[DW:.*]] = train.read @dw :
  // CHECK-DAG: %[[DW1:.*]] = train.read @dw1 :
  // CHECK-DAG: %[[DGAIN:.*]] = train.read @dgain
  %loss = train.read @loss : tensor<8xf32>
  %count = train.read @count : tensor<8xf32>
  %dw = train.read @dw : tensor<9x8xf32>
  %dw1 = train.read @dw1 : tensor<9x8xf32>
  %dgain8 = train.read @dgain : tensor<8x8xf32>
  %w = train.read @w : tensor<9x8xf32>
  %m = train.read @m : tensor<9x8xf32>
  %v = train.read @v : tensor<9x8xf32>
  // CHECK: %[[L:.*]] = dist.all_reduce %[[LOSS]] : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>> -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
  // CHECK-NEXT: %[[C:.*]] = dist.all_reduce
  // CHECK-NEXT: train.step_loss %[[L]], %[[C]]
  train.step_loss %loss, %count : (tensor<8xf32>, tensor<8xf32>) -> ()
  // Each use of a parameter by itself, then added.
  // CHECK-NEXT: %[[A:.*]] = dist.all_reduce %[[DW]]
  // CHECK-NEXT: %[[B:.*]] = dist.all_reduce %[[DW1]]
  // CHECK-NEXT: %[[SUM:.*]] = train.add %[[A]], %[[B]]
  %sum = train.add %dw, %dw1 : (tensor<9x8xf32>, tensor<9x8xf32>) -> tensor<9x8xf32>
  // CHECK-NEXT: %[[G:.*]] = dist.all_reduce %[[DGAIN]]
  // CHECK-NEXT: %[[P:.*]] = train.position_sum %[[G]]
  %dgain = train.position_sum %dgain8 : (tensor<8x8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: train.grad_norm %[[SUM]], %[[P]], %[[A]]
  train.grad_norm %sum, %dgain, %dw {clip = 1.0 : f64} : (tensor<9x8xf32>, tensor<8xf32>, tensor<9x8xf32>) -> ()
  // CHECK-NEXT: train.adamw
  // CHECK-NOT: = dist.
  %a, %b, %c = train.adamw %w, %m, %v, %sum {beta1 = 0.5 : f64, beta2 = 0.5 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64} : (tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>) -> (tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>)
  train.write @w, %a : tensor<9x8xf32>
  train.write @m, %b : tensor<9x8xf32>
  train.write @v, %c : tensor<9x8xf32>
}

// Each rank evaluates a batch of its own: nothing is split, nothing is summed over ranks.
// CHECK-LABEL: train.graph @eval
// CHECK-NOT: "data"
train.graph @eval {
  // CHECK: train.input "tokens" : tensor<4x6xi32, #dist.layout<@mesh, [<[], 4>, <[], 6>]>>
  %ids = train.input "tokens" : tensor<4x6xi32>
  %labels = train.input "labels" : tensor<4x6xi32>
  %positions = train.input "positions" : tensor<4x6xi32>
  %w = train.read @w : tensor<9x8xf32>
  // CHECK: train.rope_table {{.*}} -> (tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>)
  %cos, %sin = train.rope_table {inv_freq = array<f64: 1.0, 0.5, 0.25, 0.125>, attention_factor = 1.0 : f64} : () -> (tensor<6x4xf32>, tensor<6x4xf32>)
  %x = train.embedding %ids, %w : (tensor<4x6xi32>, tensor<9x8xf32>) -> tensor<4x6x8xf32>
  %y = train.rope %x, %cos, %sin, %positions {heads = 1 : i64, inverse = false} : (tensor<4x6x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<4x6xi32>) -> tensor<4x6x8xf32>
  // CHECK: %[[LOSS:.*]], %[[COUNT:.*]] = train.linear_cross_entropy
  // CHECK-NEXT: train.step_loss %[[LOSS]], %[[COUNT]]
  // CHECK-NOT: "data"
  %lc:2 = train.linear_cross_entropy %y, %w, %labels {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<4x6x8xf32>, tensor<9x8xf32>, tensor<4x6xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  train.step_loss %lc#0, %lc#1 : (tensor<8xf32>, tensor<8xf32>) -> ()
}
