// RUN: recipe-opt %s --verify-layouts --verify-diagnostics --split-input-file
// T1 to T4, T6: norms need whole rows.

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %r:3 = train.layer_norm %a0, %a1, %a2 {eps = 1.0e-5 : f64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %r:2 = train.rms_norm %a0, %a1 {eps = 1.0e-5 : f64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>
  // expected-error @+1 {{T4: a row must be whole on each rank}}
  %r:3 = train.layer_norm %a0, %a1, %a2 {eps = 1.0e-5 : f64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 0}}
  %r:3 = train.layer_norm %a0, %a1, %a2 {eps = 1.0e-5 : f64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a2 = train.fill {value = 0.0 : f64} : () -> tensor<6xf32, #dist.layout<@mesh, [<[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 2}}
  %r:3 = train.layer_norm %a0, %a1, %a2 {eps = 1.0e-5 : f64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>], partial = [<"data">]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  // expected-error @+1 {{T3: operands 0 and 1 must be split alike in dimensions 2 and 0}}
  %r:3 = train.layer_norm %a0, %a1, %a2 {eps = 1.0e-5 : f64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>
  // expected-error @+1 {{T3: operands 0 and 2 must be split alike in dimensions 2 and 0}}
  %r:3 = train.layer_norm %a0, %a1, %a2 {eps = 1.0e-5 : f64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r:3 = train.layer_norm %a0, %a1, %a2 {eps = 1.0e-5 : f64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  // expected-error @+1 {{the layout of result 1 follows from the operands}}
  %r:3 = train.layer_norm %a0, %a1, %a2 {eps = 1.0e-5 : f64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  // expected-error @+1 {{the layout of result 2 follows from the operands}}
  %r:3 = train.layer_norm %a0, %a1, %a2 {eps = 1.0e-5 : f64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>
  // expected-error @+1 {{T4: a row must be whole on each rank}}
  %r:2 = train.rms_norm %a0, %a1 {eps = 1.0e-5 : f64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 0}}
  %r:2 = train.rms_norm %a0, %a1 {eps = 1.0e-5 : f64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.fill {value = 0.0 : f64} : () -> tensor<6xf32, #dist.layout<@mesh, [<[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 1}}
  %r:2 = train.rms_norm %a0, %a1 {eps = 1.0e-5 : f64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>], partial = [<"data">]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>
  // expected-error @+1 {{T3: operands 0 and 1 must be split alike in dimensions 2 and 0}}
  %r:2 = train.rms_norm %a0, %a1 {eps = 1.0e-5 : f64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r:2 = train.rms_norm %a0, %a1 {eps = 1.0e-5 : f64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  // expected-error @+1 {{the layout of result 1 follows from the operands}}
  %r:2 = train.rms_norm %a0, %a1 {eps = 1.0e-5 : f64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a4 = train.input "4" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a4 = train.input "4" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a5 = train.fill {value = 0.0 : f64} : () -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  %a6 = train.fill {value = 0.0 : f64} : () -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a4 = train.input "4" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T1: operands must have one layout}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a4 = train.input "4" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T4: a row must be whole on each rank}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a4 = train.input "4" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T3: operands 1 and 2 must be split alike in dimensions 2 and 0}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>
  %a4 = train.input "4" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T3: operands 1 and 3 must be split alike in dimensions 0 and 0}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>
  %a4 = train.input "4" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T3: operands 1 and 3 must be split alike in dimensions 1 and 1}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a4 = train.input "4" : tensor<4x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>
  // expected-error @+1 {{T3: operands 1 and 4 must be split alike in dimensions 0 and 0}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a4 = train.input "4" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>
  // expected-error @+1 {{T3: operands 1 and 4 must be split alike in dimensions 1 and 1}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a4 = train.input "4" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 0}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a4 = train.input "4" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a5 = train.input "5" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  %a6 = train.fill {value = 0.0 : f64} : () -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{T6: an accumulator has the layout of its result}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a4 = train.input "4" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a5 = train.fill {value = 0.0 : f64} : () -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  %a6 = train.input "6" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  // expected-error @+1 {{T6: an accumulator has the layout of its result}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

// The gradient of a gain is a sum over all tokens.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a4 = train.input "4" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{the layout of result 1 follows from the operands}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

// The gradient of a gain is a sum over all tokens.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a4 = train.input "4" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{the layout of result 2 follows from the operands}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %r:2 = train.rms_norm_grad %a0, %a1, %a2, %a3 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a4 = train.fill {value = 0.0 : f64} : () -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  %r:2 = train.rms_norm_grad %a0, %a1, %a2, %a3, %a4 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T1: operands must have one layout}}
  %r:2 = train.rms_norm_grad %a0, %a1, %a2, %a3 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T4: a row must be whole on each rank}}
  %r:2 = train.rms_norm_grad %a0, %a1, %a2, %a3 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T3: operands 1 and 2 must be split alike in dimensions 2 and 0}}
  %r:2 = train.rms_norm_grad %a0, %a1, %a2, %a3 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[<"tensor">], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>
  // expected-error @+1 {{T3: operands 1 and 3 must be split alike in dimensions 0 and 0}}
  %r:2 = train.rms_norm_grad %a0, %a1, %a2, %a3 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>
  // expected-error @+1 {{T3: operands 1 and 3 must be split alike in dimensions 1 and 1}}
  %r:2 = train.rms_norm_grad %a0, %a1, %a2, %a3 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 0}}
  %r:2 = train.rms_norm_grad %a0, %a1, %a2, %a3 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %a4 = train.input "4" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  // expected-error @+1 {{T6: an accumulator has the layout of its result}}
  %r:2 = train.rms_norm_grad %a0, %a1, %a2, %a3, %a4 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>)
}

// -----

// The gradient of a gain is a sum over all tokens.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>
  %a3 = train.input "3" : tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{the layout of result 1 follows from the operands}}
  %r:2 = train.rms_norm_grad %a0, %a1, %a2, %a3 {batch_nodes = 1 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@mesh, [<[], 6>]>>, tensor<4x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>)
}
