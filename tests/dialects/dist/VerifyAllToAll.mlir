// RUN: recipe-opt %s --verify-diagnostics --split-input-file

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  %1 = dist.all_to_all %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"data">], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>>
  %1 = dist.all_to_all %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[<"tensor">], 6, padding = 2>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>>
  %1 = dist.all_to_all %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"data">], 6>], partial = [<"tensor">]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: all_to_all moves axes from one dimension to another}}
  %1 = dist.all_to_all %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: all_to_all moves axes from one dimension to another}}
  %1 = dist.all_to_all %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: all_to_all moves axes from one dimension to another}}
  %1 = dist.all_to_all %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
}

// -----

// The axis that arrives is the one that left.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: all_to_all moves axes from one dimension to another}}
  %1 = dist.all_to_all %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 6, padding = 2>]>>
}

// -----

// Within one dimension ranks are not exchanged.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: all_to_all moves axes from one dimension to another}}
  %1 = dist.all_to_all %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor">, <"data">], 8>, <[], 6>]>>
}

// -----

// The outer axis cannot leave alone.
train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: all_to_all moves axes from one dimension to another}}
  %1 = dist.all_to_all %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor">], 8>, <[<"data">], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>>
  // expected-error @+1 {{D6: all_to_all moves axes from one dimension to another}}
  %1 = dist.all_to_all %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"data">], 6>]>>
}

// -----

train.graph @g {
  %0 = train.input "x" : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  // expected-error @+1 {{D6: all_to_all moves axes from one dimension to another}}
  %1 = dist.all_to_all %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"data">], 6>], partial = [<"tensor">]>>
}
