// RUN: recipe-opt %s --verify-layouts --verify-diagnostics --split-input-file
// Before shard tensors have no layout; a module half laid out is wrong at any time.

train.variable @v : tensor<8x6xf32> loss
train.graph @g {
  %0 = train.read @v : tensor<8x6xf32>
}

// -----

dist.mesh @mesh ["data"] [2]
train.graph @g {
  %x = train.input "x" : tensor<8x6xf32>
  %y = train.input "y" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  // expected-error @+1 {{D8: tensors with and without layout in one op}}
  %z = train.add %x, %y : (tensor<8x6xf32>, tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>) -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

dist.mesh @mesh ["data"] [2]
train.graph @g {
  %x = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  // expected-error @+1 {{D8: tensors with and without layout in one op}}
  %z = train.gelu %x : (tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>) -> tensor<8x6xf32>
}
