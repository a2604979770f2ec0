// RUN: recipe-opt %s --verify-diagnostics --split-input-file
// Norms and position embedding.

train.graph @g {
  %x = train.input "x" : tensor<3x8xf32>
  %c = train.input "c" : tensor<8xf32>
  // expected-error @+1 {{'x' must have rank 3, got: 'tensor<3x8xf32>'}}
  %0, %1 = train.rms_norm %x, %c {eps = 1.0e-5 : f64} : (tensor<3x8xf32>, tensor<8xf32>) -> (tensor<3x8xf32>, tensor<3xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %c = train.input "c" : tensor<3xf32>
  // expected-error @+1 {{'gain' must have shape [8], got: 'tensor<3xf32>'}}
  %0, %1 = train.rms_norm %x, %c {eps = 1.0e-5 : f64} : (tensor<2x3x8xf32>, tensor<3xf32>) -> (tensor<2x3x8xf32>, tensor<2x3xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %c = train.input "c" : tensor<8xf32>
  // expected-error @+1 {{the result must have shape [2, 3, 8], got: 'tensor<2x8x3xf32>'}}
  %0, %1 = train.rms_norm %x, %c {eps = 1.0e-5 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x8x3xf32>, tensor<2x3xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %c = train.input "c" : tensor<8xf32>
  // expected-error @+1 {{a row statistic must have shape [2, 3], got: 'tensor<2x8xf32>'}}
  %0, %1 = train.rms_norm %x, %c {eps = 1.0e-5 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %c = train.input "c" : tensor<8xf32>
  // expected-error @+1 {{'eps' must not be negative, got: -1.000000e+00}}
  %0, %1 = train.rms_norm %x, %c {eps = -1.0 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %c = train.input "c" : tensor<8xf32>
  %b = train.input "b" : tensor<3xf32>
  // expected-error @+1 {{'bias' must have shape [8], got: 'tensor<3xf32>'}}
  %0, %1, %2 = train.layer_norm %x, %c, %b {eps = 1.0e-5 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<3xf32>) -> (tensor<2x3x8xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %c = train.input "c" : tensor<8xf32>
  // expected-error @+1 {{a row statistic must have shape [2, 3], got: 'tensor<3xf32>'}}
  %0, %1, %2 = train.layer_norm %x, %c, %c {eps = 1.0e-5 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<3xf32>, tensor<2x3xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %c = train.input "c" : tensor<8xf32>
  // expected-error @+1 {{a row statistic must have shape [2, 3], got: 'tensor<3xf32>'}}
  %0, %1, %2 = train.layer_norm %x, %c, %c {eps = 1.0e-5 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3xf32>, tensor<3xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<3x8xf32>
  %c = train.input "c" : tensor<8xf32>
  %r = train.input "r" : tensor<2x3xf32>
  // expected-error @+1 {{'dy' must have rank 3, got: 'tensor<3x8xf32>'}}
  %0, %1, %2 = train.layer_norm_grad %x, %x, %c, %r, %r {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<3x8xf32>, tensor<3x8xf32>, tensor<8xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %y = train.input "y" : tensor<2x4x8xf32>
  %c = train.input "c" : tensor<8xf32>
  %r = train.input "r" : tensor<2x3xf32>
  // expected-error @+1 {{'x' must have shape [2, 3, 8], got: 'tensor<2x4x8xf32>'}}
  %0, %1, %2 = train.layer_norm_grad %x, %y, %c, %r, %r {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<2x3x8xf32>, tensor<2x4x8xf32>, tensor<8xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %c = train.input "c" : tensor<3xf32>
  %r = train.input "r" : tensor<2x3xf32>
  // expected-error @+1 {{'gain' must have shape [4], got: 'tensor<3xf32>'}}
  %0, %1, %2 = train.layer_norm_grad %x, %x, %c, %r, %r {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %c = train.input "c" : tensor<4xf32>
  %r = train.input "r" : tensor<2x3xf32>
  // expected-error @+1 {{'mean' must have shape [2, 3], got: 'tensor<4xf32>'}}
  %0, %1, %2 = train.layer_norm_grad %x, %x, %c, %c, %r {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x3xf32>) -> (tensor<2x3x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %c = train.input "c" : tensor<4xf32>
  %r = train.input "r" : tensor<2x3xf32>
  // expected-error @+1 {{'rstd' must have shape [2, 3], got: 'tensor<4xf32>'}}
  %0, %1, %2 = train.layer_norm_grad %x, %x, %c, %r, %c {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %c = train.input "c" : tensor<4xf32>
  %r = train.input "r" : tensor<2x3xf32>
  // expected-error @+1 {{'dx' must have shape [2, 3, 4], got: 'tensor<2x3x5xf32>'}}
  %0, %1, %2 = train.layer_norm_grad %x, %x, %c, %r, %r {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3x5xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %c = train.input "c" : tensor<4xf32>
  %r = train.input "r" : tensor<2x3xf32>
  // expected-error @+1 {{'dgain' must have shape [8, 4], got: 'tensor<4xf32>'}}
  %0, %1, %2 = train.layer_norm_grad %x, %x, %c, %r, %r {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>, tensor<8x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %c = train.input "c" : tensor<4xf32>
  %r = train.input "r" : tensor<2x3xf32>
  // expected-error @+1 {{'dbias' must have shape [8, 4], got: 'tensor<4xf32>'}}
  %0, %1, %2 = train.layer_norm_grad %x, %x, %c, %r, %r {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3x4xf32>, tensor<8x4xf32>, tensor<4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %c = train.input "c" : tensor<4xf32>
  %r = train.input "r" : tensor<2x3xf32>
  // expected-error @+1 {{an accumulator must have shape [8, 4], got: 'tensor<4xf32>'}}
  %0, %1, %2 = train.layer_norm_grad %x, %x, %c, %r, %r, %c {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %c = train.input "c" : tensor<4xf32>
  %r = train.input "r" : tensor<2x3xf32>
  %acc = train.input "acc" : tensor<8x4xf32>
  // expected-error @+1 {{an accumulator needs one batch node, got: 2}}
  %0, %1, %2 = train.layer_norm_grad %x, %x, %c, %r, %r, %acc {batch_nodes = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1>} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<8x4xf32>) -> (tensor<2x3x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %c = train.input "c" : tensor<4xf32>
  %r = train.input "r" : tensor<2x3xf32>
  // expected-error @+1 {{'batch_nodes' must be a power of two that divides the samples, got: 4 and 2}}
  %0, %1, %2 = train.layer_norm_grad %x, %x, %c, %r, %r {batch_nodes = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<3x4xf32>
  %c = train.input "c" : tensor<4xf32>
  %r = train.input "r" : tensor<2x3xf32>
  // expected-error @+1 {{'dy' must have rank 3, got: 'tensor<3x4xf32>'}}
  %0, %1 = train.rms_norm_grad %x, %x, %c, %r {batch_nodes = 1 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<4xf32>, tensor<2x3xf32>) -> (tensor<3x4xf32>, tensor<8x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %y = train.input "y" : tensor<3x3x4xf32>
  %c = train.input "c" : tensor<4xf32>
  %r = train.input "r" : tensor<2x3xf32>
  // expected-error @+1 {{'x' must have shape [2, 3, 4], got: 'tensor<3x3x4xf32>'}}
  %0, %1 = train.rms_norm_grad %x, %y, %c, %r {batch_nodes = 1 : i64} : (tensor<2x3x4xf32>, tensor<3x3x4xf32>, tensor<4xf32>, tensor<2x3xf32>) -> (tensor<2x3x4xf32>, tensor<8x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %c = train.input "c" : tensor<3xf32>
  %r = train.input "r" : tensor<2x3xf32>
  // expected-error @+1 {{'gain' must have shape [4], got: 'tensor<3xf32>'}}
  %0, %1 = train.rms_norm_grad %x, %x, %c, %r {batch_nodes = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3x4xf32>, tensor<8x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %c = train.input "c" : tensor<4xf32>
  // expected-error @+1 {{'rstd' must have shape [2, 3], got: 'tensor<4xf32>'}}
  %0, %1 = train.rms_norm_grad %x, %x, %c, %c {batch_nodes = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<8x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %c = train.input "c" : tensor<4xf32>
  %r = train.input "r" : tensor<2x3xf32>
  // expected-error @+1 {{'dx' must have shape [2, 3, 4], got: 'tensor<3x4xf32>'}}
  %0, %1 = train.rms_norm_grad %x, %x, %c, %r {batch_nodes = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3xf32>) -> (tensor<3x4xf32>, tensor<8x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %c = train.input "c" : tensor<4xf32>
  %r = train.input "r" : tensor<2x3xf32>
  // expected-error @+1 {{'dgain' must have shape [8, 4], got: 'tensor<4xf32>'}}
  %0, %1 = train.rms_norm_grad %x, %x, %c, %r {batch_nodes = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %c = train.input "c" : tensor<4xf32>
  %r = train.input "r" : tensor<2x3xf32>
  // expected-error @+1 {{an accumulator must have shape [8, 4], got: 'tensor<4xf32>'}}
  %0, %1 = train.rms_norm_grad %x, %x, %c, %r, %c {batch_nodes = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<8x4xf32>)
}

// -----

train.graph @g {
  // expected-error @+1 {{'inv_freq' must not be empty}}
  %0, %1 = train.rope_table {inv_freq = array<f64>, attention_factor = 1.0 : f64} : () -> (tensor<5x0xf32>, tensor<5x0xf32>)
}

// -----

train.graph @g {
  // expected-error @+1 {{'cosine' must have rank 2, got: 'tensor<10xf32>'}}
  %0, %1 = train.rope_table {inv_freq = array<f64: 1.0, 0.1>, attention_factor = 1.0 : f64} : () -> (tensor<10xf32>, tensor<5x2xf32>)
}

// -----

train.graph @g {
  // expected-error @+1 {{'cosine' must have shape [5, 2], got: 'tensor<5x3xf32>'}}
  %0, %1 = train.rope_table {inv_freq = array<f64: 1.0, 0.1>, attention_factor = 1.0 : f64} : () -> (tensor<5x3xf32>, tensor<5x3xf32>)
}

// -----

train.graph @g {
  // expected-error @+1 {{'sine' must have shape [5, 2], got: 'tensor<6x2xf32>'}}
  %0, %1 = train.rope_table {inv_freq = array<f64: 1.0, 0.1>, attention_factor = 1.0 : f64} : () -> (tensor<5x2xf32>, tensor<6x2xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<3x8xf32>
  %t = train.input "t" : tensor<5x2xf32>
  %p = train.input "p" : tensor<2x3xi32>
  // expected-error @+1 {{'x' must have rank 3, got: 'tensor<3x8xf32>'}}
  %0 = train.rope %x, %t, %t, %p {heads = 2 : i64, inverse = false} : (tensor<3x8xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<2x3xi32>) -> tensor<3x8xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %t = train.input "t" : tensor<5xf32>
  %p = train.input "p" : tensor<2x3xi32>
  // expected-error @+1 {{'cosine' must have rank 2, got: 'tensor<5xf32>'}}
  %0 = train.rope %x, %t, %t, %p {heads = 2 : i64, inverse = false} : (tensor<2x3x8xf32>, tensor<5xf32>, tensor<5xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %t = train.input "t" : tensor<5x2xf32>
  %p = train.input "p" : tensor<2x3xi32>
  // expected-error @+1 {{channels must be heads * 2 * (pairs of the table), got: 8, 3 heads and 2 pairs}}
  %0 = train.rope %x, %t, %t, %p {heads = 3 : i64, inverse = false} : (tensor<2x3x8xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %t = train.input "t" : tensor<5x2xf32>
  %p = train.input "p" : tensor<2x3xi32>
  // expected-error @+1 {{channels must be heads * 2 * (pairs of the table), got: 8, -2 heads and 2 pairs}}
  %0 = train.rope %x, %t, %t, %p {heads = -2 : i64, inverse = false} : (tensor<2x3x8xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %t = train.input "t" : tensor<5x2xf32>
  %s = train.input "s" : tensor<4x2xf32>
  %p = train.input "p" : tensor<2x3xi32>
  // expected-error @+1 {{'sine' must have shape [5, 2], got: 'tensor<4x2xf32>'}}
  %0 = train.rope %x, %t, %s, %p {heads = 2 : i64, inverse = false} : (tensor<2x3x8xf32>, tensor<5x2xf32>, tensor<4x2xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %t = train.input "t" : tensor<5x2xf32>
  %p = train.input "p" : tensor<3xi32>
  // expected-error @+1 {{'positions' must have shape [2, 3], got: 'tensor<3xi32>'}}
  %0 = train.rope %x, %t, %t, %p {heads = 2 : i64, inverse = false} : (tensor<2x3x8xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<3xi32>) -> tensor<2x3x8xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %t = train.input "t" : tensor<5x2xf32>
  %p = train.input "p" : tensor<2x3xi32>
  // expected-error @+1 {{the result must have shape [2, 3, 8], got: 'tensor<2x3x4xf32>'}}
  %0 = train.rope %x, %t, %t, %p {heads = 2 : i64, inverse = false} : (tensor<2x3x8xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<2x3xi32>) -> tensor<2x3x4xf32>
}
