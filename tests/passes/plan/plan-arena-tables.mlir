// Equal tables of two graphs are one constant, evaluated here.
// RUN: recipe-opt --fuse --select-kernels --plan-arena %s | FileCheck %s
// RUN: recipe-opt --fuse --select-kernels --plan-arena=evaluates-tables=false %s | FileCheck --check-prefix=PLACES %s

// cos and sin of 0, 0, 1 and 0.5.
// CHECK: step.buffer @"const:rope_table0.0" state at 64 size 16 : tensor<2x2xf32>, "constants" {data = dense<{{\[}}[1.000000e+00, 1.000000e+00], [0.540302277, 0.87758255]]> : tensor<2x2xf32>}
// CHECK: step.buffer @"const:rope_table0.1" {{.+}} dense<{{\[}}[0.000000e+00, 0.000000e+00], [0.841470957, 0.47942555{{[0-9]*}}]]>
// CHECK-NOT: const:rope_table1
// PLACES: step.buffer @"const:rope_table0.0" state at 64 size 16 : tensor<2x2xf32>, "constants"{{$}}
// PLACES: step.buffer @"const:rope_table0.1" state at 128 size 16 : tensor<2x2xf32>, "constants"{{$}}
// PLACES-NOT: const:rope_table1
module attributes {train.step = {batch_size = 1, seq_length = 2, global_batch = 1, batch_segments = 1, segments = 8}} {
  train.variable @x : tensor<1x2x4xf32> output
  train.graph @one {
    %x = train.read @x : tensor<1x2x4xf32>
    %p = train.input "positions" : tensor<1x2xi32>
    %cos, %sin = train.rope_table {inv_freq = array<f64: 1.0, 0.5>, attention_factor = 1.0 : f64} : () -> (tensor<2x2xf32>, tensor<2x2xf32>) loc("rope")
    %y = train.rope %x, %cos, %sin, %p {heads = 1 : i64, inverse = false} : (tensor<1x2x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x2xi32>) -> tensor<1x2x4xf32> loc("q")
    train.write @x, %y : tensor<1x2x4xf32>
  }
  train.graph @two {
    %x = train.read @x : tensor<1x2x4xf32>
    %p = train.input "positions" : tensor<1x2xi32>
    %cos, %sin = train.rope_table {inv_freq = array<f64: 1.0, 0.5>, attention_factor = 1.0 : f64} : () -> (tensor<2x2xf32>, tensor<2x2xf32>) loc("rope")
    %y = train.rope %x, %cos, %sin, %p {heads = 1 : i64, inverse = true} : (tensor<1x2x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x2xi32>) -> tensor<1x2x4xf32> loc("q")
    train.write @x, %y : tensor<1x2x4xf32>
  }
}
