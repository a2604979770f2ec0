// Sums over micro-batches: a leaf of the batch tree takes 3 of them, a single rank completes 4 leaves.
// RUN: recipe-opt --grad %s | FileCheck %s

// CHECK: train.variable @"grad:weight" : tensor<11x6xf32> gradient {of = @weight, use = 0 : i64}
// CHECK-NEXT: train.variable @"grad:bias" : tensor<8x6xf32> gradient {of = @bias, use = 0 : i64}
// Two levels of the tree of 4 can be waiting.
// CHECK-NEXT: train.variable @"pending:loss" : tensor<2x8xf32> pending {of = @loss}
// CHECK-NEXT: train.variable @"pending:count" : tensor<2x8xf32> pending {of = @count}
// CHECK-NEXT: train.variable @"pending:grad:weight" : tensor<2x11x6xf32> pending {of = @weight, use = 0 : i64}
// CHECK-NEXT: train.variable @"pending:grad:bias" : tensor<2x8x6xf32> pending {of = @bias, use = 0 : i64}
module attributes {train.step = {batch_size = 2, seq_length = 3, global_batch = 24, batch_segments = 4, segments = 8}} {
  train.variable @weight : tensor<11x6xf32> parameter {hf_name = "weight"}
  train.variable @bias : tensor<6xf32> parameter {hf_name = "bias"}
  train.variable @x : tensor<2x3x6xf32> output
  train.variable @loss : tensor<8xf32> loss
  train.variable @count : tensor<8xf32> loss
  // CHECK: train.graph @train
  train.graph @forward {
    %labels = train.input "labels" : tensor<2x3xi32>
    %x = train.read @x : tensor<2x3x6xf32>
    %bias = train.read @bias : tensor<6xf32>
    %weight = train.read @weight : tensor<11x6xf32>
    %y = train.bias_add %x, %bias : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
    // The running sums enter the ops that continue them.
    // CHECK: %[[W:.+]] = train.read @"grad:weight"
    // CHECK-NEXT: %[[L:.+]] = train.read @loss
    // CHECK-NEXT: %[[C:.+]] = train.read @count
    // CHECK-NEXT: train.linear_cross_entropy_grad %{{.+}}, %{{.+}}, %{{.+}}, %[[L]], %[[C]], %[[W]] {batch_nodes = 1
    %loss, %count = train.linear_cross_entropy %y, %weight, %labels {vocab_segments = 8 : i64, batch_nodes = 1 : i64}
      : (tensor<2x3x6xf32>, tensor<11x6xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>)
    train.write @loss, %loss : tensor<8xf32>
    train.write @count, %count : tensor<8xf32>
    // CHECK: train.backward_begin
    // CHECK-NEXT: %[[B:.+]] = train.read @"grad:bias"
    // CHECK-NEXT: %[[DB:.+]] = train.bias_grad %{{.+}}, %[[B]] {batch_nodes = 1
    // CHECK-NEXT: train.write @"grad:bias", %[[DB]]
  }
  // CHECK: train.graph @segment_begin {
  // CHECK-NEXT: %[[Z0:.+]] = train.fill {value = 0.000000e+00 : f64} : () -> tensor<8xf32>
  // CHECK-NEXT: train.write @loss, %[[Z0]]
  // CHECK-NEXT: %[[Z1:.+]] = train.fill
  // CHECK-NEXT: train.write @count, %[[Z1]]
  // CHECK-NEXT: %[[Z2:.+]] = train.fill
  // CHECK-NEXT: train.write @"grad:weight", %[[Z2]]
  // CHECK-NEXT: %[[Z3:.+]] = train.fill
  // CHECK-NEXT: train.write @"grad:bias", %[[Z3]]
  // CHECK-NEXT: }
  // CHECK-NEXT: train.graph @segment_end {
  // CHECK-NEXT: %[[V:.+]] = train.read @loss
  // CHECK-NEXT: %[[P:.+]] = train.read @"pending:loss"
  // CHECK-NEXT: %[[R:.+]], %[[PR:.+]] = train.tree_merge %[[V]], %[[P]]
  // CHECK-NEXT: train.write @loss, %[[R]]
  // CHECK-NEXT: train.write @"pending:loss", %[[PR]]
  // CHECK: train.write @"pending:count"
  // CHECK: train.write @"pending:grad:weight"
  // CHECK: train.write @"pending:grad:bias"
  // CHECK-NEXT: }
}
