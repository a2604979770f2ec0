// RUN: recipe-opt --fuse --select-kernels --plan-arena=max-threads=2 %s | FileCheck %s

// Global batch 8 in micro-batches of 2: on one rank 4 nodes of the batch tree, hence two pending levels; on 4 ranks none. Fewer nodes
// need a prefix of the state.
// CHECK: step.arena [#step.row<ranks = 1, accumulation = 4, nodes = 4, state = 1728,
// CHECK-SAME: #step.row<ranks = 2, accumulation = 2, nodes = 2, state = 1216,
// CHECK-SAME: #step.row<ranks = 4, accumulation = 1, nodes = 1, state = 704,
// CHECK-SAME: live 2112 scratch 2 x 0 at 4096
// CHECK-NEXT: step.parameter "g" @"param:g" {decay = false, gradients = [@"grad:g"], hf_name = "ln.weight"
// CHECK-SAME: optimizer = [@"adam_m:g", @"adam_v:g"]
// CHECK-NEXT: step.buffer @"param:g" state at 0 size 64 : tensor<16xf32>, "parameters"
// CHECK-NEXT: step.buffer @"adam_m:g" state at 64
// CHECK-NEXT: step.buffer @"adam_v:g" state at 128
// CHECK-NEXT: step.buffer @"grad:g" state at 192 size 512
// CHECK-NEXT: step.buffer @"pending:g.0" state at 704 size 512 : tensor<8x16xf32>, "gradients" {min_nodes = 2 : i64}
// CHECK-NEXT: step.buffer @"pending:g.1" state at 1216 size 512 : tensor<8x16xf32>, "gradients" {min_nodes = 3 : i64}
// CHECK-NEXT: step.buffer @"input:tokens" input at 0 size 64 : tensor<2x8xi32>, "inputs" {slot_stride = 64 : i64}
// What forward leaves for backward stays; the sum takes the place of the norm, the gradient that of the sum.
// CHECK-DAG: step.buffer @"%forward/e" transient at 0
// CHECK-DAG: step.buffer @"%forward/ln:0" transient at [[PLACE:[0-9]+]] size 1024
// CHECK-DAG: step.buffer @"%forward/res" transient at [[PLACE]] size 1024 : tensor<2x8x16xf32>, "activations" {shares = @"%forward/ln:0"}
// CHECK-DAG: step.buffer @"%backward/ln/dx:0" transient at [[PLACE]] {{.+}} {shares = @"%forward/res"}

module attributes {train.step = {batch_size = 2, seq_length = 8, global_batch = 8, batch_segments = 8, segments = 8}} {
  train.variable @g : tensor<16xf32> parameter {hf_name = "ln.weight", decay = false}
  train.variable @g_grad : tensor<8x16xf32> gradient {of = @g, use = 0 : i64}
  train.variable @g_pending : tensor<2x8x16xf32> pending {of = @g, use = 0 : i64}
  train.variable @g_m : tensor<16xf32> adam_m {of = @g}
  train.variable @g_v : tensor<16xf32> adam_v {of = @g}
  // CHECK-LABEL: step.program @forward {
  // CHECK-NEXT: step.instruction "segment_begin/zero" @{{.+}} [#step.slice<write @"grad:g" + 0>] {{.+}} when segment_begin
  train.graph @segment_begin {
    %0 = train.fill {value = 0.0 : f64} : () -> tensor<8x16xf32> loc("zero")
    train.write @g_grad, %0 : tensor<8x16xf32>
  }
  train.graph @train {
    %x = train.read @g : tensor<16xf32>
    %acc = train.read @g_grad : tensor<8x16xf32>
    %ids = train.input "tokens" : tensor<2x8xi32>
    // CHECK-NEXT: step.instruction "e" @{{.+}} [#step.slice<write @"%forward/e" + 0>] {{.+}} when always
    %e = train.fill {value = 1.0 : f64} : () -> tensor<2x8x16xf32> loc("e")
    // CHECK-NEXT: step.instruction "ln" @{{.+}} [#step.slice<read @"%forward/e" + 0>, #step.slice<read @"param:g" + 0>, #step.slice<write
    %y, %rstd = train.rms_norm %e, %x {eps = 1.0e-5 : f64} : (tensor<2x8x16xf32>, tensor<16xf32>) -> (tensor<2x8x16xf32>, tensor<2x8xf32>) loc("ln")
    // CHECK-NEXT: step.instruction "res"
    %z = train.add %y, %e : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32> loc("res")
    // CHECK: step.program @backward {
    train.backward_begin
    // The accumulator goes on in its place.
    // CHECK-NEXT: step.instruction "ln/dx" @column_sum{{.+}} #step.slice<read @"grad:g" + 0>, #step.slice<write @"grad:g" + 0>]
    // CHECK-NEXT: step.instruction "ln/dx" @norm_grad
    %dx, %dg = train.rms_norm_grad %z, %e, %x, %rstd, %acc {batch_nodes = 1 : i64}
      : (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<16xf32>, tensor<2x8xf32>, tensor<8x16xf32>) -> (tensor<2x8x16xf32>, tensor<8x16xf32>) loc("ln/dx")
    train.write @g_grad, %dg : tensor<8x16xf32>
  }
  train.graph @segment_end {
    // Each pending level is an argument of its own.
    // CHECK-NEXT: step.instruction "segment_end/merge" @tree_merge{{.+}} #step.slice<read @"pending:g.0" + 0>, #step.slice<read @"pending:g.1" + 0>, #step.slice<write @"pending:g.0" + 0>, #step.slice<write @"pending:g.1" + 0>] {{.+}} when accumulating
    %acc = train.read @g_grad : tensor<8x16xf32>
    %p = train.read @g_pending : tensor<2x8x16xf32>
    %r, %pr = train.tree_merge %acc, %p : (tensor<8x16xf32>, tensor<2x8x16xf32>) -> (tensor<8x16xf32>, tensor<2x8x16xf32>) loc("merge")
    train.write @g_grad, %r : tensor<8x16xf32>
    train.write @g_pending, %pr : tensor<2x8x16xf32>
  }
  // CHECK-LABEL: step.program @update {
  train.graph @update {
    %g = train.read @g : tensor<16xf32>
    %m = train.read @g_m : tensor<16xf32>
    %v = train.read @g_v : tensor<16xf32>
    %acc = train.read @g_grad : tensor<8x16xf32>
    %d = train.position_sum %acc : (tensor<8x16xf32>) -> tensor<16xf32> loc("sum")
    // CHECK: step.instruction "adamw" {{.+}} #step.slice<write @"param:g" + 0>, #step.slice<write @"adam_m:g" + 0>, #step.slice<write @"adam_v:g" + 0>]
    %g1, %m1, %v1 = train.adamw %g, %m, %v, %d {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64}
      : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("adamw")
    train.write @g, %g1 : tensor<16xf32>
    train.write @g_m, %m1 : tensor<16xf32>
    train.write @g_v, %v1 : tensor<16xf32>
  }
}
