// RUN: recipe-opt %s --verify-diagnostics --split-input-file
// What a layout says by itself: D1 to D4.

// expected-error @+1 {{D1: a layout has one entry per dimension, got 1 entries for rank 2}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>]>> loss

// -----

// expected-error @+1 {{D1: a layout has one entry per dimension, got 2 entries for rank 1}}
train.variable @v : tensor<8xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> loss

// -----

// In two dimensions.
// expected-error @+1 {{D2: an axis may be used once in a layout, got #dist.axis<"data"> and #dist.axis<"data">}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[<"data">], 6>]>> loss

// -----

// Twice in one.
// expected-error @+1 {{D2: an axis may be used once in a layout}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"data">], 8>, <[], 6>]>> loss

// -----

// Split and Partial.
// expected-error @+1 {{D2: an axis may be used once in a layout}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>], partial = [<"data">]>> loss

// -----

// expected-error @+1 {{D2: an axis may be used once in a layout}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"data">]>> loss

// -----

// An axis and its part.
// expected-error @+1 {{D2: an axis may be used once in a layout, got #dist.axis<"tensor" after 2 size 2> and #dist.axis<"tensor">}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor">], 8>, <[<"tensor" after 2 size 2>], 6>]>> loss

// -----

// The same part twice.
// expected-error @+1 {{D2: an axis may be used once in a layout}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor" size 2>], 8>, <[<"tensor" size 2>], 6>]>> loss

// -----

// expected-error @+1 {{D3: parts of an axis must not overlap, got #dist.axis<"tensor" after 2 size 2> and #dist.axis<"tensor" size 4>}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor" size 4>], 8>, <[<"tensor" after 2 size 2>], 6>]>> loss

// -----

// expected-error @+1 {{D3: parts of an axis must not overlap, got #dist.axis<"tensor" after 2 size 2> and #dist.axis<"tensor" size 4>}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor" size 4>], 8>, <[], 6>], partial = [<"tensor" after 2 size 2>]>> loss

// -----

// Of 12 ranks, neither is a digit beside the other: 6 is no multiple of 4.
// expected-error @+1 {{D3: parts of an axis must not overlap}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor" after 6 size 2>], 8>, <[<"tensor" size 4>], 6>]>> loss

// -----

// Disjoint parts are legal in any order.
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor" after 2 size 2>], 8>, <[<"tensor" size 2>], 6>]>> loss

// -----

// expected-error @+3 {{D3: a sub-axis needs pre >= 1 and size >= 0, got pre 0 and size 2}}
// expected-error @+2 {{failed to parse Dist_DimAttr parameter 'axes'}}
// expected-error @+1 {{failed to parse Dist_LayoutAttr parameter 'dims'}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor" after 0 size 2>], 8>, <[], 6>]>> loss

// -----

// expected-error @+3 {{D3: a sub-axis needs pre >= 1 and size >= 0, got pre 1 and size -2}}
// expected-error @+2 {{failed to parse Dist_DimAttr parameter 'axes'}}
// expected-error @+1 {{failed to parse Dist_LayoutAttr parameter 'dims'}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor" size -2>], 8>, <[], 6>]>> loss

// -----

// expected-error @+3 {{D3: a whole axis has pre 1, got 2}}
// expected-error @+2 {{failed to parse Dist_DimAttr parameter 'axes'}}
// expected-error @+1 {{failed to parse Dist_LayoutAttr parameter 'dims'}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor" after 2>], 8>, <[], 6>]>> loss

// -----

// expected-error @+3 {{D3: a part of an axis has 2 to 2^31 ranks, got pre 2 and size 1}}
// expected-error @+2 {{failed to parse Dist_DimAttr parameter 'axes'}}
// expected-error @+1 {{failed to parse Dist_LayoutAttr parameter 'dims'}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor" after 2 size 1>], 8>, <[], 6>]>> loss

// -----

// Whose product is 0 in 64 bits.
// expected-error @+3 {{D3: a part of an axis has 2 to 2^31 ranks, got pre 4294967296 and size 4294967296}}
// expected-error @+2 {{failed to parse Dist_DimAttr parameter 'axes'}}
// expected-error @+1 {{failed to parse Dist_LayoutAttr parameter 'dims'}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[<"tensor" after 4294967296 size 4294967296>], 8>, <[], 6>]>> loss

// -----

// expected-error @+2 {{D4: extent and padding must not be negative, got -8 and 0}}
// expected-error @+1 {{failed to parse Dist_LayoutAttr parameter 'dims'}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[], -8>, <[], 6>]>> loss

// -----

// expected-error @+2 {{D4: extent and padding must not be negative, got 6 and -2}}
// expected-error @+1 {{failed to parse Dist_LayoutAttr parameter 'dims'}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 6, padding = -2>]>> loss

// -----

// expected-error @+2 {{D4: a dimension that is not sharded has no padding, got 2}}
// expected-error @+1 {{failed to parse Dist_LayoutAttr parameter 'dims'}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6, padding = 2>]>> loss

// -----

// Padding is not part of the extent.
// expected-error @+1 {{D4: the extent in a layout is the tensor's, got 8 and 6 in dimension 1}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[<"tensor">], 8>]>> loss

// -----

// expected-error @+1 {{D4: the extent in a layout is the tensor's, got 6 and 8 in dimension 0}}
train.variable @v : tensor<8x6xf32, #dist.layout<@mesh, [<[], 6>, <[], 6>]>> loss
