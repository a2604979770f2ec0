// RUN: recipe-opt %s --verify-layouts --verify-diagnostics --split-input-file
// T2, T3, T4, T6: the loss.

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %r:2 = train.linear_cross_entropy %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>
  %r:2 = train.linear_cross_entropy %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[<"context">], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[<"context">], 8>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T4: a row must be whole on each rank}}
  %r:2 = train.linear_cross_entropy %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[<"tensor">], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T4: the vocabulary's weight must be whole on each rank}}
  %r:2 = train.linear_cross_entropy %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[<"tensor">], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T4: the vocabulary's weight must be whole on each rank}}
  %r:2 = train.linear_cross_entropy %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[<"tensor">], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>
  // expected-error @+1 {{T3: operands 0 and 2 must be split alike in dimensions 0 and 0}}
  %r:2 = train.linear_cross_entropy %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T3: operands 0 and 2 must be split alike in dimensions 1 and 1}}
  %r:2 = train.linear_cross_entropy %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 0}}
  %r:2 = train.linear_cross_entropy %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.fill {value = 0.0 : f64} : () -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 1}}
  %r:2 = train.linear_cross_entropy %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>)
}

// -----

// The mean over one rank is not the mean.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r:2 = train.linear_cross_entropy %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>)
}

// -----

// The mean over one rank is not the mean.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{the layout of result 1 follows from the operands}}
  %r:2 = train.linear_cross_entropy %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %r:4 = train.linear_cross_entropy_grad %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a3 = train.fill {value = 0.0 : f64} : () -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>
  %a4 = train.fill {value = 0.0 : f64} : () -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>
  %a5 = train.fill {value = 0.0 : f64} : () -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
  %r:4 = train.linear_cross_entropy_grad %a0, %a1, %a2, %a3, %a4, %a5 {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>
  %r:4 = train.linear_cross_entropy_grad %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[<"context">], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[<"context">], 8>], partial = [<"data">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">, <"context">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a3 = train.input "3" : tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
  %a4 = train.fill {value = 0.0 : f64} : () -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>
  %a5 = train.fill {value = 0.0 : f64} : () -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{T6: an accumulator has the layout of its result}}
  %r:4 = train.linear_cross_entropy_grad %a0, %a1, %a2, %a3, %a4, %a5 {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a3 = train.fill {value = 0.0 : f64} : () -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>
  %a4 = train.input "4" : tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
  %a5 = train.fill {value = 0.0 : f64} : () -> tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{T6: an accumulator has the layout of its result}}
  %r:4 = train.linear_cross_entropy_grad %a0, %a1, %a2, %a3, %a4, %a5 {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a3 = train.fill {value = 0.0 : f64} : () -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>
  %a4 = train.fill {value = 0.0 : f64} : () -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>
  %a5 = train.input "5" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  // expected-error @+1 {{T6: an accumulator has the layout of its result}}
  %r:4 = train.linear_cross_entropy_grad %a0, %a1, %a2, %a3, %a4, %a5 {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r:4 = train.linear_cross_entropy_grad %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{the layout of result 1 follows from the operands}}
  %r:4 = train.linear_cross_entropy_grad %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{the layout of result 2 follows from the operands}}
  %r:4 = train.linear_cross_entropy_grad %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{the layout of result 3 follows from the operands}}
  %r:4 = train.linear_cross_entropy_grad %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[<"tensor">], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T4: the vocabulary's weight must be whole on each rank}}
  %r:4 = train.linear_cross_entropy_grad %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[<"tensor">], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>
  // expected-error @+1 {{T3: operands 0 and 2 must be split alike in dimensions 0 and 0}}
  %r:4 = train.linear_cross_entropy_grad %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>) -> (tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>], partial = [<"data">]>>)
}

// -----

// Of each token.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %r:2 = train.linear_cross_entropy %a0, %a1, %a2 {vocab_segments = 8 : i64, batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<12x6xf32, #dist.layout<@mesh, [<[], 12>, <[], 6>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>)
}
