// Which contributions to the gradient of an activation become one contraction, and in which order the others are added.
// RUN: recipe-opt --grad --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s
module attributes {train.step = {batch_size = 1, seq_length = 2, global_batch = 1, batch_segments = 1, segments = 2}} {
  train.variable @x : tensor<1x2x4xf32> parameter {hf_name = "x"}
  train.variable @bias : tensor<4xf32> parameter {hf_name = "bias"}
  train.variable @w : tensor<4x4xf32> parameter {hf_name = "w", trainable = false}
  train.variable @loss : tensor<8xf32> loss
  train.variable @count : tensor<8xf32> loss
  // CHECK: train.backward_begin
  train.graph @forward {
    %labels = train.input "labels" : tensor<1x2xi32>
    %const = train.fill {value = 1.0} : () -> tensor<1x2x4xf32>
    %bias = train.read @bias : tensor<4xf32>
    %w = train.read @w : tensor<4x4xf32>
    %one = train.read @x : tensor<1x2x4xf32>
    %h = train.bias_add %one, %bias : (tensor<1x2x4xf32>, tensor<4xf32>) -> tensor<1x2x4xf32> loc("h")
    // Two segments; two segments; one segment; an elementwise use between; two segments of another form.
    %c0 = train.contract %h, %w {form = #train<form nn>, segments = array<i64: 0, 4>, out_segments = array<i64: 0, 2, 2, 4>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x2x4xf32>, tensor<4x4xf32>) -> tensor<1x2x4xf32> loc("c0")
    %c1 = train.contract %h, %w {form = #train<form nn>, segments = array<i64: 0, 4>, out_segments = array<i64: 0, 1, 1, 4>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x2x4xf32>, tensor<4x4xf32>) -> tensor<1x2x4xf32> loc("c1")
    %c2 = train.contract %h, %w {form = #train<form nn>, segments = array<i64: 0, 4>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x2x4xf32>, tensor<4x4xf32>) -> tensor<1x2x4xf32> loc("c2")
    %g = train.gelu %h : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32> loc("g")
    %c3 = train.contract %h, %w {form = #train<form nn>, segments = array<i64: 0, 4>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x2x4xf32>, tensor<4x4xf32>) -> tensor<1x2x4xf32> loc("c3")
    %c4 = train.contract %h, %w {form = #train<form nt>, segments = array<i64: 0, 4>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x2x4xf32>, tensor<4x4xf32>) -> tensor<1x2x4xf32> loc("c4")
    %s0 = train.add %c0, %c1 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32> loc("s0")
    %s1 = train.add %s0, %c2 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32> loc("s1")
    %s2 = train.add %s1, %g : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32> loc("s2")
    %s3 = train.add %s2, %c3 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32> loc("s3")
    %s4 = train.add %s3, %c4 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32> loc("s4")
    // One value twice in one op: its gradient is added to itself.
    %s5 = train.add %s4, %s4 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32> loc("s5")
    %loss, %count = train.linear_cross_entropy %s5, %w, %labels {vocab_segments = 2 : i64, batch_nodes = 1 : i64} : (tensor<1x2x4xf32>, tensor<4x4xf32>, tensor<1x2xi32>) -> (tensor<8xf32>, tensor<8xf32>)
    train.write @loss, %loss : tensor<8xf32>
    train.write @count, %count : tensor<8xf32>
    // CHECK-NEXT: %[[D:.+]] = train.add %[[DX:.+]], %[[DX]] {{.*}} loc("s4/dresult.sum")
    // CHECK-NEXT: %[[D4:.+]] = train.contract %[[D]], {{.*}} loc("c4/dlhs")
    // CHECK-NEXT: %[[D3:.+]] = train.contract %[[D]], {{.*}} loc("c3/dlhs")
    // CHECK-NEXT: %[[DG:.+]] = train.gelu_grad %[[D]], {{.*}} loc("g/dx")
    // CHECK-NEXT: %[[D2:.+]] = train.contract %[[D]], {{.*}} loc("c2/dlhs")
    // c4 and c3 differ in form, c3 and c2 have g between, c2 and c1 differ in segments.
    // CHECK-NEXT: %[[A0:.+]] = train.add %[[D4]], %[[D3]] {{.*}} loc("h/dresult.sum")
    // CHECK-NEXT: %[[A1:.+]] = train.add %[[A0]], %[[DG]] {{.*}} loc("h/dresult.sum.1")
    // CHECK-NEXT: %[[A2:.+]] = train.add %[[A1]], %[[D2]] {{.*}} loc("h/dresult.sum.2")
    // CHECK-NEXT: %[[J:.+]] = train.contract %[[D]], %[[D]], %{{.+}}, %{{.+}} {{{.*}}segments = array<i64: 0, 2, 0, 1, 2, 4, 1, 4>} {{.*}} loc("h/dresult.3")
    // CHECK-NEXT: %[[A3:.+]] = train.add %[[A2]], %[[J]] {{.*}} loc("h/dresult.sum.4")
    // A gradient is written as soon as it is there.
    // CHECK-NEXT: train.write @"grad:x", %[[A3]]
    // CHECK-NEXT: %[[DBIAS:.+]] = train.bias_grad %[[A3]]
    // CHECK-NEXT: train.write @"grad:bias", %[[DBIAS]]
  }
}
