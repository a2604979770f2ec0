// RUN: recipe-opt %s --verify-layouts --verify-diagnostics --split-input-file
// Rules hold inside kernel regions, whose types are local and plain.

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %r = train.kernel "k"(%a0, %a1) : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>> {
  ^bb0(%b0: tensor<2x8x6xf32>, %b1: tensor<2x8x6xf32>):
    %c = train.add %b0, %b1 : (tensor<2x8x6xf32>, tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
    train.yield %c : tensor<2x8x6xf32>
  }
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  // expected-error @+1 {{kernel bodies take local tensors, got: }}
  %r = train.kernel "k"(%a0, %a1) : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>> {
  ^bb0(%b0: tensor<2x8x6xf32>, %b1: tensor<2x8x6xf32>):
    %c = train.add %b0, %b1 : (tensor<2x8x6xf32>, tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
    train.yield %c : tensor<2x8x6xf32>
  }
}

// -----

// Local types are equal, layouts are not.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"context">], 4>, <[], 8>, <[], 6>]>>
  %r = train.kernel "k"(%a0, %a1) : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"context">], 4>, <[], 8>, <[], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>> {
  ^bb0(%b0: tensor<2x8x6xf32>, %b1: tensor<2x8x6xf32>):
    // expected-error @+1 {{T1: operands must have one layout}}
    %c = train.add %b0, %b1 : (tensor<2x8x6xf32>, tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
    train.yield %c : tensor<2x8x6xf32>
  }
}

// -----

// A reduction that is missing in front of a kernel.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.fill {value = 0.0 : f64} : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>], partial = [<"tensor">]>>
  %r = train.kernel "k"(%a0, %a1) : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>], partial = [<"tensor">]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>> {
  ^bb0(%b0: tensor<2x8x6xf32>, %b1: tensor<2x8x6xf32>):
    // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 1}}
    %c = train.add %b0, %b1 : (tensor<2x8x6xf32>, tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
    train.yield %c : tensor<2x8x6xf32>
  }
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  // expected-error @+1 {{the layout of output 0 follows from the inputs}}
  %r = train.kernel "k"(%a0, %a1) : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"context">], 4>, <[], 8>, <[], 6>]>> {
  ^bb0(%b0: tensor<2x8x6xf32>, %b1: tensor<2x8x6xf32>):
    %c = train.add %b0, %b1 : (tensor<2x8x6xf32>, tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
    train.yield %c : tensor<2x8x6xf32>
  }
}

// -----

// A rank has half of the samples.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  // expected-error @+1 {{kernel bodies take local tensors, got: 'tensor<4x8x6xf32>' of}}
  %r = train.kernel "k"(%a0, %a1) : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>> {
  ^bb0(%b0: tensor<4x8x6xf32>, %b1: tensor<4x8x6xf32>):
    %c = train.add %b0, %b1 : (tensor<4x8x6xf32>, tensor<4x8x6xf32>) -> tensor<4x8x6xf32>
    train.yield %c : tensor<4x8x6xf32>
  }
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>
  %r = train.kernel "k"(%a0, %a1) : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>], partial = [<"tensor">]>> {
  ^bb0(%b0: tensor<2x8x3xf32>, %b1: tensor<3x4xf32>):
    %c = train.contract %b0, %b1 {form = #train<form nn>, segments = array<i64: 0, 3>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x8x3xf32>, tensor<3x4xf32>) -> tensor<2x8x4xf32>
    train.yield %c : tensor<2x8x4xf32>
  }
}

// -----

// Row parallel, not reduced.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>
  // expected-error @+1 {{the layout of output 0 follows from the inputs}}
  %r = train.kernel "k"(%a0, %a1) : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>> {
  ^bb0(%b0: tensor<2x8x3xf32>, %b1: tensor<3x4xf32>):
    %c = train.contract %b0, %b1 {form = #train<form nn>, segments = array<i64: 0, 3>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x8x3xf32>, tensor<3x4xf32>) -> tensor<2x8x4xf32>
    train.yield %c : tensor<2x8x4xf32>
  }
}

