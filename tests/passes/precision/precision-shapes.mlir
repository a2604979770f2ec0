// What a contraction's shapes do not allow stays in f32.
// RUN: recipe-opt --precision %s | FileCheck %s
// RUN: recipe-opt --precision %s | %same_values --fp64 %s -

module {
  train.variable @w : tensor<6x9xf32> parameter {hf_name = "w"}
  train.variable @x : tensor<2x3x6xf32> output
  train.variable @odd : tensor<2x3x10xf32> output
  train.variable @o : tensor<10x9xf32> parameter {hf_name = "o"}
  train.variable @y : tensor<2x3x9xf32> output
  train.variable @z : tensor<2x3x9xf32> output
  train.variable @dw : tensor<6x9xf32> gradient {of = @w, use = 0}
  // CHECK: train.variable @"working:w"
  // CHECK-NOT: working:o
  // CHECK-LABEL: train.graph @train
  train.graph @train {
    %x = train.read @x : tensor<2x3x6xf32>
    %w = train.read @w : tensor<6x9xf32>
    %odd = train.read @odd : tensor<2x3x10xf32>
    %o = train.read @o : tensor<10x9xf32>
    // CHECK: train.contract {{.*}} (tensor<2x3x6xbf16>, tensor<6x9xbf16>) -> tensor<2x3x9xf32>
    %y = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x6xf32>, tensor<6x9xf32>) -> tensor<2x3x9xf32>
    // Segments of five elements.
    // CHECK: train.contract {{.*}} (tensor<2x3x10xf32>, tensor<10x9xf32>) -> tensor<2x3x9xf32>
    %z = train.contract %odd, %o {form = #train<form nn>, segments = array<i64: 0, 5, 5, 10>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x10xf32>, tensor<10x9xf32>) -> tensor<2x3x9xf32>
    // Three positions.
    // CHECK: train.contract {{.*}} (tensor<2x3x6xf32>, tensor<2x3x9xf32>) -> tensor<6x9xf32>
    %dw = train.contract %x, %y {form = #train<form tn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x6xf32>, tensor<2x3x9xf32>) -> tensor<6x9xf32>
    train.write @y, %y : tensor<2x3x9xf32>
    train.write @z, %z : tensor<2x3x9xf32>
    train.write @"dw", %dw : tensor<6x9xf32>
  }
}
