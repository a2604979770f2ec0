// RUN: recipe-opt %s --shard=data-ranks=2 --verify-diagnostics --split-input-file

// A sum over tokens cannot become a parameter.
train.variable @gain : tensor<8xf32> parameter {hf_name = "gain"}
train.variable @sums : tensor<8x8xf32> adam_m {of = @gain}
train.graph @train {
  %ids = train.input "tokens" : tensor<4x6xi32>
  %gain = train.read @gain : tensor<8xf32>
  %table = train.fill {value = 1.0 : f64} : () -> tensor<9x8xf32>
  %x = train.embedding %ids, %table : (tensor<4x6xi32>, tensor<9x8xf32>) -> tensor<4x6x8xf32>
  %s = train.bias_grad %x {batch_nodes = 1 : i64} : (tensor<4x6x8xf32>) -> tensor<8x8xf32>
  // expected-error @+1 {{D10: a variable is read and written as it is laid out, got:}}
  train.write @sums, %s : tensor<8x8xf32>
}

// -----

// An activation of each rank's samples cannot be a sum of tokens.
train.variable @out : tensor<4x6x8xf32> loss
train.graph @train {
  %ids = train.input "tokens" : tensor<4x6xi32>
  %table = train.fill {value = 1.0 : f64} : () -> tensor<9x8xf32>
  %x = train.embedding %ids, %table : (tensor<4x6xi32>, tensor<9x8xf32>) -> tensor<4x6x8xf32>
  // expected-error @+1 {{D10: a variable is read and written as it is laid out, got:}}
  train.write @out, %x : tensor<4x6x8xf32>
}

// -----

// Operands whose layouts contradict each other.
train.graph @train {
  %x = train.input "x" : tensor<4x8xf32>
  %y = train.fill {value = 1.0 : f64} : () -> tensor<4x8xf32>
  // expected-error @+1 {{T1: operands must have one layout}}
  %z = train.add %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
}
