// RUN: recipe-opt %s --verify-diagnostics --split-input-file

train.variable @x : tensor<3x4xf32> loss
train.graph @g {
  %0 = train.read @x : tensor<3x4xf32>
  // expected-error @+1 {{one block argument per input, got: 2 and 1}}
  %1 = train.kernel "k"(%0) : (tensor<3x4xf32>) -> tensor<3x4xf32> {
  ^bb0(%a: tensor<3x4xf32>, %b: tensor<3x4xf32>):
    train.yield %a : tensor<3x4xf32>
  }
}

// -----

train.variable @x : tensor<3x4xf32> loss
train.graph @g {
  %0 = train.read @x : tensor<3x4xf32>
  // expected-error @+1 {{kernel bodies take local, plain tensors, got: 'tensor<3x4xf32, #dist.layout<@mesh, [<[], 3>, <[], 4>]>>'}}
  %1 = train.kernel "k"(%0) : (tensor<3x4xf32>) -> tensor<3x4xf32> {
  ^bb0(%a: tensor<3x4xf32, #dist.layout<@mesh, [<[], 3>, <[], 4>]>>):
    %b = train.read @x : tensor<3x4xf32>
    train.yield %b : tensor<3x4xf32>
  }
}

// -----

train.variable @x : tensor<3x4xf32> loss
train.graph @g {
  %0 = train.read @x : tensor<3x4xf32>
  // expected-error @+1 {{kernel bodies take local, plain tensors, got: 'f32'}}
  train.kernel "k"(%0) : (tensor<3x4xf32>) -> () {
  ^bb0(%a: f32):
    train.yield
  }
}

// -----

train.variable @x : tensor<3x4xf32> loss
train.graph @g {
  %0 = train.read @x : tensor<3x4xf32>
  // expected-error @+1 {{a block argument has its input's type, got: 'tensor<3x4xi32>' for 'tensor<3x4xf32>'}}
  train.kernel "k"(%0) : (tensor<3x4xf32>) -> () {
  ^bb0(%a: tensor<3x4xi32>):
    train.yield
  }
}

// -----

train.variable @x : tensor<3x4xf32> loss
train.graph @g {
  %0 = train.read @x : tensor<3x4xf32>
  // expected-error @+1 {{a block argument has its input's type, got: 'tensor<2x4xf32>' for 'tensor<3x4xf32>'}}
  train.kernel "k"(%0) : (tensor<3x4xf32>) -> () {
  ^bb0(%a: tensor<2x4xf32>):
    train.yield
  }
}

// -----

train.variable @x : tensor<3x4xf32> loss
train.graph @g {
  %0 = train.read @x : tensor<3x4xf32>
  // expected-error @+1 {{one yielded value per output, got: 0 and 1}}
  %1 = train.kernel "k"(%0) : (tensor<3x4xf32>) -> tensor<3x4xf32> {
  ^bb0(%a: tensor<3x4xf32>):
    train.yield
  }
}

// -----

train.variable @x : tensor<3x4xf32> loss
train.graph @g {
  %0 = train.read @x : tensor<3x4xf32>
  // expected-error @+1 {{a yielded value has its output's type, got: 'tensor<3x4xf32>' for 'tensor<3x5xf32>'}}
  %1 = train.kernel "k"(%0) : (tensor<3x4xf32>) -> tensor<3x5xf32> {
  ^bb0(%a: tensor<3x4xf32>):
    train.yield %a : tensor<3x4xf32>
  }
}

// -----

train.graph @g {
  // expected-error @+1 {{expects a non-empty block}}
  train.kernel "k"() : () -> () {
  ^bb0:
  }
}

// -----

train.graph @g {
  // expected-error @+1 {{'in_place' is pairs of a result and the operand it may overwrite, got: array<i64: 0>}}
  train.kernel "k"() attributes {in_place = array<i64: 0>} : () -> () {
    train.yield
  }
}

// -----

train.variable @x : tensor<3x4xf32> loss
train.graph @g {
  %0 = train.read @x : tensor<3x4xf32>
  // expected-error @+1 {{'in_place' is pairs of a result and the operand it may overwrite, got: array<i64: 0, 1>}}
  %1 = train.kernel "k"(%0) attributes {in_place = array<i64: 0, 1>} : (tensor<3x4xf32>) -> tensor<3x4xf32> {
  ^bb0(%a: tensor<3x4xf32>):
    train.yield %a : tensor<3x4xf32>
  }
}

// -----

train.graph @g {
  // expected-error @+1 {{sizes of temporaries must not be negative, got: array<i64: 64, -1>}}
  train.kernel "k"() attributes {temps = array<i64: 64, -1>} : () -> () {
    train.yield
  }
}

// -----

train.variable @x : tensor<3x4xf32> loss
train.graph @g {
  %0 = train.read @x : tensor<3x4xf32>
  // expected-note @+1 {{required by region isolation constraints}}
  %1 = train.kernel "k"() : () -> tensor<3x4xf32> {
    // expected-error @+1 {{using value defined outside the region}}
    train.yield %0 : tensor<3x4xf32>
  }
}
