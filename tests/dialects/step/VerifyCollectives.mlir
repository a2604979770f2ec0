// Layouts of buffers and the collectives between them, one rule at a time (C1 to C5 of step.arena). tests/pipeline/MutatedPlanTest.cpp
// does the same to real plans.
// RUN: recipe-opt --split-input-file --verify-diagnostics %s

// A sound one: a zero, terms, the sum over ranks, its use.
dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  step.instruction "zero" @k [#step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when segment_begin {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<read @g + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  step.collective "sum g" all_reduce over "data" [@g] elements 16 with @combine when last_microbatch signal 3 {id = 3 : i64}
}
step.program @update {
  step.instruction "use" @k [#step.slice<read @g + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 4 : i64, flops = 0 : i64, bytes = 0 : i64, waits = array<i64: 3>}
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  // expected-error @+1 {{C1: what is computed from split samples must be split or Partial, got @w}}
  step.instruction "w" @k [#step.slice<read @x + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  // expected-error @+1 {{C1: only what is computed from split samples may be Partial, got @g}}
  step.instruction "w" @k [#step.slice<read @w + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

// A rank alone does not fill sums.
dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  // expected-error @+1 {{C1: only what is computed from split samples may be Partial, got @g}}
  step.instruction "one" @k [#step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<read @g + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
}
step.program @update {
  // expected-error @+1 {{C2: must not read a sum that other ranks add to before a collective has reduced it, got @g}}
  step.instruction "use" @k [#step.slice<read @g + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 4 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<read @g + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  // expected-error @+1 {{C2: must not read a sum that other ranks add to before a collective has reduced it, got @g}}
  step.instruction "other" @k [#step.slice<read @g + 0>, #step.slice<write @h + 0>] scalars [] workgroups 1 scratch 0 when always {id = 4 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<read @g + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  // expected-error @+1 {{C3: a collective must reduce what is Partial, got @w}}
  step.collective "sum w" all_reduce over "data" [@w] elements 16 with @combine when last_microbatch signal 3 {id = 3 : i64}
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<read @g + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  // expected-error @+1 {{C3: a collective must reduce over the axis that its buffer is Partial over, got @g over tensor}}
  step.collective "sum g" all_reduce over "tensor" [@g] elements 16 with @combine when last_microbatch signal 3 {id = 3 : i64}
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<read @g + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  // expected-error @+1 {{C3: a collective must run once in a step, got it when always}}
  step.collective "sum g" all_reduce over "data" [@g] elements 16 with @combine when always signal 3 {id = 3 : i64}
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<read @g + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  step.collective "sum g" all_reduce over "data" [@g] elements 16 with @combine when last_microbatch signal 3 {id = 3 : i64}
  // expected-error @+1 {{C3: a sum must be reduced once, got @g}}
  step.collective "sum g" all_reduce over "data" [@g] elements 16 with @combine when last_microbatch signal 5 {id = 5 : i64}
}
step.program @update {
  step.instruction "use" @k [#step.slice<read @g + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 4 : i64, flops = 0 : i64, bytes = 0 : i64, waits = array<i64: 3>}
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  // expected-error @+1 {{C3: a sum must be complete before it is reduced, got @g}}
  step.collective "sum g" all_reduce over "data" [@g] elements 16 with @combine when last_microbatch signal 3 {id = 3 : i64}
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<read @g + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
}
step.program @update {
  step.instruction "use" @k [#step.slice<read @g + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 4 : i64, flops = 0 : i64, bytes = 0 : i64, waits = array<i64: 3>}
}

// -----

// Complete so far, but more is added.
dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<read @g + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  step.collective "sum g" all_reduce over "data" [@g] elements 16 with @combine when last_microbatch signal 3 {id = 3 : i64}
  // expected-error @+1 {{C4: must wait for the collective on what it uses, got @g}}
  step.instruction "more" @k [#step.slice<read @x + 0>, #step.slice<read @g + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 7 : i64, flops = 0 : i64, bytes = 0 : i64}
}
step.program @update {
  step.instruction "use" @k [#step.slice<read @g + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 4 : i64, flops = 0 : i64, bytes = 0 : i64, waits = array<i64: 3>}
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<read @g + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  step.collective "sum g" all_reduce over "data" [@g] elements 16 with @combine when last_microbatch signal 3 {id = 3 : i64}
}
step.program @update {
  step.instruction "use" @k [#step.slice<read @g + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 4 : i64, flops = 0 : i64, bytes = 0 : i64, waits = array<i64: 3>}
  // expected-error @+1 {{C3: must not add to a sum that is reduced already, got @g}}
  step.instruction "more" @k [#step.slice<read @x + 0>, #step.slice<read @g + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 7 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<read @g + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  step.instruction "grad2" @k [#step.slice<read @x + 0>, #step.slice<write @h + 0>] scalars [] workgroups 1 scratch 0 when always {id = 6 : i64, flops = 0 : i64, bytes = 0 : i64}
  step.collective "sum g" all_reduce over "data" [@g] elements 16 with @combine when last_microbatch signal 3 {id = 3 : i64}
  // expected-error @+1 {{C3: signals must differ, got 3 twice}}
  step.collective "sum h" all_reduce over "data" [@h] elements 16 with @combine when last_microbatch signal 3 {id = 3 : i64}
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<read @g + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  step.collective "sum g" all_reduce over "data" [@g] elements 16 with @combine when last_microbatch signal 3 {id = 3 : i64}
}
step.program @update {
  // expected-error @+1 {{C4: must wait for the collective on what it uses, got @g}}
  step.instruction "use" @k [#step.slice<read @g + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 4 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<read @g + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  step.collective "sum g" all_reduce over "data" [@g] elements 16 with @combine when last_microbatch signal 3 {id = 3 : i64}
}
step.program @update {
  // expected-error @+1 {{C4: must wait for a collective that was issued before, got 8}}
  step.instruction "use" @k [#step.slice<read @g + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 4 : i64, flops = 0 : i64, bytes = 0 : i64, waits = array<i64: 8>}
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<read @g + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  // expected-error @+1 {{C4: each collective must be waited for in the update, got no wait for 3}}
  step.collective "sum g" all_reduce over "data" [@g] elements 16 with @combine when last_microbatch signal 3 {id = 3 : i64}
}

// -----

// Evaluation and initialisation run on each rank by itself.
dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @eval {
  // expected-error @+1 {{C5: must stand in a program of the step, got @eval}}
  step.collective "sum g" all_reduce over "data" [@g] elements 16 with @combine when always signal 3 {id = 3 : i64}
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @init {
  // expected-error @+1 {{C5: must not use a sum over ranks in @init, got @g}}
  step.instruction "zero" @k [#step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @eval {
  // expected-error @+1 {{C5: nothing is to be waited for in @eval}}
  step.instruction "use" @k [#step.slice<read @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64, waits = array<i64: 3>}
}

// -----

// An input is what this rank was given to evaluate.
dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @eval {
  step.instruction "use" @k [#step.slice<read @x + 0>, #step.slice<read @w + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----


dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  // expected-error @+1 {{C1: what is computed from a part of a sum must be Partial, got @w}}
  step.instruction "both" @k [#step.slice<read @g + 0>, #step.slice<write @g + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 1 : i64, flops = 0 : i64, bytes = 0 : i64}
}

// -----

// Two sums go together.

dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<write @g + 0>, #step.slice<write @h + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  step.collective "sum" all_reduce over "data" [@g, @h] elements 32 with @combine when last_microbatch signal 3 {id = 3 : i64}
}
step.program @update {
  step.instruction "use" @k [#step.slice<read @g + 0>, #step.slice<read @h + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 4 : i64, flops = 0 : i64, bytes = 0 : i64, waits = array<i64: 3>}
}

// -----


dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<write @g + 0>, #step.slice<write @h + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  // expected-error @+1 {{C3: a collective must reduce what is Partial, got @w}}
  step.collective "sum" all_reduce over "data" [@w, @g] elements 32 with @combine when last_microbatch signal 3 {id = 3 : i64}
}
step.program @update {
  step.instruction "use" @k [#step.slice<read @g + 0>, #step.slice<read @h + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 4 : i64, flops = 0 : i64, bytes = 0 : i64, waits = array<i64: 3>}
}

// -----


dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 256, input = 128, transient = 64, [<"parameters" 448>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 192 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.buffer @between state at 128 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.program @backward {
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<write @g + 0>, #step.slice<write @h + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  // expected-error @+1 {{C3: nothing may lie between the buffers of a collective, got before @h}}
  step.collective "sum" all_reduce over "data" [@g, @h] elements 48 with @combine when last_microbatch signal 3 {id = 3 : i64}
}
step.program @update {
  step.instruction "use" @k [#step.slice<read @g + 0>, #step.slice<read @h + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 4 : i64, flops = 0 : i64, bytes = 0 : i64, waits = array<i64: 3>}
}

// -----


dist.mesh @mesh ["data", "tensor"] [2, 2]
step.kernel @k family "elementwise" {} {}
step.kernel @combine family "combine" {} {}
step.arena [#step.row<ranks = 2, accumulation = 1, nodes = 1, state = 192, input = 128, transient = 64, [<"parameters" 384>]>] live 0 scratch 1 x 0 at 64
step.buffer @w state at 0 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>]>>, "parameters"
step.buffer @g state at 64 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @h state at 128 size 64 : tensor<16xi32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @x input at 0 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 64 : i64}
step.program @backward {
  step.instruction "grad" @k [#step.slice<read @x + 0>, #step.slice<write @g + 0>, #step.slice<write @h + 0>] scalars [] workgroups 1 scratch 0 when always {id = 2 : i64, flops = 0 : i64, bytes = 0 : i64}
  // expected-error @+1 {{C3: buffers of a collective must have one element type, got @h}}
  step.collective "sum" all_reduce over "data" [@g, @h] elements 32 with @combine when last_microbatch signal 3 {id = 3 : i64}
}
step.program @update {
  step.instruction "use" @k [#step.slice<read @g + 0>, #step.slice<read @h + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {id = 4 : i64, flops = 0 : i64, bytes = 0 : i64, waits = array<i64: 3>}
}
