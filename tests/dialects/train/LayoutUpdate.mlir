// RUN: recipe-opt %s --verify-layouts --verify-diagnostics --split-input-file
// T2, T4, T5, T6: accumulation and update.

// The batch tree is below the sum over ranks.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
  %a1 = train.fill {value = 0.0 : f64} : () -> tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[], 6>], partial = [<"data">]>>
  %r:2 = train.tree_merge %a0, %a1 : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>, tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[], 6>], partial = [<"data">]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>, tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[<"tensor">], 6>]>>
  %r:2 = train.tree_merge %a0, %a1 : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[<"tensor">], 6>]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[<"tensor">], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
  %a1 = train.input "1" : tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[], 6>]>>
  // expected-error @+1 {{T6: pending sums have the layout of the sum}}
  %r:2 = train.tree_merge %a0, %a1 : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>, tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[], 6>]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>, tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[], 6>]>>
  // expected-error @+1 {{T6: pending sums have the layout of the sum}}
  %r:2 = train.tree_merge %a0, %a1 : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[], 6>]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a1 = train.input "1" : tensor<2x12x6xf32, #dist.layout<@mesh, [<[<"data">], 2>, <[], 12>, <[], 6>]>>
  // expected-error @+1 {{T4: the levels must be whole on each rank}}
  %r:2 = train.tree_merge %a0, %a1 : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<2x12x6xf32, #dist.layout<@mesh, [<[<"data">], 2>, <[], 12>, <[], 6>]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<2x12x6xf32, #dist.layout<@mesh, [<[<"data">], 2>, <[], 12>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
  %a1 = train.fill {value = 0.0 : f64} : () -> tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r:2 = train.tree_merge %a0, %a1 : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>, tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[], 6>], partial = [<"data">]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
  %a1 = train.fill {value = 0.0 : f64} : () -> tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{the layout of result 1 follows from the operands}}
  %r:2 = train.tree_merge %a0, %a1 : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>, tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[], 6>], partial = [<"data">]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>, tensor<2x12x6xf32, #dist.layout<@mesh, [<[], 2>, <[], 12>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 6>]>>
  %r = train.position_sum %a0 : (tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 6>]>>) -> tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>
}

// -----

// Ranks first, positions last.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{T2: a Partial}}
  %r = train.position_sum %a0 : (tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>) -> tensor<6xf32, #dist.layout<@mesh, [<[], 6>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"context">], 8>, <[], 6>]>>
  // expected-error @+1 {{T4: position segments must be whole on each rank}}
  %r = train.position_sum %a0 : (tensor<8x6xf32, #dist.layout<@mesh, [<[<"context">], 8>, <[], 6>]>>) -> tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 6>]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r = train.position_sum %a0 : (tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 6>]>>) -> tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
  %a1 = train.input "1" : tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
  train.step_loss %a0, %a1 : (tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>) -> ()
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>
  %a1 = train.input "1" : tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 0}}
  train.step_loss %a0, %a1 : (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>) -> ()
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
  %a1 = train.fill {value = 0.0 : f64} : () -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 1}}
  train.step_loss %a0, %a1 : (tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>) -> ()
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
  %a1 = train.input "1" : tensor<8xf32, #dist.layout<@mesh, [<[<"context">], 8>]>>
  // expected-error @+1 {{T4: sums of the loss must be whole on each rank}}
  train.step_loss %a0, %a1 : (tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>, tensor<8xf32, #dist.layout<@mesh, [<[<"context">], 8>]>>) -> ()
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  train.grad_norm %a0, %a1 {clip = 1.0 : f64} : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>) -> ()
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a1 = train.fill {value = 0.0 : f64} : () -> tensor<6xf32, #dist.layout<@mesh, [<[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 1}}
  train.grad_norm %a0, %a1 {clip = 1.0 : f64} : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>], partial = [<"data">]>>) -> ()
}

// -----

// The norm of a part is not the norm.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  // expected-error @+1 {{T4: a gradient must be whole on each rank}}
  train.grad_norm %a0, %a1 {clip = 1.0 : f64} : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>) -> ()
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a2 = train.input "2" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a3 = train.input "3" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %r:3 = train.adamw %a0, %a1, %a2, %a3 {beta1 = 0.5 : f64, beta2 = 0.5 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a2 = train.input "2" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a3 = train.input "3" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  // expected-error @+1 {{T5: operands must have one layout}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3 {beta1 = 0.5 : f64, beta2 = 0.5 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a3 = train.input "3" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  // expected-error @+1 {{T5: operands must have one layout}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3 {beta1 = 0.5 : f64, beta2 = 0.5 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a3 = train.input "3" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  // expected-error @+1 {{T5: operands must have one layout}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3 {beta1 = 0.5 : f64, beta2 = 0.5 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a3 = train.input "3" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 0}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3 {beta1 = 0.5 : f64, beta2 = 0.5 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a1 = train.fill {value = 0.0 : f64} : () -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
  %a2 = train.input "2" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a3 = train.input "3" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 1}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3 {beta1 = 0.5 : f64, beta2 = 0.5 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.fill {value = 0.0 : f64} : () -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
  %a3 = train.input "3" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 2}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3 {beta1 = 0.5 : f64, beta2 = 0.5 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a3 = train.fill {value = 0.0 : f64} : () -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 3}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3 {beta1 = 0.5 : f64, beta2 = 0.5 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a2 = train.input "2" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a3 = train.input "3" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3 {beta1 = 0.5 : f64, beta2 = 0.5 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a2 = train.input "2" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a3 = train.input "3" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  // expected-error @+1 {{the layout of result 1 follows from the operands}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3 {beta1 = 0.5 : f64, beta2 = 0.5 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a2 = train.input "2" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a3 = train.input "3" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  // expected-error @+1 {{the layout of result 2 follows from the operands}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3 {beta1 = 0.5 : f64, beta2 = 0.5 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>) -> (tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>)
}

// -----

// A value that is made here may lie in any way.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %r = train.fill  {value = 1.0 : f64} : () -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %r = train.init_normal  {stddev = 1.0 : f64, key = 1 : i64} : () -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %r:2 = train.rope_table  {inv_freq = array<f64: 1.0, 0.5, 0.25>, attention_factor = 1.0 : f64} : () -> (tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  train.schedule  {beta1 = 0.5 : f64, beta2 = 0.5 : f64} : () -> ()
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>
  train.eval_loss %a0, %a0 : (tensor<4x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>) -> ()
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T4: losses of tokens must be whole on each rank}}
  train.eval_loss %a0, %a0 : (tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> ()
}
