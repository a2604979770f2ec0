// RUN: recipe-opt %s --verify-diagnostics --split-input-file

train.graph @g {
  // expected-error @+1 {{'stddev' must not be negative, got: -1.000000e+00}}
  %0 = train.init_normal {stddev = -1.0 : f64, key = 7 : i64} : () -> tensor<3xf32>
}

// -----

train.graph @g {
  // expected-error @+1 {{result #0 must be statically shaped tensor of 32-bit float values, but got 'tensor<3xi32>'}}
  %0 = train.fill {value = 0.0 : f64} : () -> tensor<3xi32>
}

// -----

train.graph @g {
  // expected-error @+1 {{result #0 must be statically shaped tensor of 32-bit float values, but got 'tensor<?xf32>'}}
  %0 = train.fill {value = 0.0 : f64} : () -> tensor<?xf32>
}

// -----

train.graph @g {
  %v = train.input "v" : tensor<3x4xf32>
  %p = train.input "p" : tensor<3x4xf32>
  // expected-error @+1 {{'pending' must be [levels] of the value's shape, got: 'tensor<3x4xf32>' and 'tensor<3x4xf32>'}}
  %0, %1 = train.tree_merge %v, %p : (tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<2x3x4xf32>)
}

// -----

train.graph @g {
  %v = train.input "v" : tensor<3x4xf32>
  %p = train.input "p" : tensor<2x4x3xf32>
  // expected-error @+1 {{'pending' must be [levels] of the value's shape, got: 'tensor<2x4x3xf32>' and 'tensor<3x4xf32>'}}
  %0, %1 = train.tree_merge %v, %p : (tensor<3x4xf32>, tensor<2x4x3xf32>) -> (tensor<3x4xf32>, tensor<2x3x4xf32>)
}

// -----

train.graph @g {
  %v = train.input "v" : tensor<3x4xf32>
  %p = train.input "p" : tensor<2x3x4xf32>
  // expected-error @+1 {{the result must have shape [3, 4], got: 'tensor<2x3x4xf32>'}}
  %0, %1 = train.tree_merge %v, %p : (tensor<3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>)
}

// -----

train.graph @g {
  %v = train.input "v" : tensor<3x4xf32>
  %p = train.input "p" : tensor<2x3x4xf32>
  // expected-error @+1 {{'pending_result' must have shape [2, 3, 4], got: 'tensor<1x3x4xf32>'}}
  %0, %1 = train.tree_merge %v, %p : (tensor<3x4xf32>, tensor<2x3x4xf32>) -> (tensor<3x4xf32>, tensor<1x3x4xf32>)
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<7x4xf32>
  // expected-error @+1 {{'x' must be [8, C], got: 'tensor<7x4xf32>'}}
  %0 = train.position_sum %x : (tensor<7x4xf32>) -> tensor<4xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<8xf32>
  // expected-error @+1 {{'x' must be [8, C], got: 'tensor<8xf32>'}}
  %0 = train.position_sum %x : (tensor<8xf32>) -> tensor<4xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<8x4xf32>
  // expected-error @+1 {{the result must have shape [4], got: 'tensor<8xf32>'}}
  %0 = train.position_sum %x : (tensor<8x4xf32>) -> tensor<8xf32>
}

// -----

train.graph @g {
  %l = train.input "l" : tensor<1xf32>
  %c = train.input "c" : tensor<8xf32>
  // expected-error @+1 {{'loss' must have shape [8], got: 'tensor<1xf32>'}}
  train.step_loss %l, %c : (tensor<1xf32>, tensor<8xf32>) -> ()
}

// -----

train.graph @g {
  %l = train.input "l" : tensor<8xf32>
  %c = train.input "c" : tensor<8x1xf32>
  // expected-error @+1 {{'count' must have shape [8], got: 'tensor<8x1xf32>'}}
  train.step_loss %l, %c : (tensor<8xf32>, tensor<8x1xf32>) -> ()
}

// -----

train.graph @g {
  %l = train.input "l" : tensor<8xf32>
  // expected-error @+1 {{'loss' must have rank 2, got: 'tensor<8xf32>'}}
  train.eval_loss %l, %l : (tensor<8xf32>, tensor<8xf32>) -> ()
}

// -----

train.graph @g {
  %l = train.input "l" : tensor<2x4xf32>
  %c = train.input "c" : tensor<4x2xf32>
  // expected-error @+1 {{'count' must have shape [2, 4], got: 'tensor<4x2xf32>'}}
  train.eval_loss %l, %c : (tensor<2x4xf32>, tensor<4x2xf32>) -> ()
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<3xf32>
  // expected-error @+1 {{'clip' must not be negative (0 turns it off), got: -1.000000e+00}}
  train.grad_norm %x {clip = -1.0 : f64} : (tensor<3xf32>) -> ()
}

// -----

