// RUN: recipe-opt %s --verify-diagnostics --split-input-file
// Embedding, elementwise ops and dropout.

train.graph @g {
  %ids = train.input "ids" : tensor<2xi32>
  %table = train.input "table" : tensor<9x4xf32>
  // expected-error @+1 {{'ids' must have rank 2, got: 'tensor<2xi32>'}}
  %0 = train.embedding %ids, %table : (tensor<2xi32>, tensor<9x4xf32>) -> tensor<2x3x4xf32>
}

// -----

train.graph @g {
  %ids = train.input "ids" : tensor<2x3xi32>
  %table = train.input "table" : tensor<9xf32>
  // expected-error @+1 {{'table' must have rank 2, got: 'tensor<9xf32>'}}
  %0 = train.embedding %ids, %table : (tensor<2x3xi32>, tensor<9xf32>) -> tensor<2x3x9xf32>
}

// -----

train.graph @g {
  %ids = train.input "ids" : tensor<2x3xi32>
  %table = train.input "table" : tensor<9x4xf32>
  // expected-error @+1 {{the result must have shape [2, 3, 4], got: 'tensor<2x3x9xf32>'}}
  %0 = train.embedding %ids, %table : (tensor<2x3xi32>, tensor<9x4xf32>) -> tensor<2x3x9xf32>
}

// -----

