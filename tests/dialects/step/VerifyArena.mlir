// The proof of a plan, one rule at a time. tests/pipeline/MutatedPlanTest.cpp does the same to real plans.
// RUN: recipe-opt --split-input-file --verify-diagnostics %s

// A sound one: y takes over from x, z the bytes that t had.
step.kernel @k family "elementwise" {} {}
step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 64, input = 0, transient = 192, [<"parameters" 256>]>] live 128 scratch 1 x 64 at 128
step.buffer @w state at 0 size 64 : tensor<16xf32>, "parameters"
step.buffer @x transient at 0 size 64 : tensor<16xf32>, "activations"
step.buffer @t transient at 64 size 64 : tensor<16xf32>, "workspace"
step.buffer @y transient at 0 size 64 : tensor<16xf32>, "activations" {shares = @x}
step.buffer @z transient at 64 size 64 : tensor<16xf32>, "activations"
step.program @forward {
  step.instruction "x" @k [#step.slice<read @w + 0>, #step.slice<temp @t + 0>, #step.slice<write @x + 0>] scalars [] workgroups 1 scratch 64 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
  step.instruction "y" @k [#step.slice<read @x + 0>, #step.slice<write @y + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  step.instruction "z" @k [#step.slice<read @y + 0>, #step.slice<write @z + 0>] scalars [] workgroups 1 scratch 0 when always {id = 3 : i64, flops = 0 : i64, bytes = 0 : i64}
}
step.program @backward {
  step.instruction "w" @k [#step.slice<read @z + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 4 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

step.kernel @k family "elementwise" {} {}
step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 0, input = 0, transient = 192, [<"parameters" 192>]>] live 128 scratch 1 x 64 at 128
// expected-note @+1 {{which lies here}}
step.buffer @x transient at 0 size 128 : tensor<32xf32>, "activations"
// expected-error @+1 {{must not lie on the bytes of a buffer that lives at the same time, got @x}}
step.buffer @y transient at 64 size 64 : tensor<16xf32>, "activations"
step.program @forward {
  step.instruction "x" @k [#step.slice<write @x + 0>] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
  step.instruction "y" @k [#step.slice<read @x + 0>, #step.slice<write @y + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

// Taking over a storage whose value is still needed.
step.kernel @k family "elementwise" {} {}
step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 0, input = 0, transient = 128, [<"parameters" 128>]>] live 64 scratch 1 x 64 at 64
step.buffer @x transient at 0 size 64 : tensor<16xf32>, "activations"
// expected-error @+1 {{shares must name a buffer whose last reader is this one's writer, got @x}}
step.buffer @y transient at 0 size 64 : tensor<16xf32>, "activations" {shares = @x}
step.program @forward {
  step.instruction "x" @k [#step.slice<write @x + 0>] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
  step.instruction "y" @k [#step.slice<read @x + 0>, #step.slice<write @y + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  step.instruction "z" @k [#step.slice<read @x + 0>, #step.slice<read @y + 0>] scalars [] workgroups 1 scratch 0 when always {id = 3 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

step.kernel @k family "elementwise" {} {}
step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 0, input = 0, transient = 128, [<"parameters" 128>]>] live 64 scratch 1 x 64 at 64
step.buffer @x transient at 0 size 64 : tensor<16xf32>, "activations"
step.program @eval {
  // expected-error @+1 {{must not read what is not written yet, got @x}}
  step.instruction "x" @k [#step.slice<read @x + 0>] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

// Nothing passes from one program to another, but along forward, backward and update.
step.kernel @k family "elementwise" {} {}
step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 0, input = 0, transient = 128, [<"parameters" 128>]>] live 64 scratch 1 x 64 at 64
step.buffer @x transient at 0 size 64 : tensor<16xf32>, "activations"
step.program @backward {
  step.instruction "x" @k [#step.slice<write @x + 0>] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
}
step.program @eval {
  // expected-error @+1 {{must not read what is not written yet, got @x}}
  step.instruction "y" @k [#step.slice<read @x + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

// A gradient lives to the end of the update, whoever read it last.
step.kernel @k family "elementwise" {} {}
step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 64, input = 0, transient = 128, [<"parameters" 192>]>] live 64 scratch 1 x 64 at 64
step.parameter "w" @w {decay = false, gradients = [@g], hf_name = "w", hf_shape = array<i64: 16>, hf_slice = array<i64: -1, 0>, optimizer = []}
step.buffer @w state at 0 size 64 : tensor<16xf32>, "parameters"
// expected-note @+1 {{which lies here}}
step.buffer @g transient at 0 size 64 : tensor<16xf32>, "gradients"
// expected-error @+1 {{must not lie on the bytes of a buffer that lives at the same time, got @g}}
step.buffer @x transient at 0 size 64 : tensor<16xf32>, "activations"
step.program @backward {
  step.instruction "g" @k [#step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
}
step.program @update {
  step.instruction "w" @k [#step.slice<read @g + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  step.instruction "x" @k [#step.slice<write @x + 0>] scalars [] workgroups 1 scratch 0 when always {id = 3 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

// A gradient that no micro-batch makes.
step.kernel @k family "elementwise" {} {}
step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 64, input = 0, transient = 128, [<"parameters" 192>]>] live 64 scratch 1 x 64 at 64
// expected-error @+1 {{a gradient must be written by forward or backward, got @g}}
step.parameter "w" @w {decay = false, gradients = [@g], hf_name = "w", hf_shape = array<i64: 16>, hf_slice = array<i64: -1, 0>, optimizer = []}
step.buffer @w state at 0 size 64 : tensor<16xf32>, "parameters"
step.buffer @g transient at 0 size 64 : tensor<16xf32>, "gradients"
step.program @update {
  step.instruction "w" @k [#step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

step.kernel @k family "elementwise" {} {}
step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 0, input = 0, transient = 128, [<"parameters" 128>]>] live 64 scratch 1 x 64 at 64
step.buffer @x transient at 0 size 64 : tensor<16xf32>, "activations"
step.program @forward {
  step.instruction "x" @k [#step.slice<write @x + 0>] scalars [] workgroups 1 scratch 0 when segment_begin {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
  // expected-error @+1 {{must not run when the writer of its operand does not, got @x}}
  step.instruction "y" @k [#step.slice<read @x + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

step.kernel @k family "elementwise" {} {}
step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 0, input = 0, transient = 128, [<"parameters" 128>]>] live 64 scratch 1 x 64 at 64
step.buffer @x transient at 0 size 64 : tensor<16xf32>, "activations"
step.program @forward {
  step.instruction "x" @k [#step.slice<write @x + 0>] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
  // expected-error @+1 {{must not write what another instruction has written, got @x}}
  step.instruction "y" @k [#step.slice<write @x + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

step.kernel @k family "elementwise" {} {}
step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 64, input = 0, transient = 64, [<"parameters" 128>]>] live 0 scratch 1 x 64 at 0
step.buffer @c state at 0 size 8 : tensor<2xf32>, "constants" {data = dense<1.0> : tensor<2xf32>}
step.program @forward {
  // expected-error @+1 {{must not write an input or a constant, got @c}}
  step.instruction "x" @k [#step.slice<write @c + 0>] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

step.kernel @k family "elementwise" {} {}
step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 0, input = 0, transient = 64, [<"parameters" 64>]>] live 0 scratch 1 x 64 at 0
step.program @forward {
  // expected-error @+1 {{scratch must fit a thread's slice, got 128 and 64}}
  step.instruction "x" @k [] scalars [] workgroups 1 scratch 128 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

step.kernel @k family "elementwise" {} {}
step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 0, input = 0, transient = 64, [<"parameters" 64>]>] live 0 scratch 1 x 64 at 0
step.program @forward {
  step.instruction "x" @k [] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
  // expected-error @+1 {{launches of one op must run together, got always and segment_end}}
  step.instruction "x" @k [] scalars [] workgroups 1 scratch 0 when segment_end {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

// A copy for pending nodes may lie outside on ranks that have fewer; on the others it may not.
step.arena [#step.row<ranks = 1, accumulation = 2, nodes = 2, state = 64, input = 0, transient = 64, [<"gradients" 128>]>,
            #step.row<ranks = 2, accumulation = 1, nodes = 1, state = 64, input = 0, transient = 64, [<"gradients" 128>]>] live 0 scratch 1 x 64 at 0
// expected-error @+1 {{must lie inside its region on every number of ranks, got 128 and 64 on 1}}
step.buffer @p state at 64 size 64 : tensor<16xf32>, "gradients" {min_nodes = 2 : i64}

// -----

// expected-error @+1 {{transient region must hold buffers, scratch and what arrives, got 64 and 128 on 1}}
step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 0, input = 0, transient = 64, [<"parameters" 64>]>] live 64 scratch 1 x 64 at 64

// -----

step.arena [#step.row<ranks = 1, accumulation = 1, nodes = 1, state = 0, input = 0, transient = 128, [<"parameters" 128>]>] live 64 scratch 1 x 64 at 64
// expected-error @+1 {{must end before the scratch, got 128 and 64}}
step.buffer @x transient at 64 size 64 : tensor<16xf32>, "activations"
