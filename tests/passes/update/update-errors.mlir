// RUN: recipe-opt --update --split-input-file --verify-diagnostics %s

// expected-error@+1 {{the module needs the variables @loss and @count}}
module {
}

// -----

module {
  // expected-error@+1 {{is trainable, but has no gradient: gain}}
  train.variable @gain : tensor<4xf32> parameter {hf_name = "gain", init = {constant = 1.0}}
  train.variable @loss : tensor<8xf32> loss
  train.variable @count : tensor<8xf32> loss
}

// -----

module {
  train.variable @gain : tensor<4xf32> parameter {hf_name = "gain", init = {constant = 1.0}, trainable = false}
  train.variable @loss : tensor<8xf32> loss
  train.variable @count : tensor<8xf32> loss
  // expected-error@+1 {{a gradient belongs to a trainable parameter, got: @gain}}
  train.variable @g : tensor<8x4xf32> gradient {of = @gain, use = 0}
}

// -----

module {
  train.variable @gain : tensor<4xf32> parameter {hf_name = "gain", init = {constant = 1.0}}
  train.variable @loss : tensor<8xf32> loss
  train.variable @count : tensor<8xf32> loss
  // expected-error@+1 {{gradients of a parameter are declared in the order of use, got: 1 : i64 at place 0}}
  train.variable @g : tensor<8x4xf32> gradient {of = @gain, use = 1}
}

// -----

module {
  // expected-error@+1 {{a parameter needs 'init', got none for gain}}
  train.variable @gain : tensor<4xf32> parameter {hf_name = "gain"}
  train.variable @loss : tensor<8xf32> loss
  train.variable @count : tensor<8xf32> loss
  train.variable @g : tensor<8x4xf32> gradient {of = @gain, use = 0}
}

// -----

module {
  train.variable @loss : tensor<8xf32> loss
  train.variable @count : tensor<8xf32> loss
  // expected-error@+1 {{evaluation writes @loss and @count}}
  train.graph @eval {
  }
}