train.graph @g {
  %ids = train.input "ids" : tensor<2x3xf32>
  %table = train.input "table" : tensor<9x4xf32>
  // expected-error @+1 {{operand #0 must be statically shaped tensor of 32-bit signless integer values, but got 'tensor<2x3xf32>'}}
  %0 = train.embedding %ids, %table : (tensor<2x3xf32>, tensor<9x4xf32>) -> tensor<2x3x4xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<3x4xf32>
  %y = train.input "y" : tensor<4x3xf32>
  // expected-error @+1 {{'rhs' must have shape [3, 4], got: 'tensor<4x3xf32>'}}
  %0 = train.add %x, %y : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x4xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<3x4xf32>
  // expected-error @+1 {{the result must have shape [3, 4], got: 'tensor<4x3xf32>'}}
  %0 = train.add %x, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<4x3xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<3x4xf64>
  // expected-error @+1 {{operand #0 must be statically shaped tensor of 32-bit float values, but got 'tensor<3x4xf64>'}}
  %0 = train.add %x, %x : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<f32>
  %b = train.input "b" : tensor<4xf32>
  // expected-error @+1 {{'x' must not be a scalar, got: 'tensor<f32>'}}
  %0 = train.bias_add %x, %b : (tensor<f32>, tensor<4xf32>) -> tensor<f32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %b = train.input "b" : tensor<3xf32>
  // expected-error @+1 {{'bias' must have shape [4], got: 'tensor<3xf32>'}}
  %0 = train.bias_add %x, %b : (tensor<2x3x4xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %b = train.input "b" : tensor<4xf32>
  // expected-error @+1 {{the result must have shape [2, 3, 4], got: 'tensor<2x4xf32>'}}
  %0 = train.bias_add %x, %b : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  // expected-error @+1 {{the result must have shape [2, 3, 4], got: 'tensor<2x3x5xf32>'}}
  %0 = train.gelu %x : (tensor<2x3x4xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %y = train.input "y" : tensor<2x3x5xf32>
  // expected-error @+1 {{'dy' must have shape [2, 3, 4], got: 'tensor<2x3x5xf32>'}}
  %0 = train.gelu_grad %y, %x : (tensor<2x3x5xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  // expected-error @+1 {{'dx' must have shape [2, 3, 4], got: 'tensor<2x3x5xf32>'}}
  %0 = train.gelu_grad %x, %x : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %y = train.input "y" : tensor<2x3x5xf32>
  // expected-error @+1 {{'up' must have shape [2, 3, 4], got: 'tensor<2x3x5xf32>'}}
  %0 = train.swiglu %x, %y : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x3x4xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  // expected-error @+1 {{the result must have shape [2, 3, 4], got: 'tensor<2x3x5xf32>'}}
  %0 = train.swiglu %x, %x : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %y = train.input "y" : tensor<2x3x5xf32>
  // expected-error @+1 {{all operands and results must have shape [2, 3, 4], got: 'tensor<2x3x5xf32>'}}
  %0, %1 = train.swiglu_grad %y, %x, %x : (tensor<2x3x5xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  %y = train.input "y" : tensor<2x3x5xf32>
  // expected-error @+1 {{all operands and results must have shape [2, 3, 4], got: 'tensor<2x3x5xf32>'}}
  %0, %1 = train.swiglu_grad %x, %x, %y : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  // expected-error @+1 {{all operands and results must have shape [2, 3, 4], got: 'tensor<2x3x5xf32>'}}
  %0, %1 = train.swiglu_grad %x, %x, %x : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  // expected-error @+1 {{all operands and results must have shape [2, 3, 4], got: 'tensor<2x3x5xf32>'}}
  %0, %1 = train.swiglu_grad %x, %x, %x : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x5xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  // expected-error @+1 {{'p' must be in [0, 1), got: 1.000000e+00}}
  %0 = train.dropout %x {p = 1.0 : f64, dropout_id = 5 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  // expected-error @+1 {{'p' must be in [0, 1), got: -1.000000e-01}}
  %0 = train.dropout %x {p = -0.1 : f64, dropout_id = 5 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
}

// -----

// Not a number is not in the range.
train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  // expected-error @+1 {{'p' must be in [0, 1), got: }}
  %0 = train.dropout %x {p = 0x7FF8000000000000 : f64, dropout_id = 5 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<3x4xf32>
  // expected-error @+1 {{'x' must have rank 3, got: 'tensor<3x4xf32>'}}
  %0 = train.dropout %x {p = 0.1 : f64, dropout_id = 5 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x4xf32>
  // expected-error @+1 {{the result must have shape [2, 3, 4], got: 'tensor<2x3x5xf32>'}}
  %0 = train.dropout %x {p = 0.1 : f64, dropout_id = 5 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3xf32>
  %ids = train.input "ids" : tensor<2x3xi32>
  // expected-error @+1 {{'dy' must have rank 3, got: 'tensor<2x3xf32>'}}
  %0 = train.embedding_grad %dy, %ids {batch_nodes = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<9x4xf32>
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x4xf32>
  %ids = train.input "ids" : tensor<3x2xi32>
  // expected-error @+1 {{'ids' must have shape [2, 3], got: 'tensor<3x2xi32>'}}
  %0 = train.embedding_grad %dy, %ids {batch_nodes = 1 : i64} : (tensor<2x3x4xf32>, tensor<3x2xi32>) -> tensor<9x4xf32>
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x4xf32>
  %ids = train.input "ids" : tensor<2x3xi32>
  // expected-error @+1 {{the result must have rank 2, got: 'tensor<9xf32>'}}
  %0 = train.embedding_grad %dy, %ids {batch_nodes = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x3xi32>) -> tensor<9xf32>
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x4xf32>
  %ids = train.input "ids" : tensor<2x3xi32>
  // expected-error @+1 {{the result must have shape [9, 4], got: 'tensor<9x5xf32>'}}
  %0 = train.embedding_grad %dy, %ids {batch_nodes = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x3xi32>) -> tensor<9x5xf32>
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x4xf32>
  %ids = train.input "ids" : tensor<2x3xi32>
  %acc = train.input "acc" : tensor<8x4xf32>
  // expected-error @+1 {{an accumulator must have shape [9, 4], got: 'tensor<8x4xf32>'}}
  %0 = train.embedding_grad %dy, %ids, %acc {batch_nodes = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x3xi32>, tensor<8x4xf32>) -> tensor<9x4xf32>
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x4xf32>
  %ids = train.input "ids" : tensor<2x3xi32>
  %acc = train.input "acc" : tensor<9x4xf32>
  // expected-error @+1 {{an accumulator needs one batch node, got: 2}}
  %0 = train.embedding_grad %dy, %ids, %acc {batch_nodes = 2 : i64} : (tensor<2x3x4xf32>, tensor<2x3xi32>, tensor<9x4xf32>) -> tensor<9x4xf32>
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x4xf32>
  %ids = train.input "ids" : tensor<2x3xi32>
  // expected-error @+1 {{'batch_nodes' must be a power of two that divides the samples, got: 0 and 2}}
  %0 = train.embedding_grad %dy, %ids {batch_nodes = 0 : i64} : (tensor<2x3x4xf32>, tensor<2x3xi32>) -> tensor<9x4xf32>
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x4xf32>
  // expected-error @+1 {{'batch_nodes' must be a power of two that divides the samples, got: 4 and 2}}
  %0 = train.bias_grad %dy {batch_nodes = 4 : i64} : (tensor<2x3x4xf32>) -> tensor<8x4xf32>
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<6x3x4xf32>
  // expected-error @+1 {{'batch_nodes' must be a power of two that divides the samples, got: 3 and 6}}
  %0 = train.bias_grad %dy {batch_nodes = 3 : i64} : (tensor<6x3x4xf32>) -> tensor<8x4xf32>
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x4xf32>
  // expected-error @+1 {{the result must have shape [8, 4], got: 'tensor<4xf32>'}}
  %0 = train.bias_grad %dy {batch_nodes = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<4xf32>
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<3x4xf32>
  // expected-error @+1 {{'dy' must have rank 3, got: 'tensor<3x4xf32>'}}
  %0 = train.bias_grad %dy {batch_nodes = 1 : i64} : (tensor<3x4xf32>) -> tensor<8x4xf32>
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x4xf32>
  %acc = train.input "acc" : tensor<4xf32>
  // expected-error @+1 {{an accumulator must have shape [8, 4], got: 'tensor<4xf32>'}}
  %0 = train.bias_grad %dy, %acc {batch_nodes = 1 : i64} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x4xf32>
  %acc = train.input "acc" : tensor<8x4xf32>
  // expected-error @+1 {{an accumulator needs one batch node, got: 2}}
  %0 = train.bias_grad %dy, %acc {batch_nodes = 2 : i64} : (tensor<2x3x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
}
