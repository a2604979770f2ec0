// RUN: recipe-opt %s --verify-diagnostics --split-input-file

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  %1 = dist.reduce_scatter %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  %1 = dist.reduce_scatter %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"data">], 6>]>>
}

// -----

// The new shards are the inner ones.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>>
  %1 = dist.reduce_scatter %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>>
  %1 = dist.reduce_scatter %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>>
  %1 = dist.reduce_scatter %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>>
}

// -----

// Shards may need padding.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"tensor">]>>
  %1 = dist.reduce_scatter %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 6, padding = 2>]>>
}

// -----

// That is all_reduce.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{D6: reduce_scatter turns Partial axes into shards of one dimension}}
  %1 = dist.reduce_scatter %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

// Over another axis than it was Partial over.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{D6: reduce_scatter turns Partial axes into shards of one dimension}}
  %1 = dist.reduce_scatter %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor">], 8>, <[], 6>]>>
}

// -----

// One dimension at a time.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>>
  // expected-error @+1 {{D6: reduce_scatter turns Partial axes into shards of one dimension}}
  %1 = dist.reduce_scatter %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[<"tensor">], 6, padding = 2>]>>
}

// -----

// Ranks are counted in the order of the Partial axes.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>>
  // expected-error @+1 {{D6: reduce_scatter turns Partial axes into shards of one dimension}}
  %1 = dist.reduce_scatter %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor">, <"data">], 8>, <[], 6>]>>
}

// -----

// That is slice.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: reduce_scatter turns Partial axes into shards of one dimension}}
  %1 = dist.reduce_scatter %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
}

// -----

// One sum is lost.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>>
  // expected-error @+1 {{D6: reduce_scatter turns Partial axes into shards of one dimension}}
  %1 = dist.reduce_scatter %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
}

// -----

// Outer shards do not change.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>>
  // expected-error @+1 {{D6: reduce_scatter turns Partial axes into shards of one dimension}}
  %1 = dist.reduce_scatter %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor">, <"data">], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{D6: reduce_scatter turns Partial axes into shards of one dimension}}
  %1 = dist.reduce_scatter %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>>
}
