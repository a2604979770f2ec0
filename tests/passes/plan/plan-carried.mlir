// RUN: recipe-opt --fuse --select-kernels --plan-arena=max-threads=2 %s | FileCheck %s

// An update is one micro-batch: gradients are made where activations were, and live to the end of the update. What goes on in
// place, here a loss, is state.
// CHECK: step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 128, input = 0, transient = 4096, [<"parameters" 96>, <"gradients" 1056>,
// CHECK-NEXT: step.parameter "g" @"param:g" {decay = false, gradients = [@"grad:g", @"grad:g#1"]
// CHECK: step.buffer @"loss:loss" state at 64 size 32
// CHECK: step.buffer @"%forward/e+gelu+add:1" transient at [[DEAD:[0-9]+]] size 512
// CHECK-NEXT: step.buffer @"grad:g#1" transient at 0 size 512 : tensor<8x16xf32>, "gradients"
// CHECK-NEXT: step.buffer @"grad:g" transient at [[DEAD]] size 512 : tensor<8x16xf32>, "gradients"

module attributes {train.step = {batch_size = 1, seq_length = 8, global_batch = 1, batch_segments = 8, segments = 8}} {
  train.variable @g : tensor<16xf32> parameter {hf_name = "ln.weight", decay = false}
  train.variable @g_grad0 : tensor<8x16xf32> gradient {of = @g, use = 0 : i64}
  train.variable @g_grad1 : tensor<8x16xf32> gradient {of = @g, use = 1 : i64}
  train.variable @loss : tensor<8xf32> loss
  train.graph @train {
    %e = train.fill {value = 1.0 : f64} : () -> tensor<1x8x16xf32> loc("e")
    %l = train.fill {value = 1.0 : f64} : () -> tensor<8xf32> loc("l")
    train.write @loss, %l : tensor<8xf32>
    %f = train.gelu %e : (tensor<1x8x16xf32>) -> tensor<1x8x16xf32> loc("last")
    %u = train.add %e, %f : (tensor<1x8x16xf32>, tensor<1x8x16xf32>) -> tensor<1x8x16xf32> loc("sum")
    train.backward_begin
    // CHECK: step.program @backward {
    // CHECK-NEXT: step.instruction "d1" {{.+}} #step.slice<write @"grad:g#1" + 0>]
    %d1 = train.bias_grad %u {batch_nodes = 1 : i64} : (tensor<1x8x16xf32>) -> tensor<8x16xf32> loc("d1")
    train.write @g_grad1, %d1 : tensor<8x16xf32>
    %d0 = train.bias_grad %e {batch_nodes = 1 : i64} : (tensor<1x8x16xf32>) -> tensor<8x16xf32> loc("d0")
    train.write @g_grad0, %d0 : tensor<8x16xf32>
  }
  // CHECK: step.program @update {
  train.graph @update {
    // CHECK-NEXT: step.instruction "all" {{.+}}[#step.slice<read @"grad:g" + 0>, #step.slice<read @"grad:g#1" + 0>
    %g = train.read @g : tensor<16xf32>
    %0 = train.read @g_grad0 : tensor<8x16xf32>
    %1 = train.read @g_grad1 : tensor<8x16xf32>
    %s = train.add %0, %1 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32> loc("all")
    %t = train.position_sum %s : (tensor<8x16xf32>) -> tensor<16xf32> loc("total")
    %n = train.add %g, %t : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> loc("new")
    train.write @g, %n : tensor<16xf32>
  }
}
