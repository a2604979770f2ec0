// Gradients of a product are computed as it is, and only those computed alike become one contraction.
// RUN: recipe-opt --grad --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s
module attributes {train.step = {batch_size = 1, seq_length = 2, global_batch = 1, batch_segments = 1, segments = 2}} {
  train.variable @x : tensor<1x2x4xf32> parameter {hf_name = "x"}
  train.variable @w : tensor<4x4xf32> parameter {hf_name = "w"}
  train.variable @bias : tensor<4xf32> parameter {hf_name = "bias"}
  train.variable @loss : tensor<8xf32> loss
  train.variable @count : tensor<8xf32> loss
  // CHECK: train.linear_cross_entropy_grad {{.*}}f32_products = #train<f32_products bf16x6>
  // CHECK: train.backward_begin
  // CHECK: train.contract {{.*}}f32_products = #train<f32_products bf16x6>, form = #train<form tn>{{.*}} loc("c2/drhs")
  // CHECK: train.contract {{.*}}f32_products = #train<f32_products bf16x6>, form = #train<form tn>{{.*}} loc("c1/drhs")
  // CHECK: train.contract {{.*}} {form = #train<form tn>{{.*}} loc("c0/drhs")
  // CHECK: train.contract {{.*}} {form = #train<form nt>{{.*}} loc("c0/dlhs")
  // CHECK: train.contract %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} {f32_products = #train<f32_products bf16x6>, form = #train<form nt>{{.*}} loc("x/dresult")
  train.graph @forward {
    %labels = train.input "labels" : tensor<1x2xi32>
    %w = train.read @w : tensor<4x4xf32>
    %read = train.read @x : tensor<1x2x4xf32>
    %bias = train.read @bias : tensor<4xf32>
    %x = train.bias_add %read, %bias : (tensor<1x2x4xf32>, tensor<4xf32>) -> tensor<1x2x4xf32> loc("x")
    %c0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 4>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x2x4xf32>, tensor<4x4xf32>) -> tensor<1x2x4xf32> loc("c0")
    %c1 = train.contract %x, %w {f32_products = #train<f32_products bf16x6>, form = #train<form nn>, segments = array<i64: 0, 4>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x2x4xf32>, tensor<4x4xf32>) -> tensor<1x2x4xf32> loc("c1")
    %c2 = train.contract %x, %w {f32_products = #train<f32_products bf16x6>, form = #train<form nn>, segments = array<i64: 0, 4>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x2x4xf32>, tensor<4x4xf32>) -> tensor<1x2x4xf32> loc("c2")
    %s0 = train.add %c0, %c1 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32> loc("s0")
    %s1 = train.add %s0, %c2 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32> loc("s1")
    %loss, %count = train.linear_cross_entropy %s1, %w, %labels {f32_products = #train<f32_products bf16x6>, vocab_segments = 2 : i64, batch_nodes = 1 : i64} : (tensor<1x2x4xf32>, tensor<4x4xf32>, tensor<1x2xi32>) -> (tensor<8xf32>, tensor<8xf32>)
    train.write @loss, %loss : tensor<8xf32>
    train.write @count, %count : tensor<8xf32>
  }
}
