// One op to a region.
// RUN: recipe-opt --fuse=enabled=false %s | FileCheck %s
// RUN: recipe-opt --fuse=enabled=false --mlir-print-debuginfo %s | %same_values %s -

// CHECK-LABEL: train.graph @train
train.graph @train {
  // CHECK: %[[IDS:.+]] = train.input "tokens"
  // CHECK: %[[T:.+]] = train.read @table
  // CHECK: %[[COS:.+]], %[[SIN:.+]] = train.rope_table
  %ids = train.input "tokens" : tensor<2x3xi32>
  %table = train.read @table : tensor<5x8xf32>
  %cos, %sin = train.rope_table {inv_freq = array<f64: 1.0, 0.1>, attention_factor = 1.0 : f64}
    : () -> (tensor<3x2xf32>, tensor<3x2xf32>) loc("rope")
  %positions = train.input "positions" : tensor<2x3xi32>
  // CHECK: %[[X:.+]] = train.kernel "embed"(%[[IDS]], %[[T]]) : (tensor<2x3xi32>, tensor<5x8xf32>) -> tensor<2x3x8xf32> {
  // CHECK-NEXT: ^bb0(%[[A:.+]]: tensor<2x3xi32>, %[[B:.+]]: tensor<5x8xf32>):
  // CHECK-NEXT: %[[R:.+]] = train.embedding %[[A]], %[[B]]
  // CHECK-NEXT: train.yield %[[R]] : tensor<2x3x8xf32>
  %x = train.embedding %ids, %table : (tensor<2x3xi32>, tensor<5x8xf32>) -> tensor<2x3x8xf32> loc("embed")
  // A table is an operand like any other.
  // CHECK: %[[Q:.+]] = train.kernel "rotate"(%[[X]], %[[COS]], %[[SIN]], %{{.+}})
  %q = train.rope %x, %cos, %sin, %positions {heads = 2 : i64, inverse = false}
    : (tensor<2x3x8xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32> loc("rotate")
  // One value twice gives two arguments: a rule finds operands by number.
  // CHECK: %[[D:.+]] = train.kernel "add"(%[[Q]], %[[Q]])
  // CHECK-NEXT: ^bb0(%[[E:.+]]: tensor<2x3x8xf32>, %[[F:.+]]: tensor<2x3x8xf32>):
  // CHECK-NEXT: train.add %[[E]], %[[F]]
  %d = train.add %q, %q : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32> loc("add")
  // Names are unique in a graph.
  // CHECK: train.kernel "add#2"(%[[D]], %[[X]])
  %e = train.add %d, %x : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32> loc("add")
  // Dead.
  // CHECK-NOT: train.gelu
  %dead = train.gelu %e : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32> loc("dead")
  train.backward_begin
  // CHECK: train.backward_begin
  // CHECK-NEXT: train.write @out
  train.write @out, %e : tensor<2x3x8xf32>
}
train.variable @table : tensor<5x8xf32> parameter {hf_name = "table"}
train.variable @out : tensor<2x3x8xf32> output
