// RUN: recipe-opt %s --verify-layouts --verify-diagnostics --split-input-file
// T2, T3, T6: embedding and bias.

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %r = train.embedding %a0, %a1 : (tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %r = train.embedding %a0, %a1 : (tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[<"tensor">], 6>]>>
}

// -----

// A rank adds nothing for rows that it does not have.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[<"tensor">], 12>, <[], 6>]>>
  %r = train.embedding %a0, %a1 : (tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[<"tensor">], 12>, <[], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>], partial = [<"tensor">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a1 = train.fill {value = 0.0 : f64} : () -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 1}}
  %r = train.embedding %a0, %a1 : (tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[<"tensor">], 12>, <[], 6>]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r = train.embedding %a0, %a1 : (tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[<"tensor">], 12>, <[], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r = train.embedding %a0, %a1 : (tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
}

// -----

// Both operands are legal, but one axis cannot split two dimensions of the result.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"data">], 6>]>>
  // expected-error @+1 {{has no legal result: D2: an axis may be used once in a layout}}
  %r = train.embedding %a0, %a1 : (tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"data">], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>
  %r = train.embedding_grad %a0, %a1 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>) -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">, <"context">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %r = train.embedding_grad %a0, %a1 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a2 = train.fill {value = 0.0 : f64} : () -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
  %r = train.embedding_grad %a0, %a1, %a2 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>) -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8xi32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>
  // expected-error @+1 {{T3: operands 0 and 1 must be split alike in dimensions 0 and 0}}
  %r = train.embedding_grad %a0, %a1 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>) -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T3: operands 0 and 1 must be split alike in dimensions 1 and 1}}
  %r = train.embedding_grad %a0, %a1 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">, <"context">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>], partial = [<"tensor">]>>
  %a1 = train.input "1" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T2: a Partial}}
  %r = train.embedding_grad %a0, %a1 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>], partial = [<"tensor">]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
}

// -----

// A gradient is a sum over all tokens.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r = train.embedding_grad %a0, %a1 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a2 = train.input "2" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  // expected-error @+1 {{T6: an accumulator has the layout of its result}}
  %r = train.embedding_grad %a0, %a1, %a2 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>) -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %r = train.bias_add %a0, %a1 : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>
  %r = train.bias_add %a0, %a1 : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  // expected-error @+1 {{T3: operands 0 and 1 must be split alike in dimensions 2 and 0}}
  %r = train.bias_add %a0, %a1 : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>
  // expected-error @+1 {{T3: operands 0 and 1 must be split alike in dimensions 2 and 0}}
  %r = train.bias_add %a0, %a1 : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.fill {value = 0.0 : f64} : () -> tensor<6xf32, #dist.layout<@mesh, [<[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 1}}
  %r = train.bias_add %a0, %a1 : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>], partial = [<"data">]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
}

// -----

// Each rank would add the bias.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 0}}
  %r = train.bias_add %a0, %a1 : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r = train.bias_add %a0, %a1 : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %r = train.bias_grad %a0 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
}

// -----

// Position segments stay where their positions are.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %r = train.bias_grad %a0 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>) -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"context">], 8>, <[], 6>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %r = train.bias_grad %a0 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>) -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 6>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.fill {value = 0.0 : f64} : () -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  %r = train.bias_grad %a0, %a1 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>) -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r = train.bias_grad %a0 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{T2: a Partial}}
  %r = train.bias_grad %a0 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>) -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  // expected-error @+1 {{T6: an accumulator has the layout of its result}}
  %r = train.bias_grad %a0, %a1 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>) -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
}
