// What goes on in bf16 is rounded by the kernel that makes it.
// RUN: recipe-opt --fuse %s | FileCheck %s
// RUN: recipe-opt --fuse %s | %same_values %s -

module {
  train.variable @x : tensor<2x4x6xf32> output
  train.variable @gain : tensor<6xf32> parameter {hf_name = "gain"}
  train.variable @w : tensor<6x20xf32> parameter {hf_name = "w"}
  train.variable @gate : tensor<2x4x20xf32> output
  train.variable @up : tensor<2x4x20xf32> output
  train.variable @y : tensor<2x4x20xf32> output
  train.variable @sum : tensor<6x20xf32> output
  train.variable @other : tensor<6x20xf32> output
  // CHECK-LABEL: train.graph @train
  train.graph @train {
    %x = train.read @x : tensor<2x4x6xf32>
    %gain = train.read @gain : tensor<6xf32>
    %w = train.read @w : tensor<6x20xf32>
    %gate = train.read @gate : tensor<2x4x20xf32>
    %up = train.read @up : tensor<2x4x20xf32>
    // A weight's copy is a kernel of its own: nobody computed the weight here.
    // CHECK: train.kernel "w/bf16"
    %wb = train.cast %w : (tensor<6x20xf32>) -> tensor<6x20xbf16> loc("w/bf16")
    // CHECK: train.kernel "n+cast"
    // CHECK: train.rms_norm
    // CHECK-NEXT: train.cast
    // CHECK-NEXT: train.yield {{.*}} tensor<2x4x6xbf16>
    %n, %rstd = train.rms_norm %x, %gain {eps = 1.0e-5 : f64} : (tensor<2x4x6xf32>, tensor<6xf32>) -> (tensor<2x4x6xf32>, tensor<2x4xf32>) loc("n")
    %nb = train.cast %n : (tensor<2x4x6xf32>) -> tensor<2x4x6xbf16> loc("n/bf16")
    // CHECK: train.kernel "dy
    // CHECK: train.contract
    // CHECK-NEXT: %[[GATE:.+]], %[[UP:.+]] = train.swiglu_grad
    // CHECK-NEXT: train.cast %[[GATE]]
    // CHECK-NEXT: train.cast %[[UP]]
    // CHECK: train.yield {{.*}} tensor<2x4x20xbf16>, tensor<2x4x20xbf16>
    %dy = train.contract %nb, %wb {form = #train<form nn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x6xbf16>, tensor<6x20xbf16>) -> tensor<2x4x20xf32> loc("dy")
    %dgate, %dup = train.swiglu_grad %dy, %gate, %up : (tensor<2x4x20xf32>, tensor<2x4x20xf32>, tensor<2x4x20xf32>) -> (tensor<2x4x20xf32>, tensor<2x4x20xf32>) loc("grad")
    %dgateb = train.cast %dgate : (tensor<2x4x20xf32>) -> tensor<2x4x20xbf16> loc("grad/bf16")
    %dupb = train.cast %dup : (tensor<2x4x20xf32>) -> tensor<2x4x20xbf16> loc("grad/bf16.1")
    %dw = train.contract %nb, %dgateb {form = #train<form tn>, segments = array<i64: 0, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x6xbf16>, tensor<2x4x20xbf16>) -> tensor<6x20xf32> loc("dw")
    %du = train.contract %nb, %dupb {form = #train<form tn>, segments = array<i64: 0, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x6xbf16>, tensor<2x4x20xbf16>) -> tensor<6x20xf32> loc("du")
    train.write @sum, %dw : tensor<6x20xf32>
    train.write @other, %du : tensor<6x20xf32>
  }
}
