// On 1, 2 or 4 ranks: sums over ranks work in place, are issued in the last micro-batch as soon as they are complete, and are waited for
// where they are read first. Small ones that lie next to each other go together. A merge follows the kernel that completes its sum.
// RUN: recipe-opt --shard=data-ranks=4 --fuse --fold-collectives --select-kernels --plan-arena %s > %t
// RUN: FileCheck %s < %t
// On one rank nothing is summed.
// RUN: recipe-opt --shard --fuse --fold-collectives --select-kernels --plan-arena %s | FileCheck %s --check-prefix=ONE
// Kernels and launches are those of one rank.
// RUN: grep -o "@[a-z_]*_[0-9x]*_[0-9a-f]*" %t | sort -u > %t.kernels
// RUN: recipe-opt --shard --fuse --fold-collectives --select-kernels --plan-arena %s | grep -o "@[a-z_]*_[0-9x]*_[0-9a-f]*" | sort -u | diff - %t.kernels

// ONE-NOT: step.collective
// ONE-NOT: waits
// ONE-NOT: communication =

// CHECK: step.kernel @[[COMBINE:combine_[0-9a-f]+]] family "combine" {grain = 16384 : i64}
// What arrives from other ranks has a place on more than one.
// CHECK: step.arena [#step.row<ranks = 1, {{[^#]*}} transient = 4096, {{[^#]*}}<"communication" 0>]>
// CHECK-SAME: #step.row<ranks = 2, {{[^#]*}} transient = 4198400, {{[^#]*}}<"communication" 4194304>]>
// CHECK-SAME: #step.row<ranks = 4, {{[^#]*}} transient = 4198400, {{[^#]*}}<"communication" 4194304>]>
// CHECK-SAME: {communication = 4194304 : i64}
// The size of an input is that of a rank's part, the type the whole one's.
// CHECK: step.buffer @"grad:w" state at 384 size 180
// CHECK: step.buffer @"input:tokens" input at 0 size 64 : tensor<8x8xi32, #{{.*}}>, "inputs"
// CHECK: step.buffer @"%forward/e" transient at {{[0-9]+}} size 576 : tensor<8x8x9xf32

module attributes {train.step = {batch_size = 2, seq_length = 8, global_batch = 8, batch_segments = 8, segments = 8}} {
  train.variable @w : tensor<5x9xf32> parameter {hf_name = "w", decay = false}
  train.variable @dw : tensor<5x9xf32> gradient {of = @w, use = 0 : i64}
  train.variable @bias : tensor<9xf32> parameter {hf_name = "bias", decay = false}
  train.variable @db : tensor<8x9xf32> gradient {of = @bias, use = 0 : i64}
  train.variable @dw_pending : tensor<2x5x9xf32> pending {of = @w, use = 0 : i64}
  train.variable @db_pending : tensor<2x8x9xf32> pending {of = @bias, use = 0 : i64}
  train.variable @m : tensor<9xf32> adam_m {of = @bias}
  train.variable @v : tensor<9xf32> adam_v {of = @bias}
  // CHECK-LABEL: step.program @forward {
  train.graph @train {
    %ids = train.input "tokens" : tensor<2x8xi32>
    %w = train.read @w : tensor<5x9xf32>
    %bias = train.read @bias : tensor<9xf32>
    %e = train.embedding %ids, %w : (tensor<2x8xi32>, tensor<5x9xf32>) -> tensor<2x8x9xf32> loc("e")
    %x = train.bias_add %e, %bias : (tensor<2x8x9xf32>, tensor<9xf32>) -> tensor<2x8x9xf32> loc("x")
    // CHECK-LABEL: step.program @backward {
    train.backward_begin
    // CHECK: step.instruction "db" {{.*}} when always
    // CHECK-NEXT: step.instruction "segment_end/merge db" {{.*}} when accumulating
    // CHECK-NOT: step.collective
    %db = train.bias_grad %x {batch_nodes = 1 : i64} : (tensor<2x8x9xf32>) -> tensor<8x9xf32> loc("db")
    // CHECK: step.instruction "dw" {{.*}} when always
    // CHECK: step.instruction "segment_end/merge dw"
    // 45 values, 3 of padding, 72 values.
    // CHECK-NEXT: step.collective "all_reduce dw and 1 more" all_reduce over "data" [@"grad:w", @"grad:bias"] elements 120 with @[[COMBINE]] when last_microbatch signal [[SUM:[-0-9]+]]
    %dw = train.embedding_grad %x, %ids {batch_nodes = 1 : i64} : (tensor<2x8x9xf32>, tensor<2x8xi32>) -> tensor<5x9xf32> loc("dw")
    train.write @db, %db : tensor<8x9xf32>
    train.write @dw, %dw : tensor<5x9xf32>
  }
  train.graph @segment_end {
    %dw = train.read @dw : tensor<5x9xf32>
    %db = train.read @db : tensor<8x9xf32>
    %dwp = train.read @dw_pending : tensor<2x5x9xf32>
    %dbp = train.read @db_pending : tensor<2x8x9xf32>
    %r, %p = train.tree_merge %dw, %dwp : (tensor<5x9xf32>, tensor<2x5x9xf32>) -> (tensor<5x9xf32>, tensor<2x5x9xf32>) loc("merge dw")
    %s, %q = train.tree_merge %db, %dbp : (tensor<8x9xf32>, tensor<2x8x9xf32>) -> (tensor<8x9xf32>, tensor<2x8x9xf32>) loc("merge db")
    train.write @dw, %r : tensor<5x9xf32>
    train.write @db, %s : tensor<8x9xf32>
    train.write @dw_pending, %p : tensor<2x5x9xf32>
    train.write @db_pending, %q : tensor<2x8x9xf32>
  }
  // CHECK-LABEL: step.program @update {
  train.graph @update {
    %bias = train.read @bias : tensor<9xf32>
    %m = train.read @m : tensor<9xf32>
    %v = train.read @v : tensor<9xf32>
    %dw = train.read @dw : tensor<5x9xf32>
    %db = train.read @db : tensor<8x9xf32>
    // CHECK-NEXT: step.instruction "sum" {{.*}} waits = array<i64: [[SUM]]>
    %d = train.position_sum %db : (tensor<8x9xf32>) -> tensor<9xf32> loc("sum")
    // CHECK-NOT: waits
    train.grad_norm %dw, %d {clip = 1.0 : f64} : (tensor<5x9xf32>, tensor<9xf32>) -> () loc("norm")
    %b1, %m1, %v1 = train.adamw %bias, %m, %v, %d {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64}
      : (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) loc("adamw")
    train.write @bias, %b1 : tensor<9xf32>
    train.write @m, %m1 : tensor<9xf32>
    train.write @v, %v1 : tensor<9xf32>
  }
}
