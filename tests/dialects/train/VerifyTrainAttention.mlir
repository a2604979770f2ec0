// RUN: recipe-opt %s --verify-diagnostics --split-input-file

train.graph @g {
  %q = train.input "q" : tensor<3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  // expected-error @+1 {{'q' must have rank 3, got: 'tensor<3x8xf32>'}}
  %0, %1, %2 = train.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>)
}

// -----

train.graph @g {
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  // expected-error @+1 {{kv heads must divide heads and heads must divide channels, got: 3, 4 and 8}}
  %0, %1, %2 = train.attention %q, %k, %v {heads = 4 : i64, kv_heads = 3 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>)
}

// -----

train.graph @g {
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  // expected-error @+1 {{kv heads must divide heads and heads must divide channels, got: 1, 3 and 8}}
  %0, %1, %2 = train.attention %q, %k, %v {heads = 3 : i64, kv_heads = 1 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>)
}

// -----

train.graph @g {
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  // expected-error @+1 {{kv heads must divide heads and heads must divide channels, got: 2, 0 and 8}}
  %0, %1, %2 = train.attention %q, %k, %v {heads = 0 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>)
}

// -----

train.graph @g {
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  // expected-error @+1 {{kv heads must divide heads and heads must divide channels, got: 0, 4 and 8}}
  %0, %1, %2 = train.attention %q, %k, %v {heads = 4 : i64, kv_heads = 0 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>)
}

// -----

train.graph @g {
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  // expected-error @+1 {{kv heads must divide heads and heads must divide channels, got: -2, 4 and 8}}
  %0, %1, %2 = train.attention %q, %k, %v {heads = 4 : i64, kv_heads = -2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>)
}

// -----

train.graph @g {
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x8xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  // expected-error @+1 {{'k' must have shape [2, 3, 4], got: 'tensor<2x3x8xf32>'}}
  %0, %1, %2 = train.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>)
}

// -----

train.graph @g {
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x2x4xf32>
  // expected-error @+1 {{'v' must have shape [2, 3, 4], got: 'tensor<2x2x4xf32>'}}
  %0, %1, %2 = train.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x2x4xf32>) -> (tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>)
}

// -----

train.graph @g {
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  // expected-error @+1 {{'dropout' must be in [0, 1), got: 1.000000e+00}}
  %0, %1, %2 = train.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 1.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>)
}

// -----

train.graph @g {
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  // expected-error @+1 {{'dropout' must be in [0, 1), got: -5.000000e-01}}
  %0, %1, %2 = train.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = -0.5 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>)
}

// -----

train.graph @g {
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  // expected-error @+1 {{the result must have shape [2, 3, 8], got: 'tensor<2x3x4xf32>'}}
  %0, %1, %2 = train.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>)
}

// -----

train.graph @g {
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  // expected-error @+1 {{'row_max' must have shape [2, 4, 3], got: 'tensor<2x3x4xf32>'}}
  %0, %1, %2 = train.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x4x3xf32>)
}

// -----

