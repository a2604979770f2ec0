// RUN: recipe-opt --split-input-file --fuse --select-kernels --plan-arena --verify-diagnostics %s

// The old value is needed after the new one has taken its place.
module attributes {train.step = {batch_size = 1, seq_length = 2, global_batch = 1, batch_segments = 1, segments = 8}} {
  train.variable @x : tensor<4x8xf32> output
  train.variable @y : tensor<4x8xf32> output
  train.graph @train {
    %x = train.read @x : tensor<4x8xf32>
    %new = train.gelu %x : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("new")
    %sum = train.add %x, %new : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("sum")
    // expected-error @below {{variable @x must not be needed once its new value is produced by 'new', got a use by 'sum'}}
    train.write @x, %new : tensor<4x8xf32>
    train.write @y, %sum : tensor<4x8xf32>
  }
}

// -----

module attributes {train.step = {batch_size = 1, seq_length = 2, global_batch = 1, batch_segments = 1, segments = 8}} {
  train.variable @x : tensor<4x8xf32> output
  train.variable @y : tensor<4x8xf32> output
  train.graph @train {
    %new = train.fill {value = 1.0 : f64} : () -> tensor<4x8xf32> loc("new")
    train.write @x, %new : tensor<4x8xf32>
    // expected-error @below {{a value must be written to one variable only, got @x and @y}}
    train.write @y, %new : tensor<4x8xf32>
  }
}

// -----

module attributes {train.step = {batch_size = 1, seq_length = 2, global_batch = 1, batch_segments = 1, segments = 8}} {
  train.variable @x : tensor<4x8xf32> output
  train.variable @y : tensor<4x8xf32> output
  train.graph @train {
    %x = train.read @x : tensor<4x8xf32>
    // expected-error @below {{a variable takes what a kernel gives, got the result of train.read}}
    train.write @y, %x : tensor<4x8xf32>
  }
}

// -----

// expected-error @below {{the module needs the attribute 'train.step'}}
module {
  train.graph @train {
  }
}
