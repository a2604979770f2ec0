// RUN: recipe-opt %s --verify-layouts=require-layouts=true --verify-diagnostics --split-input-file
// What a layout says about its mesh and its module: D3 to D5, D8 to D11.

dist.mesh @mesh ["data", "tensor"] [2, 4]
// expected-error @+1 {{D3: pre * size must divide the axis, got 2 * 4 and 4 ranks of "tensor"}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor" after 2 size 4>], 8>, <[], 6>]>> loss

// -----

dist.mesh @mesh ["data", "tensor"] [2, 4]
// expected-error @+1 {{D3: pre * size must divide the axis, got 1 * 3 and 4 ranks of "tensor"}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor" size 3>], 8>, <[], 6>]>> loss

// -----

dist.mesh @mesh ["data", "tensor"] [2, 4]
// expected-error @+1 {{D3: pre * size must divide the axis, got 1 * 8 and 4 ranks of "tensor"}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"tensor" size 8>]>> loss

// -----

// Two ways to write one layout would be unequal.
dist.mesh @mesh ["data", "tensor"] [2, 4]
// expected-error @+1 {{D3: a whole axis is written without size, got #dist.axis<"tensor" size 4>}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor" size 4>], 8>, <[], 6>]>> loss

// -----

dist.mesh @mesh ["data", "tensor"] [2, 4]
// expected-error @+1 {{D4: padding completes a dimension to a multiple of its shards, got 6 + 0 over 4}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 6>]>> loss

// -----

dist.mesh @mesh ["data", "tensor"] [2, 4]
// expected-error @+1 {{D4: padding completes a dimension to a multiple of its shards, got 6 + 1 over 4}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 6, padding = 1>]>> loss

// -----

dist.mesh @mesh ["data", "tensor"] [2, 4]
// expected-error @+1 {{D4: padding completes a dimension to a multiple of its shards, got 12 + 0 over 8}}
train.variable @v : tensor<12x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 12>, <[], 6>]>> loss

// -----

// As far as it goes.
dist.mesh @mesh ["data", "tensor"] [2, 4]
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor" after 2 size 2>], 8>, <[<"data">, <"tensor" size 2>], 6, padding = 2>]>> loss

// -----

dist.mesh @mesh ["data", "tensor"] [2, 4]
// expected-error @+1 {{D5: mesh @mesh has no axis "expert"}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"expert">], 8>, <[], 6>]>> loss

// -----

dist.mesh @mesh ["data", "tensor"] [2, 4]
// expected-error @+1 {{D5: mesh @mesh has no axis "expert"}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"expert">]>> loss

// -----

dist.mesh @mesh ["data", "tensor"] [2, 4]
// expected-error @+1 {{D5: no mesh @other}}
train.variable @v : tensor<8x6xf32, #dist.layout<@other, [<[], 8>, <[], 6>]>> loss

// -----

// The module has none at all.
// expected-error @+1 {{D5: no mesh @mesh}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> loss

// -----

// A symbol of another kind.
train.graph @mesh {
}
// expected-error @+1 {{D5: no mesh @mesh}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> loss

// -----

dist.mesh @mesh ["data", "tensor"] [2, 4]
train.graph @g {
  // expected-error @+1 {{D5: mesh @mesh has no axis "context"}}
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"context">], 8>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data"] [2]
dist.mesh @other ["data"] [2]
train.graph @g {
  %x = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  %b = train.input "b" : tensor<6xf32, #dist.layout<@other, [<[], 6>]>>
  // expected-error @+1 {{D5: the tensors of an op lie on one mesh}}
  %0 = train.bias_add %x, %b : (tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>, tensor<6xf32, #dist.layout<@other, [<[], 6>]>>) -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

// expected-error @+1 {{D8: every tensor has a layout after shard, got: 'tensor<8x6xf32>'}}
train.variable @v : tensor<8x6xf32> loss

// -----

train.graph @g {
  // expected-error @+1 {{D8: every tensor has a layout after shard, got: 'tensor<8x6xf32>'}}
  %0 = train.fill {value = 0.0 : f64} : () -> tensor<8x6xf32>
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 4]
train.graph @g {
  %x = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  // expected-error @+1 {{D9: only ops of train, dist and step take tensors with a layout}}
  %y = builtin.unrealized_conversion_cast %x : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> to tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 4]
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> loss
train.graph @g {
  // expected-error @+1 {{D10: a variable is read and written as it is laid out}}
  %0 = train.read @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
}

// -----

// The sum that nobody reduced.
dist.mesh @mesh ["data", "tensor"] [2, 4]
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> loss
train.graph @g {
  %x = train.fill {value = 0.0 : f64} : () -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{D10: a variable is read and written as it is laid out}}
  train.write @v, %x : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 4]
train.graph @g {
  %x = train.fill {value = 0.0 : f64} : () -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{D11: a value that is made on each rank is Partial only when it is zero}}
  %y = train.fill {value = 1.0 : f64} : () -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 4]
train.graph @g {
  // expected-error @+1 {{D11: a value that is made on each rank is Partial only when it is zero}}
  %y = train.init_normal {stddev = 1.0 : f64, key = 1 : i64} : () -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 4]
train.graph @g {
  // expected-error @+1 {{D11: a value that is made on each rank is Partial only when it is zero}}
  %y = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
}
