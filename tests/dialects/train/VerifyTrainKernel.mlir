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

// -----

train.variable @x : tensor<1x3x4xf32> loss
train.variable @w : tensor<4x4xf32> loss
train.graph @g {
  %0 = train.read @x : tensor<1x3x4xf32>
  %1 = train.read @w : tensor<4x4xf32>
  // expected-error @+1 {{'train.contract' reads its operands from memory, got what 'train.gelu' gives}}
  %2 = train.kernel "k"(%0, %1) : (tensor<1x3x4xf32>, tensor<4x4xf32>) -> tensor<1x3x4xf32> {
  ^bb0(%a: tensor<1x3x4xf32>, %b: tensor<4x4xf32>):
    %y = train.gelu %a : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
    %z = train.contract %y, %b {form = #train<form nn>, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 4>} : (tensor<1x3x4xf32>, tensor<4x4xf32>) -> tensor<1x3x4xf32>
    train.yield %z : tensor<1x3x4xf32>
  }
}

// -----

train.variable @x : tensor<1x3x4xf32> loss
train.variable @w : tensor<4x4xf32> loss
train.graph @g {
  %0 = train.read @x : tensor<1x3x4xf32>
  %1 = train.read @w : tensor<4x4xf32>
  // expected-error @+1 {{one region has one op that is not elementwise, got 'train.contract' and 'train.contract'}}
  %2 = train.kernel "k"(%0, %1) : (tensor<1x3x4xf32>, tensor<4x4xf32>) -> tensor<1x3x4xf32> {
  ^bb0(%a: tensor<1x3x4xf32>, %b: tensor<4x4xf32>):
    %y = train.contract %a, %b {form = #train<form nn>, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 4>} : (tensor<1x3x4xf32>, tensor<4x4xf32>) -> tensor<1x3x4xf32>
    %z = train.contract %a, %b {form = #train<form nn>, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 4>} : (tensor<1x3x4xf32>, tensor<4x4xf32>) -> tensor<1x3x4xf32>
    %s = train.add %y, %z : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
    train.yield %s : tensor<1x3x4xf32>
  }
}

// -----

train.variable @x : tensor<1x3x4xf32> loss
train.variable @small : tensor<1x3x2xf32> loss
train.graph @g {
  %0 = train.read @x : tensor<1x3x4xf32>
  %1 = train.read @small : tensor<1x3x2xf32>
  // expected-error @+1 {{the ops of a region work on one shape, got tensor<1x3x4xf32> and tensor<1x3x2xf32> of 'train.gelu'}}
  %2:2 = train.kernel "k"(%0, %1) : (tensor<1x3x4xf32>, tensor<1x3x2xf32>) -> (tensor<1x3x4xf32>, tensor<1x3x2xf32>) {
  ^bb0(%a: tensor<1x3x4xf32>, %b: tensor<1x3x2xf32>):
    %y = train.gelu %a : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
    %z = train.gelu %b : (tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
    train.yield %y, %z : tensor<1x3x4xf32>, tensor<1x3x2xf32>
  }
}

// -----

train.variable @x : tensor<1x3x4xf32> loss
train.graph @g {
  %0 = train.read @x : tensor<1x3x4xf32>
  // expected-error @+1 {{no kernel goes on from the registers of 'train.init_normal'}}
  %1 = train.kernel "k"(%0) : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  ^bb0(%a: tensor<1x3x4xf32>):
    %y = train.init_normal {stddev = 1.0 : f64, key = 1 : i64} : () -> tensor<1x3x4xf32>
    %z = train.add %a, %y : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
    train.yield %z : tensor<1x3x4xf32>
  }
}

// -----

train.variable @x : tensor<1x3x4xf32> loss
train.variable @gain : tensor<4xf32> loss
train.variable @rstd : tensor<1x3xf32> loss
train.graph @g {
  %0 = train.read @x : tensor<1x3x4xf32>
  %1 = train.read @gain : tensor<4xf32>
  %2 = train.read @rstd : tensor<1x3xf32>
  // expected-error @+1 {{a region gives what its anchor stores itself, got none for result 1 of 'train.rms_norm_grad'}}
  %3 = train.kernel "k"(%0, %1, %2) : (tensor<1x3x4xf32>, tensor<4xf32>, tensor<1x3xf32>) -> tensor<1x3x4xf32> {
  ^bb0(%a: tensor<1x3x4xf32>, %b: tensor<4xf32>, %c: tensor<1x3xf32>):
    %dx, %dgain = train.rms_norm_grad %a, %a, %b, %c {batch_nodes = 1 : i64} : (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<4xf32>, tensor<1x3xf32>) -> (tensor<1x3x4xf32>, tensor<8x4xf32>)
    %z = train.add %a, %dx : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
    train.yield %z : tensor<1x3x4xf32>
  }
}
