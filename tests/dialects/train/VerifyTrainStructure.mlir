// RUN: recipe-opt %s --verify-diagnostics --split-input-file

// expected-error @+1 {{a variable has a static tensor type, got: 'tensor<?x4xf32>'}}
train.variable @w : tensor<?x4xf32> parameter {hf_name = "w"}

// -----

// expected-error @+1 {{a parameter needs 'hf_name'}}
train.variable @w : tensor<3x4xf32> parameter

// -----

// expected-error @+1 {{'use' needs 'of'}}
train.variable @g : tensor<3x4xf32> gradient {use = 0 : i64}

// -----

// expected-error @+1 {{'of' names no variable: @w}}
train.variable @g : tensor<3x4xf32> gradient {of = @w, use = 0 : i64}

// -----

// expected-error @+1 {{'hf_slice' is [dim, offset] and needs 'hf_shape' of the same rank, got: array<i64: 0, 0>}}
train.variable @w : tensor<3x4xf32> parameter {hf_name = "w", hf_slice = array<i64: 0, 0>}

// -----

// expected-error @+1 {{'hf_slice' is [dim, offset] and needs 'hf_shape' of the same rank, got: array<i64: 0, 0>}}
train.variable @w : tensor<3x4xf32> parameter {hf_name = "w", hf_slice = array<i64: 0, 0>, hf_shape = array<i64: 12>}

// -----

// expected-error @+1 {{'hf_slice' is [dim, offset] and needs 'hf_shape' of the same rank, got: array<i64: 0>}}
train.variable @w : tensor<3x4xf32> parameter {hf_name = "w", hf_slice = array<i64: 0>, hf_shape = array<i64: 3, 4>}

// -----

// expected-error @+1 {{without 'hf_slice' a variable has the shape of its tensor, got: 'tensor<3x4xf32>' and array<i64: 4, 3>}}
train.variable @w : tensor<3x4xf32> parameter {hf_name = "w", hf_shape = array<i64: 4, 3>}

// -----

// expected-error @+1 {{'hf_slice' is along a dimension of the tensor, or [-1, 0], got: array<i64: 2, 0>}}
train.variable @w : tensor<3x4xf32> parameter {hf_name = "w", hf_slice = array<i64: 2, 0>, hf_shape = array<i64: 3, 4>}

// -----

// expected-error @+1 {{'hf_slice' is along a dimension of the tensor, or [-1, 0], got: array<i64: -1, 3>}}
train.variable @w : tensor<3x4xf32> parameter {hf_name = "w", hf_slice = array<i64: -1, 3>, hf_shape = array<i64: 3, 4>}

// -----

// Past the end.
// expected-error @+1 {{a slice lies inside its tensor, got: 'tensor<3x4xf32>' at array<i64: 1, 9> of array<i64: 3, 12>}}
train.variable @w : tensor<3x4xf32> parameter {hf_name = "w", hf_slice = array<i64: 1, 9>, hf_shape = array<i64: 3, 12>}

// -----

// The last place that fits.
train.variable @w : tensor<3x4xf32> parameter {hf_name = "w", hf_slice = array<i64: 1, 8>, hf_shape = array<i64: 3, 12>}

// -----

// expected-error @+1 {{a slice lies inside its tensor, got: 'tensor<3x4xf32>' at array<i64: 1, -4> of array<i64: 3, 12>}}
train.variable @w : tensor<3x4xf32> parameter {hf_name = "w", hf_slice = array<i64: 1, -4>, hf_shape = array<i64: 3, 12>}

// -----

// Other dimensions are whole.
// expected-error @+1 {{a slice lies inside its tensor, got: 'tensor<3x4xf32>' at array<i64: 1, 0> of array<i64: 4, 12>}}
train.variable @w : tensor<3x4xf32> parameter {hf_name = "w", hf_slice = array<i64: 1, 0>, hf_shape = array<i64: 4, 12>}

// -----