train.graph @g {
  %p = train.input "p" : tensor<3x4xf32>
  %m = train.input "m" : tensor<4x3xf32>
  %v = train.input "v" : tensor<3x4xf32>
  %g = train.input "g" : tensor<3x4xf32>
  // expected-error @+1 {{all operands and results must have shape [3, 4], got: 'tensor<4x3xf32>'}}
  %0, %1, %2 = train.adamw %p, %m, %v, %g {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64} : (tensor<3x4xf32>, tensor<4x3xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
}

// -----

train.graph @g {
  %p = train.input "p" : tensor<3x4xf32>
  %m = train.input "m" : tensor<3x4xf32>
  %v = train.input "v" : tensor<4x3xf32>
  %g = train.input "g" : tensor<3x4xf32>
  // expected-error @+1 {{all operands and results must have shape [3, 4], got: 'tensor<4x3xf32>'}}
  %0, %1, %2 = train.adamw %p, %m, %v, %g {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<4x3xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
}

// -----

train.graph @g {
  %p = train.input "p" : tensor<3x4xf32>
  %m = train.input "m" : tensor<3x4xf32>
  %v = train.input "v" : tensor<3x4xf32>
  %g = train.input "g" : tensor<4x3xf32>
  // expected-error @+1 {{all operands and results must have shape [3, 4], got: 'tensor<4x3xf32>'}}
  %0, %1, %2 = train.adamw %p, %m, %v, %g {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<4x3xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
}

// -----

train.graph @g {
  %p = train.input "p" : tensor<3x4xf32>
  %m = train.input "m" : tensor<3x4xf32>
  %v = train.input "v" : tensor<3x4xf32>
  %g = train.input "g" : tensor<3x4xf32>
  // expected-error @+1 {{all operands and results must have shape [3, 4], got: 'tensor<4x3xf32>'}}
  %0, %1, %2 = train.adamw %p, %m, %v, %g {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<4x3xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
}

// -----

train.graph @g {
  %p = train.input "p" : tensor<3x4xf32>
  %m = train.input "m" : tensor<3x4xf32>
  %v = train.input "v" : tensor<3x4xf32>
  %g = train.input "g" : tensor<3x4xf32>
  // expected-error @+1 {{all operands and results must have shape [3, 4], got: 'tensor<4x3xf32>'}}
  %0, %1, %2 = train.adamw %p, %m, %v, %g {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x3xf32>, tensor<3x4xf32>)
}

// -----

train.graph @g {
  %p = train.input "p" : tensor<3x4xf32>
  %m = train.input "m" : tensor<3x4xf32>
  %v = train.input "v" : tensor<3x4xf32>
  %g = train.input "g" : tensor<3x4xf32>
  // expected-error @+1 {{all operands and results must have shape [3, 4], got: 'tensor<4x3xf32>'}}
  %0, %1, %2 = train.adamw %p, %m, %v, %g {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<4x3xf32>)
}

// -----

train.graph @g {
  %p = train.input "p" : tensor<3x4xf32>
  %m = train.input "m" : tensor<3x4xf32>
  %v = train.input "v" : tensor<3x4xf32>
  %g = train.input "g" : tensor<3x4xf32>
  // expected-error @+1 {{betas must be in [0, 1), got: 1.000000e+00}}
  %0, %1, %2 = train.adamw %p, %m, %v, %g {beta1 = 1.0 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
}

// -----

train.graph @g {
  %p = train.input "p" : tensor<3x4xf32>
  %m = train.input "m" : tensor<3x4xf32>
  %v = train.input "v" : tensor<3x4xf32>
  %g = train.input "g" : tensor<3x4xf32>
  // expected-error @+1 {{betas must be in [0, 1), got: -5.000000e-01}}
  %0, %1, %2 = train.adamw %p, %m, %v, %g {beta1 = 0.9 : f64, beta2 = -0.5 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
}

// -----

train.graph @g {
  %p = train.input "p" : tensor<3x4xf32>
  %m = train.input "m" : tensor<3x4xf32>
  %v = train.input "v" : tensor<3x4xf32>
  %g = train.input "g" : tensor<3x4xf32>
  // expected-error @+1 {{'eps' and 'weight_decay' must not be negative, got: -1.000000e+00 and 1.000000e-01}}
  %0, %1, %2 = train.adamw %p, %m, %v, %g {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = -1.0 : f64, weight_decay = 0.1 : f64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
}

// -----

train.graph @g {
  %p = train.input "p" : tensor<3x4xf32>
  %m = train.input "m" : tensor<3x4xf32>
  %v = train.input "v" : tensor<3x4xf32>
  %g = train.input "g" : tensor<3x4xf32>
  // expected-error @+1 {{'eps' and 'weight_decay' must not be negative, got: 1.000000e-08 and -2.000000e+00}}
  %0, %1, %2 = train.adamw %p, %m, %v, %g {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = -2.0 : f64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
}

// -----

train.graph @g {
  // expected-error @+1 {{betas must be in [0, 1), got: 1.000000e+00}}
  train.schedule {beta1 = 1.0 : f64, beta2 = 0.95 : f64} : () -> ()
}

// -----

train.graph @g {
  // expected-error @+1 {{betas must be in [0, 1), got: 1.500000e+00}}
  train.schedule {beta1 = 0.9 : f64, beta2 = 1.5 : f64} : () -> ()
}
