// RUN: recipe-opt %s --verify-layouts --verify-diagnostics --split-input-file
// T1 to T4: position embedding and attention.

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>
  %a2 = train.input "2" : tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>
  %a3 = train.input "3" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %r = train.rope %a0, %a1, %a2, %a3 {heads = 1 : i64, inverse = false} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>
  %a2 = train.input "2" : tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>
  %a3 = train.input "3" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>
  %r = train.rope %a0, %a1, %a2, %a3 {heads = 1 : i64, inverse = false} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
}

// -----

// Heads may be split.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x12xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 12>]>>
  %a1 = train.input "1" : tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>
  %a2 = train.input "2" : tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>
  %a3 = train.input "3" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  %r = train.rope %a0, %a1, %a2, %a3 {heads = 2 : i64, inverse = false} : (tensor<4x8x12xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 12>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> tensor<4x8x12xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 12>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<8x3xf32, #dist.layout<@mesh, [<[<"context">], 8>, <[], 3>]>>
  %a2 = train.input "2" : tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>
  %a3 = train.input "3" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T4: a table must be whole on each rank}}
  %r = train.rope %a0, %a1, %a2, %a3 {heads = 1 : i64, inverse = false} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[<"context">], 8>, <[], 3>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>
  %a2 = train.input "2" : tensor<8x3xf32, #dist.layout<@mesh, [<[<"context">], 8>, <[], 3>]>>
  %a3 = train.input "3" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T4: a table must be whole on each rank}}
  %r = train.rope %a0, %a1, %a2, %a3 {heads = 1 : i64, inverse = false} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[<"context">], 8>, <[], 3>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
}

// -----

// A shard with the positions of another one.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>
  %a2 = train.input "2" : tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>
  %a3 = train.input "3" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{T3: operands 0 and 3 must be split alike in dimensions 1 and 1}}
  %r = train.rope %a0, %a1, %a2, %a3 {heads = 1 : i64, inverse = false} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>
  %a2 = train.input "2" : tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>
  %a3 = train.input "3" : tensor<4x8xi32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>
  // expected-error @+1 {{T3: operands 0 and 3 must be split alike in dimensions 0 and 0}}
  %r = train.rope %a0, %a1, %a2, %a3 {heads = 1 : i64, inverse = false} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>
  %a1 = train.input "1" : tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>
  %a2 = train.input "2" : tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>
  %a3 = train.input "3" : tensor<4x8xi32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>
  // expected-error @+1 {{T2: a Partial}}
  %r = train.rope %a0, %a1, %a2, %a3 {heads = 1 : i64, inverse = false} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[], 4>, <[], 8>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>
  %a2 = train.input "2" : tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>
  %a3 = train.input "3" : tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r = train.rope %a0, %a1, %a2, %a3 {heads = 1 : i64, inverse = false} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<8x3xf32, #dist.layout<@mesh, [<[], 8>, <[], 3>]>>, tensor<4x8xi32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %r:3 = train.attention %a0, %a1, %a2 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>)
}

// -----

// Split over heads.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %r:3 = train.attention %a0, %a1, %a2 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"tensor">], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"tensor">], 2>, <[], 8>]>>)
}

// -----

// Queries split over positions; keys whole.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %r:3 = train.attention %a0, %a1, %a2 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[<"context">], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[<"context">], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  // expected-error @+1 {{T3: operands 0 and 1 must be split alike in dimensions 0 and 0}}
  %r:3 = train.attention %a0, %a1, %a2 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  // expected-error @+1 {{T3: operands 0 and 2 must be split alike in dimensions 2 and 2}}
  %r:3 = train.attention %a0, %a1, %a2 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  // expected-error @+1 {{T4: positions of k and v must be whole on each rank}}
  %r:3 = train.attention %a0, %a1, %a2 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  // expected-error @+1 {{T4: positions of k and v must be whole on each rank}}
  %r:3 = train.attention %a0, %a1, %a2 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 0}}
  %r:3 = train.attention %a0, %a1, %a2 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 2>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.fill {value = 0.0 : f64} : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 1}}
  %r:3 = train.attention %a0, %a1, %a2 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 2>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.fill {value = 0.0 : f64} : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 2}}
  %r:3 = train.attention %a0, %a1, %a2 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 2>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r:3 = train.attention %a0, %a1, %a2 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  // expected-error @+1 {{the layout of result 1 follows from the operands}}
  %r:3 = train.attention %a0, %a1, %a2 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  // expected-error @+1 {{the layout of result 2 follows from the operands}}
  %r:3 = train.attention %a0, %a1, %a2 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 2>, <[], 8>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a3 = train.input "3" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a4 = train.input "4" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a5 = train.input "5" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  %a6 = train.input "6" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  %r:3 = train.attention_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>)
}

