// RUN: not recipe-opt --fuse=enabled=false --select-kernels %s 2>&1 | FileCheck %s

// A program whose order of bf16 terms is that of AMX, for a target that has none.
train.variable @x : tensor<2x3x8xf32> output
train.variable @w : tensor<8x5xf32> parameter {hf_name = "w"}
train.variable @out : tensor<2x3x5xf32> output
train.graph @train {
  %x = train.read @x : tensor<2x3x8xf32>
  %w = train.read @w : tensor<8x5xf32>
  %xb = train.cast %x : (tensor<2x3x8xf32>) -> tensor<2x3x8xbf16> loc("xb")
  %wb = train.cast %w : (tensor<8x5xf32>) -> tensor<8x5xbf16> loc("wb")
  // CHECK: error: {{.*}}bf16 terms in blocks need a target with AMX, got:
  %y = train.contract %xb, %wb {form = #train<form nn>, segments = array<i64: 0, 8>, bf16_order = #train<bf16_order blocks>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xbf16>, tensor<8x5xbf16>) -> tensor<2x3x5xf32> loc("y")
  train.write @out, %y : tensor<2x3x5xf32>
}
