// RUN: recipe-opt %s --verify-layouts --verify-diagnostics --split-input-file
// T2, T3, T4, T6: contractions.

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>
  %r = train.contract %a0, %a1 {form = #train<form nn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>
}

// -----

// Column parallel.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[<"tensor">], 4>]>>
  %r = train.contract %a0, %a1 {form = #train<form nn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[<"tensor">], 4>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[<"tensor">], 4>]>>
}

// -----

// Row parallel: the sum over the split dimension is Partial.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>
  %r = train.contract %a0, %a1 {form = #train<form nn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>], partial = [<"tensor">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<4x6xf32, #dist.layout<@mesh, [<[], 4>, <[<"tensor">], 6>]>>
  %r = train.contract %a0, %a1 {form = #train<form nt>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<4x6xf32, #dist.layout<@mesh, [<[], 4>, <[<"tensor">], 6>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>], partial = [<"tensor">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x6xf32, #dist.layout<@mesh, [<[<"tensor">], 4>, <[], 6>]>>
  %r = train.contract %a0, %a1 {form = #train<form nt>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x6xf32, #dist.layout<@mesh, [<[<"tensor">], 4>, <[], 6>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 4>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>
  // expected-error @+1 {{T3: operands 0 and 1 must be split alike in dimensions 2 and 0}}
  %r = train.contract %a0, %a1 {form = #train<form nn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>
  // expected-error @+1 {{T3: operands 0 and 1 must be split alike in dimensions 2 and 0}}
  %r = train.contract %a0, %a1 {form = #train<form nn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<4x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 6>]>>
  // expected-error @+1 {{T3: operands 0 and 1 must be split alike in dimensions 2 and 1}}
  %r = train.contract %a0, %a1 {form = #train<form nt>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<4x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 6>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>
}

// -----

// The reduction is missing.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r = train.contract %a0, %a1 {form = #train<form nn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>
  %a1 = train.input "1" : tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 0}}
  %r = train.contract %a0, %a1 {form = #train<form nn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 4>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.fill {value = 0.0 : f64} : () -> tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>], partial = [<"data">]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 1}}
  %r = train.contract %a0, %a1 {form = #train<form nn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>], partial = [<"data">]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 4>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[<"data">], 4>]>>
  // expected-error @+1 {{has no legal result: D2: an axis may be used once in a layout}}
  %r = train.contract %a0, %a1 {form = #train<form nn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[<"data">], 4>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>
  %r = train.contract %a0, %a1 {form = #train<form tn>, segments = array<i64: 0, 32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>) -> tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 4>]>>
  %r = train.contract %a0, %a1 {form = #train<form tn>, segments = array<i64: 0, 32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 4>]>>) -> tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>], partial = [<"data">, <"context">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>
  %r = train.contract %a0, %a1 {form = #train<form tn>, segments = array<i64: 0, 32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>) -> tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 4>]>>
  %r = train.contract %a0, %a1 {form = #train<form tn>, segments = array<i64: 0, 32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 4>]>>) -> tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[<"tensor">], 4>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>
  %a2 = train.fill {value = 0.0 : f64} : () -> tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>], partial = [<"data">]>>
  %r = train.contract %a0, %a1, %a2 {form = #train<form tn>, segments = array<i64: 0, 32>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>], partial = [<"data">]>>) -> tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>
  %a2 = train.input "2" : tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>
  // expected-error @+1 {{T6: an accumulator has the layout of its result}}
  %r = train.contract %a0, %a1, %a2 {form = #train<form tn>, segments = array<i64: 0, 32>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>) -> tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x4xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 4>]>>
  // expected-error @+1 {{T3: operands 0 and 1 must be split alike in dimensions 0 and 0}}
  %r = train.contract %a0, %a1 {form = #train<form tn>, segments = array<i64: 0, 32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x4xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 4>]>>) -> tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>
  // expected-error @+1 {{T3: operands 0 and 1 must be split alike in dimensions 1 and 1}}
  %r = train.contract %a0, %a1 {form = #train<form tn>, segments = array<i64: 0, 32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>) -> tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r = train.contract %a0, %a1 {form = #train<form tn>, segments = array<i64: 0, 32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>) -> tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>
}

// -----

// Split over the same axis, but not by the same tokens.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x4xf32, #dist.layout<@mesh, [<[], 4>, <[<"data">], 8>, <[], 4>]>>
  // expected-error @+1 {{T3: operands 0 and 1 must be split alike in dimensions 0 and 0}}
  %r = train.contract %a0, %a1 {form = #train<form tn>, segments = array<i64: 0, 32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x4xf32, #dist.layout<@mesh, [<[], 4>, <[<"data">], 8>, <[], 4>]>>) -> tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>], partial = [<"data">]>>
}

// -----

// Axes in the same order, but not of the same dimensions.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">, <"context">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 4>]>>
  // expected-error @+1 {{T3: operands 0 and 1 must be split alike in dimensions 0 and 0}}
  %r = train.contract %a0, %a1 {form = #train<form tn>, segments = array<i64: 0, 32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">, <"context">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 4>]>>) -> tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>], partial = [<"data">, <"context">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<32x6xf32, #dist.layout<@mesh, [<[], 32>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x4xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 4>]>>
  %r = train.contract %a0, %a1 {form = #train<form tn>, segments = array<i64: 0, 32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<32x6xf32, #dist.layout<@mesh, [<[], 32>, <[], 6>]>>, tensor<4x8x4xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 4>]>>) -> tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<32x6xf32, #dist.layout<@mesh, [<[<"data">], 32>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>
  // expected-error @+1 {{T4: a contracted dimension of operands of different rank must be whole on each rank}}
  %r = train.contract %a0, %a1 {form = #train<form tn>, segments = array<i64: 0, 32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<32x6xf32, #dist.layout<@mesh, [<[<"data">], 32>, <[], 6>]>>, tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>) -> tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>], partial = [<"data">]>>
}

// -----

// Tokens in one dimension.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<32x6xf32, #dist.layout<@mesh, [<[<"data">], 32>, <[], 6>]>>
  %a1 = train.input "1" : tensor<32x4xf32, #dist.layout<@mesh, [<[<"data">], 32>, <[], 4>]>>
  %r = train.contract %a0, %a1 {form = #train<form tn>, segments = array<i64: 0, 32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<32x6xf32, #dist.layout<@mesh, [<[<"data">], 32>, <[], 6>]>>, tensor<32x4xf32, #dist.layout<@mesh, [<[<"data">], 32>, <[], 4>]>>) -> tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<32x6xf32, #dist.layout<@mesh, [<[], 32>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<32x4xf32, #dist.layout<@mesh, [<[], 32>, <[], 4>]>>
  %r = train.contract %a0, %a1 {form = #train<form tn>, segments = array<i64: 0, 32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<32x6xf32, #dist.layout<@mesh, [<[], 32>, <[<"tensor">], 6>]>>, tensor<32x4xf32, #dist.layout<@mesh, [<[], 32>, <[], 4>]>>) -> tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a2 = train.input "2" : tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>
  %a3 = train.input "3" : tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>
  %r = train.contract %a0, %a1, %a2, %a3 {form = #train<form nn>, segments = array<i64: 0, 6, 0, 6>, operandSegmentSizes = array<i32: 2, 2, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>], partial = [<"tensor">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a2 = train.input "2" : tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>
  %a3 = train.input "3" : tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>
  // expected-error @+1 {{T3: all pairs must give one layout}}
  %r = train.contract %a0, %a1, %a2, %a3 {form = #train<form nn>, segments = array<i64: 0, 6, 0, 6>, operandSegmentSizes = array<i32: 2, 2, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a2 = train.input "2" : tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>
  %a3 = train.input "3" : tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>
  // expected-error @+1 {{T3: operands 1 and 3 must be split alike in dimensions 2 and 0}}
  %r = train.contract %a0, %a1, %a2, %a3 {form = #train<form nn>, segments = array<i64: 0, 6, 0, 6>, operandSegmentSizes = array<i32: 2, 2, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[], 6>, <[], 4>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>>
}

// -----

// Tokens that are split: segments are those of a rank, here one of 16 of 32 tokens.
dist.mesh @mesh ["data"] [2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %r = train.contract %a0, %a0 {form = #train<form tn>, segments = array<i64: 0, 16>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> tensor<6x6xf32, #dist.layout<@mesh, [<[], 6>, <[], 6>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data"] [2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  // expected-error @+1 {{'segments' must cover a rank's part of the dimension, got: 15 of 32 in pair 0}}
  %r = train.contract %a0, %a0 {form = #train<form tn>, segments = array<i64: 0, 15>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> tensor<6x6xf32, #dist.layout<@mesh, [<[], 6>, <[], 6>], partial = [<"data">]>>
}