// -----

// Each rank has the share of its queries in the gradients of keys.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a3 = train.input "3" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a4 = train.input "4" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a5 = train.input "5" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[<"context">], 8>]>>
  %a6 = train.input "6" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[<"context">], 8>]>>
  %r:3 = train.attention_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[<"context">], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[<"context">], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>], partial = [<"context">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>], partial = [<"context">]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a3 = train.input "3" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a4 = train.input "4" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a5 = train.input "5" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  %a6 = train.input "6" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  // expected-error @+1 {{T1: operands must have one layout}}
  %r:3 = train.attention_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a3 = train.input "3" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a4 = train.input "4" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
  %a5 = train.input "5" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  %a6 = train.input "6" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  // expected-error @+1 {{T1: operands must have one layout}}
  %r:3 = train.attention_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
  %a3 = train.input "3" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a4 = train.input "4" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a5 = train.input "5" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  %a6 = train.input "6" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  // expected-error @+1 {{T3: operands 1 and 2 must be split alike in dimensions 0 and 0}}
  %r:3 = train.attention_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a3 = train.input "3" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a4 = train.input "4" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a5 = train.input "5" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  %a6 = train.input "6" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  // expected-error @+1 {{T4: positions of k and v must be whole on each rank}}
  %r:3 = train.attention_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a3 = train.input "3" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a4 = train.input "4" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a5 = train.input "5" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 2>, <[], 8>]>>
  %a6 = train.input "6" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  // expected-error @+1 {{T3: operands 1 and 5 must be split alike in dimensions 0 and 0}}
  %r:3 = train.attention_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a3 = train.input "3" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a4 = train.input "4" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a5 = train.input "5" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  %a6 = train.input "6" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"tensor">], 2>, <[], 8>]>>
  // expected-error @+1 {{T3: operands 1 and 6 must be split alike in dimensions 2 and 1}}
  %r:3 = train.attention_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"tensor">], 2>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a3 = train.input "3" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a4 = train.input "4" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a5 = train.input "5" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  %a6 = train.input "6" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[<"context">], 8>]>>
  // expected-error @+1 {{T3: operands 1 and 6 must be split alike in dimensions 1 and 2}}
  %r:3 = train.attention_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[<"context">], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.fill {value = 0.0 : f64} : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a3 = train.input "3" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a4 = train.input "4" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a5 = train.input "5" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  %a6 = train.input "6" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 0}}
  %r:3 = train.attention_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>], partial = [<"data">]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a3 = train.input "3" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a4 = train.input "4" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a5 = train.input "5" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  %a6 = train.input "6" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  // expected-error @+1 {{the layout of result 0 follows from the operands}}
  %r:3 = train.attention_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a3 = train.input "3" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a4 = train.input "4" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a5 = train.input "5" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  %a6 = train.input "6" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  // expected-error @+1 {{the layout of result 1 follows from the operands}}
  %r:3 = train.attention_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a3 = train.input "3" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a4 = train.input "4" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a5 = train.input "5" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  %a6 = train.input "6" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>
  // expected-error @+1 {{the layout of result 2 follows from the operands}}
  %r:3 = train.attention_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>)
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a2 = train.input "2" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a3 = train.input "3" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a4 = train.input "4" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>
  %a5 = train.input "5" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[<"context">], 8>]>>
  %a6 = train.input "6" : tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[<"context">], 8>]>>
  // expected-error @+1 {{the layout of result 1 follows from the operands}}
  %r:3 = train.attention_grad %a0, %a1, %a2, %a3, %a4, %a5, %a6 {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[<"context">], 8>]>>, tensor<4x2x8xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 2>, <[<"context">], 8>]>>) -> (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[<"context">], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>], partial = [<"context">]>>)
}
