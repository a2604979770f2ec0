// RUN: recipe-opt %s --verify-diagnostics --split-input-file

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>>
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"tensor">]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>>
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

// What is split stays split.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>>
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
}

// -----

// Nothing to reduce: a second all_reduce would multiply by the number of ranks.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: all_reduce removes Partial axes and nothing else}}
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

// Nothing is reduced.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{D6: all_reduce removes Partial axes and nothing else}}
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
}

// -----

// Nothing becomes Partial.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: all_reduce removes Partial axes and nothing else}}
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{D6: all_reduce removes Partial axes and nothing else}}
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"tensor">]>>
}

// -----

// That is reduce_scatter.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{D6: all_reduce removes Partial axes and nothing else}}
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
}

// -----

// Nothing is gathered.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor">], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{D6: all_reduce removes Partial axes and nothing else}}
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor">], 8>, <[], 6>], partial = [<"data">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: all_reduce removes Partial axes and nothing else}}
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">, <"expert">]>>
  // expected-error @+1 {{D6: remaining Partial axes keep their order}}
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">, <"expert">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"tensor">, <"data">]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 6, padding = 2>], partial = [<"data">]>>
  // expected-error @+1 {{D6: padding changes only where axes do, got 2 and 6 in dimension 1}}
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 6, padding = 2>], partial = [<"data">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 6, padding = 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{D6: a layout op stays on its mesh, got @mesh and @other}}
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> -> tensor<8x6xf32, #dist.layout<@other, [<[], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{D6: a layout op keeps global shape and element type}}
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> -> tensor<6x8xf32, #dist.layout<@mesh, [<[], 6>, <[], 8>]>>
}

// -----

// A cast is not a layout change.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{D6: a layout op keeps global shape and element type}}
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> -> tensor<8x6xf64, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{D6: a layout op needs layouts on both sides}}
  %1 = dist.all_reduce %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> -> tensor<8x6xf32>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32>
  // expected-error @+1 {{D6: a layout op needs layouts on both sides}}
  %1 = dist.all_reduce %0 : tensor<8x6xf32> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}
