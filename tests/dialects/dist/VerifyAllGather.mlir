// RUN: recipe-opt %s --verify-diagnostics --split-input-file

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  %1 = dist.all_gather %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>>
  %1 = dist.all_gather %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>>
  %1 = dist.all_gather %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

// Padding is dropped with the shards.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 6, padding = 2>]>>
  %1 = dist.all_gather %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 6, padding = 2>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

// Partial values may be gathered before they are summed.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>>
  %1 = dist.all_gather %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"tensor">]>>
}

// -----

// The outer axis cannot be removed alone.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: all_gather removes the innermost axes of one dimension}}
  %1 = dist.all_gather %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor">], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: all_gather removes the innermost axes of one dimension}}
  %1 = dist.all_gather %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: all_gather removes the innermost axes of one dimension}}
  %1 = dist.all_gather %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: all_gather removes the innermost axes of one dimension}}
  %1 = dist.all_gather %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor">], 8>, <[], 6>]>>
}

// -----

// One dimension at a time.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[<"tensor">], 6, padding = 2>]>>
  // expected-error @+1 {{D6: all_gather removes the innermost axes of one dimension}}
  %1 = dist.all_gather %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[<"tensor">], 6, padding = 2>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

// That is all_reduce.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // expected-error @+1 {{D6: all_gather removes the innermost axes of one dimension}}
  %1 = dist.all_gather %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

// Nothing is summed.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>>
  // expected-error @+1 {{D6: all_gather removes the innermost axes of one dimension}}
  %1 = dist.all_gather %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

// That is all_to_all.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: all_gather removes the innermost axes of one dimension}}
  %1 = dist.all_gather %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"data">], 6>]>>
}