// expected-error @+1 {{a slice lies inside its tensor, got: 'tensor<3x4xf32>' at array<i64: -1, 0> of array<i64: 3, 12>}}
train.variable @w : tensor<3x4xf32> parameter {hf_name = "w", hf_slice = array<i64: -1, 0>, hf_shape = array<i64: 3, 12>}

// -----

// expected-error @+1 {{'init' is {normal = stddev} or {constant = value}, got: {uniform = 1.000000e+00 : f64}}}
train.variable @w : tensor<3xf32> parameter {hf_name = "w", init = {uniform = 1.0 : f64}}

// -----

// expected-error @+1 {{'init' is {normal = stddev} or {constant = value}, got: {constant = 0.000000e+00 : f64, normal = 1.000000e+00 : f64}}}
train.variable @w : tensor<3xf32> parameter {hf_name = "w", init = {normal = 1.0 : f64, constant = 0.0 : f64}}

// -----

// expected-error @+1 {{'init' is {normal = stddev} or {constant = value}, got: {constant = 1 : i64}}}
train.variable @w : tensor<3xf32> parameter {hf_name = "w", init = {constant = 1 : i64}}

// -----

// expected-error @+1 {{the standard deviation of 'init' must not be negative, got: -1.000000e+00 : f64}}
train.variable @w : tensor<3xf32> parameter {hf_name = "w", init = {normal = -1.0 : f64}}

// -----

// expected-error @+1 {{attribute 'type' failed to satisfy constraint: type attribute of ranked tensor of any type values}}
"train.variable"() {sym_name = "w", type = f32, role = #train<role loss>} : () -> ()

// -----

// expected-error @+2 {{expected ::recipe::train::Role to be one of: parameter, adam_m, adam_v, gradient, pending, loss, output}}
// expected-error @+1 {{failed to parse Train_RoleAttr parameter 'value'}}
train.variable @w : tensor<3xf32> weight {}

// -----

train.graph @g {
  // expected-error @+1 {{names no variable: @w}}
  %0 = train.read @w : tensor<3xf32>
}

// -----

train.graph @g {
  %0 = train.input "tokens" : tensor<3xi32>
  // expected-error @+1 {{names no variable: @g}}
  train.write @g, %0 : tensor<3xi32>
}

// -----

train.variable @w : tensor<3xf32> loss
train.graph @g {
  // expected-error @+1 {{a variable keeps its type, got: 'tensor<4xf32>' for 'tensor<3xf32>'}}
  %0 = train.read @w : tensor<4xf32>
}

// -----

train.variable @w : tensor<3xf32> loss
train.graph @g {
  %0 = train.input "tokens" : tensor<3xi32>
  // expected-error @+1 {{a variable keeps its type, got: 'tensor<3xi32>' for 'tensor<3xf32>'}}
  train.write @w, %0 : tensor<3xi32>
}

// -----

train.graph @g {
  // expected-error @+1 {{result #0 must be statically shaped tensor of any type values, but got 'tensor<?xi32>'}}
  %0 = train.input "tokens" : tensor<?xi32>
}

// -----

train.variable @w : tensor<3xf32> loss
train.graph @g {
  %0 = train.read @w : tensor<3xf32>
  train.write @w, %0 : tensor<3xf32>
  // expected-error @+1 {{a variable is read before it is written, got: @w}}
  %1 = train.read @w : tensor<3xf32>
}

// -----

train.variable @w : tensor<3xf32> loss
train.graph @g {
  %0 = train.read @w : tensor<3xf32>
  train.write @w, %0 : tensor<3xf32>
  // expected-error @+1 {{a variable is written once in a graph, got: @w}}
  train.write @w, %0 : tensor<3xf32>
}

// -----

train.graph @g {
  train.backward_begin
  // expected-error @+1 {{a graph has one backward part}}
  train.backward_begin
}

// -----

train.graph @g {
  // expected-error @+1 {{'train.graph' op symbol's parent must have the SymbolTable trait}}
  train.graph @h {
  }
}
