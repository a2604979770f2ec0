// RUN: recipe-opt --grad --split-input-file --verify-diagnostics %s

// expected-error@+1 {{the module needs the attribute 'train.step'}}
module {
  train.graph @forward {
  }
}

// -----

// expected-error@+1 {{'train.step' needs an integer 'global_batch'}}
module attributes {train.step = {batch_size = 1, seq_length = 2, batch_segments = 1, segments = 2}} {
  train.graph @forward {
  }
}

// -----

// expected-error@+1 {{'train.step': global_batch must be a multiple of batch_size, got 7 and 2}}
module attributes {train.step = {batch_size = 2, seq_length = 2, global_batch = 7, batch_segments = 8, segments = 2}} {
  train.graph @forward {
  }
}

// -----

// expected-error@+1 {{'train.step': batch_size must divide a batch segment or be a multiple of it, got 2 and segments of 3 samples}}
module attributes {train.step = {batch_size = 2, seq_length = 2, global_batch = 12, batch_segments = 4, segments = 2}} {
  train.graph @forward {
  }
}

// -----

// expected-error@+1 {{'train.step': segments must be a power of two from 1 to 16, got 3}}
module attributes {train.step = {batch_size = 2, seq_length = 2, global_batch = 12, batch_segments = 4, segments = 3}} {
  train.graph @forward {
  }
}

// -----

// expected-error@+1 {{the module needs a train.graph @forward}}
module attributes {train.step = {batch_size = 1, seq_length = 2, global_batch = 1, batch_segments = 1, segments = 2}} {
}

// -----

module attributes {train.step = {batch_size = 1, seq_length = 2, global_batch = 1, batch_segments = 1, segments = 2}} {
  train.variable @loss : tensor<8xf32> loss
  train.graph @forward {
    %loss = train.fill {value = 1.0} : () -> tensor<8xf32>
    // expected-error@+1 {{a loss variable takes a result of train.linear_cross_entropy, got: train.fill}}
    train.write @loss, %loss : tensor<8xf32>
  }
}

// -----

module attributes {train.step = {batch_size = 1, seq_length = 2, global_batch = 1, batch_segments = 1, segments = 2}} {
  train.variable @w : tensor<4x4xf32> parameter {hf_name = "w"}
  // expected-error@+1 {{is trainable, but does not reach the loss: unused}}
  train.variable @unused : tensor<4x4xf32> parameter {hf_name = "unused"}
  train.variable @loss : tensor<8xf32> loss
  train.variable @count : tensor<8xf32> loss
  train.graph @forward {
    %labels = train.input "labels" : tensor<1x2xi32>
    %x = train.fill {value = 1.0} : () -> tensor<1x2x4xf32>
    %w = train.read @w : tensor<4x4xf32>
    %loss, %count = train.linear_cross_entropy %x, %w, %labels {vocab_segments = 2 : i64, batch_nodes = 1 : i64} : (tensor<1x2x4xf32>, tensor<4x4xf32>, tensor<1x2xi32>) -> (tensor<8xf32>, tensor<8xf32>)
    train.write @loss, %loss : tensor<8xf32>
    train.write @count, %count : tensor<8xf32>
  }
}

// -----

module attributes {train.step = {batch_size = 1, seq_length = 2, global_batch = 1, batch_segments = 1, segments = 2}} {
  train.variable @gain : tensor<8x4xf32> parameter {hf_name = "gain"}
  train.variable @w : tensor<4x4xf32> parameter {hf_name = "w"}
  train.variable @loss : tensor<8xf32> loss
  train.variable @count : tensor<8xf32> loss
  train.graph @forward {
    %labels = train.input "labels" : tensor<1x2xi32>
    %x = train.fill {value = 1.0} : () -> tensor<1x2x4xf32>
    %rows = train.read @gain : tensor<8x4xf32>
    %w = train.read @w : tensor<4x4xf32>
    // expected-error@+1 {{lies between a trainable parameter and the loss, but has no gradient}}
    %bias = train.position_sum %rows : (tensor<8x4xf32>) -> tensor<4xf32>
    %y = train.bias_add %x, %bias : (tensor<1x2x4xf32>, tensor<4xf32>) -> tensor<1x2x4xf32>
    %loss, %count = train.linear_cross_entropy %y, %w, %labels {vocab_segments = 2 : i64, batch_nodes = 1 : i64} : (tensor<1x2x4xf32>, tensor<4x4xf32>, tensor<1x2xi32>) -> (tensor<8xf32>, tensor<8xf32>)
    train.write @loss, %loss : tensor<8xf32>
    train.write @count, %count : tensor<8xf32>
  }
}

// -----

// A parameter in the place of an activation has no sums over tokens that could continue.
module attributes {train.step = {batch_size = 1, seq_length = 2, global_batch = 2, batch_segments = 1, segments = 2}} {
  train.variable @x : tensor<1x2x4xf32> parameter {hf_name = "x"}
  train.variable @w : tensor<4x4xf32> parameter {hf_name = "w"}
  train.variable @loss : tensor<8xf32> loss
  train.variable @count : tensor<8xf32> loss
  train.graph @forward {
    %labels = train.input "labels" : tensor<1x2xi32>
    %x = train.read @x : tensor<1x2x4xf32>
    %w = train.read @w : tensor<4x4xf32>
    // expected-error@+1 {{has a gradient rule that does not accumulate over micro-batches, got: operand 0}}
    %y = train.gelu %x : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
    %loss, %count = train.linear_cross_entropy %y, %w, %labels {vocab_segments = 2 : i64, batch_nodes = 1 : i64} : (tensor<1x2x4xf32>, tensor<4x4xf32>, tensor<1x2xi32>) -> (tensor<8xf32>, tensor<8xf32>)
    train.write @loss, %loss : tensor<8xf32>
    train.write @count, %count : tensor<8xf32>
  }
}
