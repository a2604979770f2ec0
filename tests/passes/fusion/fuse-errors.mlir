// RUN: recipe-opt --fuse --verify-diagnostics %s

train.variable @out : tensor<4xf32> output
train.graph @train {
  // expected-error @below {{every op of a graph must carry a model name as its location}}
  %0 = train.fill {value = 1.0 : f64} : () -> tensor<4xf32>
  train.write @out, %0 : tensor<4xf32>
}