// -----

// Fused over a reduction.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>
  %a1 = train.input "1" : tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>
  %r = train.kernel "k"(%a0, %a1) : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[<"tensor">], 6>]>>, tensor<6x4xf32, #dist.layout<@mesh, [<[<"tensor">], 6>, <[], 4>]>>) -> tensor<4x8x4xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 4>]>> {
  ^bb0(%b0: tensor<2x8x3xf32>, %b1: tensor<3x4xf32>):
    %c = train.contract %b0, %b1 {form = #train<form nn>, segments = array<i64: 0, 3>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x8x3xf32>, tensor<3x4xf32>) -> tensor<2x8x4xf32>
    // expected-error @+1 {{T2: a Partial operand must be reduced first, got: operand 0}}
    %d = train.gelu %c : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
    train.yield %d : tensor<2x8x4xf32>
  }
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %r = train.kernel "k"() : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>], partial = [<"tensor">]>> {
    %c = train.fill {value = 0.0 : f64} : () -> tensor<2x8x6xf32>
    train.yield %c : tensor<2x8x6xf32>
  }
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %r = train.kernel "k"() : () -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>], partial = [<"tensor">]>> {
    // expected-error @+1 {{D11: a value that is made on each rank is Partial only when it is zero}}
    %c = train.fill {value = 1.0 : f64} : () -> tensor<2x8x6xf32>
    train.yield %c : tensor<2x8x6xf32>
  }
}

// -----

// What is made inside is whole.
dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %r = train.kernel "k"(%a0) : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>> {
  ^bb0(%b0: tensor<2x8x6xf32>):
    %f = train.fill {value = 1.0 : f64} : () -> tensor<2x8x6xf32>
    // expected-error @+1 {{T1: operands must have one layout}}
    %c = train.add %b0, %f : (tensor<2x8x6xf32>, tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
    train.yield %c : tensor<2x8x6xf32>
  }
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
  %r = train.kernel "k"(%a0) : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>> {
  ^bb0(%b0: tensor<4x8x6xf32>):
    %f = train.fill {value = 1.0 : f64} : () -> tensor<4x8x6xf32>
    %c = train.add %b0, %f : (tensor<4x8x6xf32>, tensor<4x8x6xf32>) -> tensor<4x8x6xf32>
    train.yield %c : tensor<4x8x6xf32>
  }
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>
  %r = train.kernel "k"(%a0) : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>>) -> tensor<4x8x6xf32, #dist.layout<@mesh, [<[], 4>, <[], 8>, <[], 6>]>> {
  ^bb0(%b0: tensor<4x8x6xf32>):
    // expected-error @+1 {{D9: only ops with a layout rule lie in kernel regions}}
    %c = builtin.unrealized_conversion_cast %b0 : tensor<4x8x6xf32> to tensor<4x8x6xf32>
    train.yield %c : tensor<4x8x6xf32>
  }
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.fill {value = 0.0 : f64} : () -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  %r = train.kernel "k"(%a0, %a1) : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>) -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> {
  ^bb0(%b0: tensor<2x8x6xf32>, %b1: tensor<8x6xf32>):
    %c = train.bias_grad %b0, %b1 {batch_nodes = 1 : i64} : (tensor<2x8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    train.yield %c : tensor<8x6xf32>
  }
}

// -----

dist.mesh @mesh ["data", "context", "tensor"] [2, 2, 2]
train.graph @g {
  %a0 = train.input "0" : tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>
  %a1 = train.input "1" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  %r = train.kernel "k"(%a0, %a1) : (tensor<4x8x6xf32, #dist.layout<@mesh, [<[<"data">], 4>, <[], 8>, <[], 6>]>>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>) -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> {
  ^bb0(%b0: tensor<2x8x6xf32>, %b1: tensor<8x6xf32>):
    // expected-error @+1 {{T6: an accumulator has the layout of its result}}
    %c = train.bias_grad %b0, %b1 {batch_nodes = 1 : i64} : (tensor<2x8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    train.yield %c : tensor<8x6xf32>
  }
}
