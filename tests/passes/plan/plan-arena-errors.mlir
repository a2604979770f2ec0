// RUN: recipe-opt --split-input-file --fuse=enabled=false --select-kernels --plan-arena --verify-diagnostics %s

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

// -----

// A sum over ranks has one reader, the all-reduce.
module attributes {train.step = {batch_size = 1, seq_length = 2, global_batch = 2, batch_segments = 2, segments = 8}} {
  dist.mesh @mesh ["data"] [2]
  train.variable @loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>> loss
  train.graph @train {
  }
  train.graph @update {
    %loss = train.read @loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>
    // expected-error @below {{a sum over ranks must be of what @train adds up, got @loss}}
    %whole = dist.all_reduce %loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>> -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
    train.step_loss %whole, %whole : (tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>) -> () loc("loss")
  }
}

// -----

module attributes {train.step = {batch_size = 1, seq_length = 2, global_batch = 2, batch_segments = 2, segments = 8}} {
  dist.mesh @mesh ["data"] [2]
  train.variable @loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>> loss
  train.graph @train {
  }
  train.graph @update {
    %loss = train.read @loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>
    // expected-error @below {{a sum over ranks must be of a variable that nothing else in @update reads}}
    %whole = dist.all_reduce %loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>> -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
    %again = dist.all_reduce %loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>> -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
    train.step_loss %whole, %again : (tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>) -> () loc("loss")
  }
}

// -----

// A merge takes what the micro-batch gives.
module attributes {train.step = {batch_size = 1, seq_length = 2, global_batch = 2, batch_segments = 2, segments = 8}} {
  train.variable @x : tensor<8xf32> loss
  train.variable @p : tensor<1x8xf32> pending {of = @x}
  train.graph @train {
  }
  train.graph @segment_end {
    %x = train.read @x : tensor<8xf32>
    %p = train.read @p : tensor<1x8xf32>
    // expected-error @unknown {{a merge at the end of a segment must be of what @train adds up}}
    %y, %q = train.tree_merge %x, %p : (tensor<8xf32>, tensor<1x8xf32>) -> (tensor<8xf32>, tensor<1x8xf32>) loc("merge")
    train.write @x, %y : tensor<8xf32>
    train.write @p, %q : tensor<1x8xf32>
  }
}