train.graph @g {
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  // expected-error @+1 {{'row_sum' must have shape [2, 4, 3], got: 'tensor<2x2x3xf32>'}}
  %0, %1, %2 = train.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x2x3xf32>)
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x8xf32>
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  %o = train.input "o" : tensor<2x3x8xf32>
  %m = train.input "m" : tensor<2x4x3xf32>
  %s = train.input "s" : tensor<2x4x3xf32>
  // expected-error @+1 {{kv heads must divide heads and heads must divide channels, got: 2, 3 and 8}}
  %0, %1, %2 = train.attention_grad %dy, %q, %k, %v, %o, %m, %s {heads = 3 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>)
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x8xf32>
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  %o = train.input "o" : tensor<2x3x8xf32>
  %m = train.input "m" : tensor<2x4x3xf32>
  %s = train.input "s" : tensor<2x4x3xf32>
  // expected-error @+1 {{'dropout' must be in [0, 1), got: 1.000000e+00}}
  %0, %1, %2 = train.attention_grad %dy, %q, %k, %v, %o, %m, %s {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 1.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>)
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x8xf32>
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x8xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  %o = train.input "o" : tensor<2x3x8xf32>
  %m = train.input "m" : tensor<2x4x3xf32>
  %s = train.input "s" : tensor<2x4x3xf32>
  // expected-error @+1 {{'k' must have shape [2, 3, 4], got: 'tensor<2x3x8xf32>'}}
  %0, %1, %2 = train.attention_grad %dy, %q, %k, %v, %o, %m, %s {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>)
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x4xf32>
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  %o = train.input "o" : tensor<2x3x8xf32>
  %m = train.input "m" : tensor<2x4x3xf32>
  %s = train.input "s" : tensor<2x4x3xf32>
  // expected-error @+1 {{'dy', 'result' and 'dq' must have shape [2, 3, 8], got: 'tensor<2x3x4xf32>'}}
  %0, %1, %2 = train.attention_grad %dy, %q, %k, %v, %o, %m, %s {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x4xf32>, tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>)
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x8xf32>
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  %o = train.input "o" : tensor<2x3x4xf32>
  %m = train.input "m" : tensor<2x4x3xf32>
  %s = train.input "s" : tensor<2x4x3xf32>
  // expected-error @+1 {{'dy', 'result' and 'dq' must have shape [2, 3, 8], got: 'tensor<2x3x4xf32>'}}
  %0, %1, %2 = train.attention_grad %dy, %q, %k, %v, %o, %m, %s {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>)
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x8xf32>
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  %o = train.input "o" : tensor<2x3x8xf32>
  %m = train.input "m" : tensor<2x4x3xf32>
  %s = train.input "s" : tensor<2x4x3xf32>
  // expected-error @+1 {{'dy', 'result' and 'dq' must have shape [2, 3, 8], got: 'tensor<2x3x4xf32>'}}
  %0, %1, %2 = train.attention_grad %dy, %q, %k, %v, %o, %m, %s {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>)
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x8xf32>
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  %o = train.input "o" : tensor<2x3x8xf32>
  %m = train.input "m" : tensor<2x3x4xf32>
  %s = train.input "s" : tensor<2x4x3xf32>
  // expected-error @+1 {{a row statistic must have shape [2, 4, 3], got: 'tensor<2x3x4xf32>'}}
  %0, %1, %2 = train.attention_grad %dy, %q, %k, %v, %o, %m, %s {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x4x3xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>)
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x8xf32>
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  %o = train.input "o" : tensor<2x3x8xf32>
  %m = train.input "m" : tensor<2x4x3xf32>
  %s = train.input "s" : tensor<2x3x4xf32>
  // expected-error @+1 {{a row statistic must have shape [2, 4, 3], got: 'tensor<2x3x4xf32>'}}
  %0, %1, %2 = train.attention_grad %dy, %q, %k, %v, %o, %m, %s {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>)
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x8xf32>
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  %o = train.input "o" : tensor<2x3x8xf32>
  %m = train.input "m" : tensor<2x4x3xf32>
  %s = train.input "s" : tensor<2x4x3xf32>
  // expected-error @+1 {{'dk' and 'dv' must have shape [2, 3, 4], got: 'tensor<2x3x8xf32>'}}
  %0, %1, %2 = train.attention_grad %dy, %q, %k, %v, %o, %m, %s {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x4xf32>)
}

// -----

train.graph @g {
  %dy = train.input "dy" : tensor<2x3x8xf32>
  %q = train.input "q" : tensor<2x3x8xf32>
  %k = train.input "k" : tensor<2x3x4xf32>
  %v = train.input "v" : tensor<2x3x4xf32>
  %o = train.input "o" : tensor<2x3x8xf32>
  %m = train.input "m" : tensor<2x4x3xf32>
  %s = train.input "s" : tensor<2x4x3xf32>
  // expected-error @+1 {{'dk' and 'dv' must have shape [2, 3, 4], got: 'tensor<2x3x8xf32>'}}
  %0, %1, %2 = train.attention_grad %dy, %q, %k, %v, %o, %m, %s {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x8xf32>)
}

// -----

train.graph @g {
  %q = train.input "q" : tensor<2x4x8xbf16>
  %k = train.input "k" : tensor<2x4x8xf32>
  // expected-error @+1 {{these operands must have one element type, got: 'tensor<2x4x8xbf16>' and 'tensor<2x4x8xf32>'}}
  %0, %1, %2 = train.attention %q, %k, %k {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x4x8xbf16>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>)
}

// -----

train.graph @g {
  %q = train.input "q" : tensor<2x3x8xbf16>
  %k = train.input "k" : tensor<2x3x8xbf16>
  // expected-error @+1 {{positions and channels of a head of bf16 operands must be even, got: 'tensor<2x3x8xbf16>' and 2 heads}}
  %0, %1, %2 = train.attention %q, %k, %k {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xbf16>, tensor<2x3x8xbf16>, tensor<2x3x8xbf16>) -> (tensor<2x3x8xf32>, tensor<2x2x3xf32>, tensor<2x2x3xf32>)
}

// -----

train.graph @g {
  %q = train.input "q" : tensor<2x4x6xbf16>
  %k = train.input "k" : tensor<2x4x6xbf16>
  // expected-error @+1 {{positions and channels of a head of bf16 operands must be even, got: 'tensor<2x4x6xbf16>' and 2 heads}}
  %0, %1, %2 = train.attention %q, %k, %k {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x4x6xbf16>, tensor<2x4x6xbf16>, tensor<2x4x6xbf16>) -> (tensor<2x4x6xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>)
}

// -----

train.graph @g {
  %q = train.input "q" : tensor<2x4x8xf32>
  %k = train.input "k" : tensor<2x4x8xf32>
  // expected-error @+1 {{'bf16_order' is that of bf16 operands, got: 'tensor<2x4x8xf32>'}}
  %0, %1, %2 = train.attention %q, %k, %k {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64, bf16_order = #train<bf16_order blocks>} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>)
}
