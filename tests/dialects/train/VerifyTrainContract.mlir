// RUN: recipe-opt %s --verify-diagnostics --split-input-file

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  // expected-error @+1 {{needs as many left as right operands and at least one, got: 1 and 0}}
  %0 = "train.contract"(%x) {form = #train<form nn>, segments = array<i64: 0, 8>, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x3x8xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  // expected-error @+1 {{needs as many left as right operands and at least one, got: 0 and 0}}
  %0 = "train.contract"() {form = #train<form nn>, segments = array<i64: 0, 8>, operandSegmentSizes = array<i32: 0, 0, 0>} : () -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+1 {{operands must be matrices, got: 'tensor<8xf32>' and 'tensor<8x5xf32>'}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<8xf32>, tensor<8x5xf32>) -> tensor<5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<2x8x5xf32>
  // expected-error @+1 {{operands must be matrices, got: 'tensor<2x3x8xf32>' and 'tensor<2x8x5xf32>'}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<2x8x5xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<5x8xf32>
  // expected-error @+1 {{contracted dimensions must agree, got: 'tensor<2x3x8xf32>' and 'tensor<5x8xf32>'}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<5x8xf32>) -> tensor<2x3x8xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+1 {{contracted dimensions must agree, got: 'tensor<2x3x8xf32>' and 'tensor<8x5xf32>'}}
  %0 = train.contract %x, %w {form = #train<form nt>, segments = array<i64: 0, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<8x5xf32>) -> tensor<2x3x8xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %dy = train.input "dy" : tensor<2x4x5xf32>
  // expected-error @+1 {{contracted dimensions must agree, got: 'tensor<2x3x8xf32>' and 'tensor<2x4x5xf32>'}}
  %0 = train.contract %x, %dy {form = #train<form tn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<2x4x5xf32>) -> tensor<8x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %a = train.input "a" : tensor<8x5xf32>
  %b = train.input "b" : tensor<8x6xf32>
  // expected-error @+1 {{all pairs must give the same result shape, got: 6 x 5 and 6 x 6}}
  %0 = train.contract %x, %x, %a, %b {form = #train<form nn>, segments = array<i64: 0, 8, 0, 8>, operandSegmentSizes = array<i32: 2, 2, 0>} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8x5xf32>, tensor<8x6xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+1 {{the result must have shape [2, 3, 5], got: 'tensor<6x5xf32>'}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<8x5xf32>) -> tensor<6x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %dy = train.input "dy" : tensor<2x3x5xf32>
  // expected-error @+1 {{the result must have shape [8, 5], got: 'tensor<5x8xf32>'}}
  %0 = train.contract %x, %dy {form = #train<form tn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<2x3x5xf32>) -> tensor<5x8xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %dy = train.input "dy" : tensor<2x3x5xf32>
  %acc = train.input "acc" : tensor<5x8xf32>
  // expected-error @+1 {{'accumulator' must have shape [8, 5], got: 'tensor<5x8xf32>'}}
  %0 = train.contract %x, %dy, %acc {form = #train<form tn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x3x8xf32>, tensor<2x3x5xf32>, tensor<5x8xf32>) -> tensor<8x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %dy = train.input "dy" : tensor<2x3x5xf32>
  %acc = train.input "acc" : tensor<8x5xf32>
  // expected-error @+1 {{an accumulator needs form tn and one segment, got: tn and 2 segments}}
  %0 = train.contract %x, %dy, %acc {form = #train<form tn>, segments = array<i64: 0, 3, 3, 6>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x3x8xf32>, tensor<2x3x5xf32>, tensor<8x5xf32>) -> tensor<8x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  %acc = train.input "acc" : tensor<2x3x5xf32>
  // expected-error @+1 {{an accumulator needs form tn and one segment, got: nn and 1 segments}}
  %0 = train.contract %x, %w, %acc {form = #train<form nn>, segments = array<i64: 0, 8>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x3x8xf32>, tensor<8x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+1 {{'segments' needs a range for each segment and pair, got: 3 numbers for 1 pairs}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 4, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+1 {{'segments' needs a range for each segment and pair, got: 0 numbers for 1 pairs}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
}

// -----

// Two pairs need two ranges in each segment.
train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+1 {{'segments' needs a range for each segment and pair, got: 2 numbers for 2 pairs}}
  %0 = train.contract %x, %x, %w, %w {form = #train<form nn>, segments = array<i64: 0, 8>, operandSegmentSizes = array<i32: 2, 2, 0>} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8x5xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+1 {{the number of 'segments' must be a power of two, got: 3}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 3, 3, 6, 6, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
}

// -----

// A gap.
train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+1 {{'segments' must follow each other without gaps, got: [4, 8) after 3 in pair 0}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 3, 4, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
}

// -----

// Terms counted twice, in the second pair.
train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+1 {{'segments' must follow each other without gaps, got: [3, 8) after 4 in pair 1}}
  %0 = train.contract %x, %x, %w, %w {form = #train<form nn>, segments = array<i64: 0, 4, 0, 4, 4, 8, 3, 8>, operandSegmentSizes = array<i32: 2, 2, 0>} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8x5xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
}

// -----

// Backwards.
train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+1 {{'segments' must follow each other without gaps, got: [0, -1) after 0 in pair 0}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, -1, -1, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+1 {{'segments' must cover the dimension, got: 7 of 8 in pair 0}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 7>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
}

// -----

// Empty segments take part in the tree.
train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 8, 8, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+1 {{'out_segments' must cover the dimension, got: 8 of 5 in pair 0}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 8>, out_segments = array<i64: 0, 4, 4, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+1 {{the number of 'out_segments' must be a power of two, got: 3}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 8>, out_segments = array<i64: 0, 1, 1, 2, 2, 5>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xbf16>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+1 {{all operands must have one element type, got: 'tensor<2x3x8xbf16>' and 'tensor<8x5xf32>'}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xbf16>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %h = train.input "h" : tensor<2x3x8xbf16>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+1 {{all operands must have one element type, got: 'tensor<2x3x8xf32>' and 'tensor<2x3x8xbf16>'}}
  %0 = train.contract %x, %h, %w, %w {form = #train<form nn>, segments = array<i64: 0, 8, 0, 8>, operandSegmentSizes = array<i32: 2, 2, 0>} : (tensor<2x3x8xf32>, tensor<2x3x8xbf16>, tensor<8x5xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xbf16>
  %w = train.input "w" : tensor<8x5xbf16>
  // expected-error @+1 {{op result #0 must be}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xbf16>, tensor<8x5xbf16>) -> tensor<2x3x5xbf16>
}

// -----

// A pair of terms would lie in two segments.
train.graph @g {
  %x = train.input "x" : tensor<2x3x8xbf16>
  %w = train.input "w" : tensor<8x5xbf16>
  // expected-error @+1 {{segments of bf16 operands must begin at even numbers, got: [3, 8)}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 3, 3, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xbf16>, tensor<8x5xbf16>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+1 {{'bf16_order' is that of bf16 operands, got: 'tensor<2x3x8xf32>'}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 8>, bf16_order = #train<bf16_order blocks>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xbf16>
  %w = train.input "w" : tensor<8x5xbf16>
  // expected-error @+1 {{'f32_products' is that of f32 operands, got: 'tensor<2x3x8xbf16>'}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 8>, f32_products = #train<f32_products bf16x6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xbf16>, tensor<8x5xbf16>) -> tensor<2x3x5xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  // expected-error @+2 {{expected ::recipe::train::F32Products to be one of: fma, bf16x6}}
  // expected-error @+1 {{failed to parse Train_F32ProductsAttr parameter 'value'}}
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 8>, f32_products = #train<f32_products bf16x9>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
}

// -----

// Blocks of six products begin anywhere: at an odd number, with a sample of odd length.
train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  %w = train.input "w" : tensor<8x5xf32>
  %dy = train.input "dy" : tensor<2x3x5xf32>
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 3, 3, 8>, f32_products = #train<f32_products bf16x6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>
  %1 = train.contract %x, %dy {form = #train<form tn>, segments = array<i64: 0, 6>, f32_products = #train<f32_products bf16x6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<2x3x5xf32>) -> tensor<8x5xf32>
}

// -----

// An odd end and empty segments after it.
train.graph @g {
  %x = train.input "x" : tensor<2x3x7xbf16>
  %w = train.input "w" : tensor<7x5xbf16>
  %0 = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 4, 4, 7, 7, 7, 7, 7>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x7xbf16>, tensor<7x5xbf16>) -> tensor<2x3x5xf32>
}

// -----

// A pair of terms would lie in two samples.
train.graph @g {
  %x = train.input "x" : tensor<2x3x8xbf16>
  %dy = train.input "dy" : tensor<2x3x5xbf16>
  // expected-error @+1 {{positions of bf16 operands must be even, got: tensor<2x3x8xbf16>}}
  %0 = train.contract %x, %dy {form = #train<form tn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xbf16>, tensor<2x3x5xbf16>) -> tensor<8x5xf32>
}
