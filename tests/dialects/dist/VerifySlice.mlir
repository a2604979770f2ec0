// RUN: recipe-opt %s --verify-diagnostics --split-input-file

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  %1 = dist.slice %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  %1 = dist.slice %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  %1 = dist.slice %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 6, padding = 2>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"tensor">]>>
  %1 = dist.slice %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: slice adds axes to one dimension}}
  %1 = dist.slice %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

// That is all_gather.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: slice adds axes to one dimension}}
  %1 = dist.slice %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

// An axis is added, none is exchanged.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: slice adds axes to one dimension}}
  %1 = dist.slice %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor">], 8>, <[], 6>]>>
}

// -----

// Shards are made smaller from the inside.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor">], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: slice adds axes to one dimension}}
  %1 = dist.slice %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>>
}

// -----

// One dimension at a time.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: slice adds axes to one dimension}}
  %1 = dist.slice %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[<"tensor">], 6, padding = 2>]>>
}

// -----

// That is reduce_scatter.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{D6: slice adds axes to one dimension}}
  %1 = dist.slice %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: slice adds axes to one dimension}}
  %1 = dist.slice %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>>
}
