// RUN: recipe-opt %s --verify-diagnostics --split-input-file

train.graph @g {
  %x = train.input "x" : tensor<3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  // expected-error @+1 {{'x' must have rank 3, got: 'tensor<3x8xf32>'}}
  %0, %1 = train.linear_cross_entropy %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  // expected-error @+1 {{'weight' must have rank 2, got: 'tensor<8xf32>'}}
  %0, %1 = train.linear_cross_entropy %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x7xf32>
  %y = train.input "y" : tensor<2x3xi32>
  // expected-error @+1 {{'weight' must have shape [9, 8], got: 'tensor<9x7xf32>'}}
  %0, %1 = train.linear_cross_entropy %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<2x3x8xf32>, tensor<9x7xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x4xi32>
  // expected-error @+1 {{'labels' must have shape [2, 3], got: 'tensor<2x4xi32>'}}
  %0, %1 = train.linear_cross_entropy %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x4xi32>) -> (tensor<8xf32>, tensor<8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  // expected-error @+1 {{'loss' must have shape [8], got: 'tensor<4xf32>'}}
  %0, %1 = train.linear_cross_entropy %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<4xf32>, tensor<8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  // expected-error @+1 {{'count' must have shape [8], got: 'tensor<1xf32>'}}
  %0, %1 = train.linear_cross_entropy %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<1xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  // expected-error @+1 {{'vocab_segments' must be a power of two, got: 6}}
  %0, %1 = train.linear_cross_entropy %x, %w, %y {vocab_segments = 6 : i64, batch_nodes = 1 : i64} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  // expected-error @+1 {{'vocab_segments' must be a power of two, got: 0}}
  %0, %1 = train.linear_cross_entropy %x, %w, %y {vocab_segments = 0 : i64, batch_nodes = 1 : i64} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  // expected-error @+1 {{'vocab_segments' must be a power of two, got: -8}}
  %0, %1 = train.linear_cross_entropy %x, %w, %y {vocab_segments = -8 : i64, batch_nodes = 1 : i64} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  // expected-error @+1 {{'batch_nodes' must be a power of two that divides the samples, got: 4 and 2}}
  %0, %1 = train.linear_cross_entropy %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 4 : i64} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  // expected-error @+1 {{'batch_nodes' must be a power of two that divides the samples, got: 0 and 2}}
  %0, %1 = train.linear_cross_entropy %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 0 : i64} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x4xi32>
  // expected-error @+1 {{'labels' must have shape [2, 3], got: 'tensor<2x4xi32>'}}
  %0, %1, %2, %3 = train.linear_cross_entropy_grad %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x4xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2x3x8xf32>, tensor<9x8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  // expected-error @+1 {{'vocab_segments' must be a power of two, got: 6}}
  %0, %1, %2, %3 = train.linear_cross_entropy_grad %x, %w, %y {vocab_segments = 6 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2x3x8xf32>, tensor<9x8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  // expected-error @+1 {{'dx' must have shape [2, 3, 8], got: 'tensor<2x3x9xf32>'}}
  %0, %1, %2, %3 = train.linear_cross_entropy_grad %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2x3x9xf32>, tensor<9x8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  // expected-error @+1 {{'dweight' must have shape [9, 8], got: 'tensor<8x9xf32>'}}
  %0, %1, %2, %3 = train.linear_cross_entropy_grad %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2x3x8xf32>, tensor<8x9xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  %al = train.input "al" : tensor<8xf32>
  // expected-error @+1 {{an accumulator of the loss, the count or the weight needs those of loss and count}}
  %0, %1, %2, %3 = train.linear_cross_entropy_grad %x, %w, %y, %al {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2x3x8xf32>, tensor<9x8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  %ac = train.input "ac" : tensor<8xf32>
  // expected-error @+1 {{an accumulator of the loss, the count or the weight needs those of loss and count}}
  %0, %1, %2, %3 = train.linear_cross_entropy_grad %x, %w, %y, %ac {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2x3x8xf32>, tensor<9x8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  %aw = train.input "aw" : tensor<9x8xf32>
  // expected-error @+1 {{an accumulator of the loss, the count or the weight needs those of loss and count}}
  %0, %1, %2, %3 = train.linear_cross_entropy_grad %x, %w, %y, %aw {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1>} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>, tensor<9x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2x3x8xf32>, tensor<9x8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  %al = train.input "al" : tensor<8xf32>
  %aw = train.input "aw" : tensor<9x8xf32>
  // expected-error @+1 {{an accumulator of the loss, the count or the weight needs those of loss and count}}
  %0, %1, %2, %3 = train.linear_cross_entropy_grad %x, %w, %y, %al, %aw {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1>} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>, tensor<8xf32>, tensor<9x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2x3x8xf32>, tensor<9x8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  %al = train.input "al" : tensor<4xf32>
  %ac = train.input "ac" : tensor<8xf32>
  // expected-error @+1 {{an accumulator must have shape [8], got: 'tensor<4xf32>'}}
  %0, %1, %2, %3 = train.linear_cross_entropy_grad %x, %w, %y, %al, %ac {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>, tensor<4xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2x3x8xf32>, tensor<9x8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  %al = train.input "al" : tensor<8xf32>
  %ac = train.input "ac" : tensor<4xf32>
  // expected-error @+1 {{an accumulator must have shape [8], got: 'tensor<4xf32>'}}
  %0, %1, %2, %3 = train.linear_cross_entropy_grad %x, %w, %y, %al, %ac {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>, tensor<8xf32>, tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2x3x8xf32>, tensor<9x8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  %al = train.input "al" : tensor<8xf32>
  %ac = train.input "ac" : tensor<8xf32>
  %aw = train.input "aw" : tensor<8x9xf32>
  // expected-error @+1 {{an accumulator must have shape [9, 8], got: 'tensor<8x9xf32>'}}
  %0, %1, %2, %3 = train.linear_cross_entropy_grad %x, %w, %y, %al, %ac, %aw {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>, tensor<8xf32>, tensor<8xf32>, tensor<8x9xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2x3x8xf32>, tensor<9x8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  %al = train.input "al" : tensor<8xf32>
  %ac = train.input "ac" : tensor<8xf32>
  // expected-error @+1 {{an accumulator needs one batch node, got: 2}}
  %0, %1, %2, %3 = train.linear_cross_entropy_grad %x, %w, %y, %al, %ac {vocab_segments = 8 : i64, batch_nodes = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2x3x8xf32>, tensor<9x8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x4x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x4xi32>
  // expected-error @+1 {{'bf16_order' is that of bf16 operands, got: 'tensor<2x4x8xf32>'}}
  %0, %1 = train.linear_cross_entropy %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 1 : i64, bf16_order = #train<bf16_order blocks>} : (tensor<2x4x8xf32>, tensor<9x8xf32>, tensor<2x4xi32>) -> (tensor<8xf32>, tensor<8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x4x8xbf16>
  %w = train.input "w" : tensor<9x8xbf16>
  %y = train.input "y" : tensor<2x4xi32>
  // expected-error @+1 {{'f32_products' is that of f32 operands, got: 'tensor<2x4x8xbf16>'}}
  %0, %1 = train.linear_cross_entropy %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 1 : i64, f32_products = #train<f32_products bf16x6>} : (tensor<2x4x8xbf16>, tensor<9x8xbf16>, tensor<2x4xi32>) -> (tensor<8xf32>, tensor<8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x4x8xbf16>
  %w = train.input "w" : tensor<9x8xbf16>
  %y = train.input "y" : tensor<2x4xi32>
  // expected-error @+1 {{'f32_products' is that of f32 operands, got: 'tensor<2x4x8xbf16>'}}
  %0, %1, %2, %3 = train.linear_cross_entropy_grad %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 1 : i64, f32_products = #train<f32_products bf16x6>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<2x4x8xbf16>, tensor<9x8xbf16>, tensor<2x4xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2x4x8xf32>, tensor<9x8xf32>)
}

// -----

// Losses of tokens are for evaluation.
train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  %0, %1 = train.linear_cross_entropy %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  // expected-error @+1 {{'loss' must have shape [8], got: 'tensor<2x3xf32>'}}
  %2:4 = train.linear_cross_entropy_grad %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3x8xf32>, tensor<9x8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<9x8xf32>
  %y = train.input "y" : tensor<2x3xi32>
  // expected-error @+1 {{'count' must have shape [2, 3], got: 'tensor<8xf32>'}}
  %0, %1 = train.linear_cross_entropy %x, %w, %y {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<8xf32>)
}
