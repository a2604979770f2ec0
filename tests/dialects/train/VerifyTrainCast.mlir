// RUN: recipe-opt %s --verify-diagnostics --split-input-file

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  // expected-error @+1 {{must change the element type, got: 'tensor<2x3x8xf32>' and 'tensor<2x3x8xf32>'}}
  %0 = train.cast %x : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3x8xf32>
  // expected-error @+1 {{the result must have shape [2, 3, 8], got: 'tensor<6x8xbf16>'}}
  %0 = train.cast %x : (tensor<2x3x8xf32>) -> tensor<6x8xbf16>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3xi32>
  // expected-error @+1 {{operand #0 must be}}
  %0 = train.cast %x : (tensor<2x3xi32>) -> tensor<2x3xbf16>
}

// -----

train.graph @g {
  %x = train.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{result #0 must be}}
  %0 = train.cast %x : (tensor<2x3xf32>) -> tensor<2x3xf16>
}

// -----

// Any rank, both ways.
train.graph @g {
  %x = train.input "x" : tensor<5xf32>
  %0 = train.cast %x : (tensor<5xf32>) -> tensor<5xbf16>
  %1 = train.cast %0 : (tensor<5xbf16>) -> tensor<5xf32>
}
