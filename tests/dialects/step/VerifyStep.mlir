// RUN: recipe-opt --split-input-file --verify-diagnostics %s

// expected-error @+1 {{offset must be a multiple of 64, 0 or more, got 32}}
step.buffer @a state at 32 size 16 : tensor<4xf32>, "parameters"

// -----

// expected-error @+1 {{offset must be a multiple of 64, 0 or more, got -64}}
step.buffer @a state at -64 size 16 : tensor<4xf32>, "parameters"

// -----

// expected-error @+1 {{size must be that of its type, got 20 and 16}}
step.buffer @a state at 0 size 20 : tensor<4xf32>, "parameters"

// -----

// expected-error @+1 {{slot_stride must hold an input buffer and be 0 for others, got 0}}
step.buffer @a input at 0 size 16 : tensor<4xi32>, "inputs"

// -----

// expected-error @+1 {{data needs a state buffer of its type}}
step.buffer @a transient at 0 size 8 : tensor<2xf32>, "constants" {data = dense<1.0> : tensor<2xf32>}

// -----

// expected-error @+1 {{min_nodes is for state buffers}}
step.buffer @a transient at 0 size 8 : tensor<2xf32>, "activations" {min_nodes = 2 : i64}

// -----

step.buffer @a transient at 0 size 8 : tensor<2xf32>, "activations"
// expected-error @+1 {{must lie exactly where the buffer lies that it shares with, got 64+8 and 0+8}}
step.buffer @b transient at 64 size 8 : tensor<2xf32>, "activations" {shares = @a}

// -----

step.buffer @a transient at 0 size 8 : tensor<2xf32>, "activations"
// expected-error @+1 {{must name state buffers, got @a}}
step.parameter "w" @a {gradients = [], optimizer = [], hf_name = "w", hf_shape = array<i64: 2>, hf_slice = array<i64: -1, 0>, decay = false}

// -----

step.buffer @a state at 0 size 8 : tensor<2xf32>, "parameters"
step.program @forward {
  // expected-error @+1 {{must name a step.kernel, got @k}}
  step.instruction "x" @k [#step.slice<write @a + 0>] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

step.kernel @k family "elementwise" {} {}
step.buffer @a state at 0 size 8 : tensor<2xf32>, "parameters"
step.program @forward {
  // expected-error @+1 {{argument must lie inside its buffer, got #step.slice<write @a + 8> and 8 bytes}}
  step.instruction "x" @k [#step.slice<write @a + 8>] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

step.kernel @k family "elementwise" {} {}
step.program @forward {
  // expected-error @+1 {{needs a workgroup, got 0}}
  step.instruction "x" @k [] scalars [] workgroups 0 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

// expected-error @+1 {{needs a row for each legal number of ranks}}
step.arena [] live 0 scratch 1 x 64 at 0

// -----

// expected-error @+1 {{categories must add up to the arena, got 64 and 128}}
step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 64, input = 0, transient = 64, [<"parameters" 64>]>] live 0 scratch 1 x 64 at 0

// -----

// expected-error @+1 {{must stay within memory.budget, got 128 and 100}}
step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 64, input = 0, transient = 64, [<"parameters" 128>]>] live 0 scratch 1 x 64 at 0 {budget = 100 : i64}

// -----

// expected-error @+1 {{communication must be a multiple of 64 bytes, got 100}}
step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 64, input = 0, transient = 64, [<"parameters" 128>]>] live 0 scratch 1 x 64 at 0 {communication = 100 : i64}

// -----

// What arrives lies behind the scratch, on more than one rank.
// expected-error @+1 {{transient region must hold buffers, scratch and what arrives, got 64 and 192 on 2}}
step.arena [#step.row<ranks = 1, accumulation = 2, nodes = 1, state = 0, input = 0, transient = 64, [<"workspace" 64>]>, #step.row<ranks = 2, accumulation = 1, nodes = 1, state = 0, input = 0, transient = 64, [<"workspace" 64>]>] live 0 scratch 1 x 64 at 0 {communication = 128 : i64}

// -----

dist.mesh @mesh ["data"] [2]
// expected-error @+1 {{size must be that of a rank's part of its type, got 128 and 64}}
step.buffer @a transient at 0 size 128 : tensor<32xf32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "activations"

// -----

// expected-error @+1 {{D5: no mesh @mesh}}
step.buffer @a transient at 0 size 128 : tensor<32xf32, #dist.layout<@mesh, [<[], 32>]>>, "activations"

// -----

step.kernel @k family "elementwise" {} {}
step.buffer @a state at 0 size 8 : tensor<2xf32>, "gradients"
step.program @forward {
  // expected-error @+1 {{must name a step.kernel of family "combine", got @k}}
  step.collective "x" all_reduce over "data" [@a] elements 2 with @k when always signal 1 {id = 1 : i64}
}

// -----

step.kernel @k family "combine" {} {}
step.buffer @a state at 0 size 8 : tensor<2xf32>, "gradients"
step.program @forward {
  // expected-error @+1 {{must take all of its buffers, got 4 and 8 bytes}}
  step.collective "x" all_reduce over "data" [@a] elements 1 with @k when always signal 1 {id = 1 : i64}
}

// -----

step.kernel @k family "combine" {} {}
step.buffer @a transient at 0 size 8 : tensor<2xf32>, "activations"
step.program @forward {
  // expected-error @+1 {{must name state buffers that every rank has, got @a}}
  step.collective "x" all_reduce over "data" [@a] elements 2 with @k when always signal 1 {id = 1 : i64}
}

// -----

step.kernel @k family "combine" {} {}
step.buffer @a state at 0 size 8 : tensor<2xf32>, "gradients"
step.program @forward {
  // expected-error @+1 {{needs a signal that instructions can wait for, got 0}}
  step.collective "x" all_reduce over "data" [@a] elements 2 with @k when always signal 0 {id = 1 : i64}
}

// -----

step.program @forward {
  // expected-error @+1 {{needs an element, got 0}}
  step.collective "x" all_reduce over "data" [@a] elements 0 with @k when always signal 1 {id = 1 : i64}
}

// -----

step.kernel @k family "combine" {} {}
step.program @forward {
  // expected-error @+1 {{must name buffers, got []}}
  step.collective "x" all_reduce over "data" [] elements 1 with @k when always signal 1 {id = 1 : i64}
}

// -----

step.kernel @k family "combine" {} {}
step.buffer @a state at 64 size 8 : tensor<2xf32>, "gradients"
step.buffer @b state at 0 size 8 : tensor<2xf32>, "gradients"
step.program @forward {
  // expected-error @+1 {{must name buffers that follow each other, got @b at 0 after 72}}
  step.collective "x" all_reduce over "data" [@a, @b] elements 2 with @k when always signal 1 {id = 1 : i64}
}

// -----

step.kernel @k family "combine" {} {}
step.buffer @a state at 0 size 8 : tensor<2xf32>, "gradients"
step.buffer @b state at 4160 size 8 : tensor<2xf32>, "gradients"
step.program @forward {
  // expected-error @+1 {{must name buffers that follow each other, got @b at 4160 after 8}}
  step.collective "x" all_reduce over "data" [@a, @b] elements 2 with @k when always signal 1 {id = 1 : i64}
}
