// RUN: recipe-opt %s > %t
// RUN: FileCheck %s < %t
// RUN: recipe-opt %t | diff %t -
// RUN: recipe-opt --mlir-print-op-generic %s | recipe-opt | diff %t -
// Every op of the dialect, with every attribute.

// CHECK: dist.mesh @mesh ["data"] [2]
dist.mesh @mesh ["data"] [2]
// CHECK: step.kernel @copy family "elementwise" {grain = 8 : i64} {
// CHECK-NEXT: }
step.kernel @copy family "elementwise" {grain = 8 : i64} {
}
// CHECK: step.kernel @add family "region" {} attributes {kept} {
step.kernel @add family "region" {} attributes {kept} {
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<16xf32>, %[[B:.*]]: tensor<16xf32>):
^bb0(%a: tensor<16xf32>, %b: tensor<16xf32>):
  // CHECK-NEXT: %[[C:.*]] = train.add %[[A]], %[[B]]
  %c = train.add %a, %b : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  // CHECK-NEXT: train.yield %[[C]] : tensor<16xf32>
  train.yield %c : tensor<16xf32>
}
// CHECK: step.kernel @combine family "combine" {grain = 16384 : i64} {
step.kernel @combine family "combine" {grain = 16384 : i64} {
}
// CHECK: step.arena [#step.row<ranks = 1, accumulation = 2, nodes = 2, state = 320, input = 256, transient = 4160, [<"parameters" 128>, <"gradients" 192>, <"workspace" 4416>]>, #step.row<ranks = 2, accumulation = 1, nodes = 1, state = 256, input = 256, transient = 5184, [<"parameters" 128>, <"workspace" 4544>, <"communication" 1024>]>] live 128 scratch 2 x 2048 at 64 {budget = 100000 : i64, communication = 1024 : i64}
step.arena [#step.row<ranks = 1, accumulation = 2, nodes = 2, state = 320, input = 256, transient = 4160, [<"parameters" 128>, <"gradients" 192>, <"workspace" 4416>]>, #step.row<ranks = 2, accumulation = 1, nodes = 1, state = 256, input = 256, transient = 5184, [<"parameters" 128>, <"workspace" 4544>, <"communication" 1024>]>] live 128 scratch 2 x 2048 at 64 {budget = 100000 : i64, communication = 1024 : i64}
// CHECK: step.parameter "w" @w {decay = true, gradients = [@g], hf_name = "w.weight", hf_shape = array<i64: 32>, hf_slice = array<i64: 0, 16>, optimizer = [@table]}
step.parameter "w" @w {decay = true, gradients = [@g], hf_name = "w.weight", hf_shape = array<i64: 32>, hf_slice = array<i64: 0, 16>, optimizer = [@table]}
// CHECK: step.buffer @w state at 0 size 64 : tensor<16xf32>, "parameters"
step.buffer @w state at 0 size 64 : tensor<16xf32>, "parameters"
// CHECK: step.buffer @table state at 64 size 64 : tensor<16xf32>, "constants" {data = dense<2.000000e+00> : tensor<16xf32>}
step.buffer @table state at 64 size 64 : tensor<16xf32>, "constants" {data = dense<2.0> : tensor<16xf32>}
// CHECK: step.buffer @g state at 128 size 64 : tensor<16xf32>, "gradients"
step.buffer @g state at 128 size 64 : tensor<16xf32>, "gradients"
// CHECK: step.buffer @sum state at 192 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
step.buffer @sum state at 192 size 64 : tensor<16xf32, #dist.layout<@mesh, [<[], 16>], partial = [<"data">]>>, "gradients"
// CHECK: step.buffer @pending state at 256 size 64 : tensor<16xf32>, "gradients" {min_nodes = 2 : i64}
step.buffer @pending state at 256 size 64 : tensor<16xf32>, "gradients" {min_nodes = 2 : i64}
// CHECK: step.buffer @tokens input at 0 size 64 : tensor<16xi32>, "inputs" {slot_stride = 128 : i64}
step.buffer @tokens input at 0 size 64 : tensor<16xi32>, "inputs" {slot_stride = 128 : i64}
// The type is the whole tensor's, the size that of one of two ranks.
// CHECK: step.buffer @labels input at 64 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 128 : i64}
step.buffer @labels input at 64 size 64 : tensor<32xi32, #dist.layout<@mesh, [<[<"data">], 32>]>>, "inputs" {slot_stride = 128 : i64}
// CHECK: step.buffer @x transient at 0 size 64 : tensor<16xf32>, "activations"
step.buffer @x transient at 0 size 64 : tensor<16xf32>, "activations"
// CHECK: step.buffer @y transient at 0 size 64 : tensor<16xf32>, "activations" {shares = @x}
step.buffer @y transient at 0 size 64 : tensor<16xf32>, "activations" {shares = @x}

// CHECK: step.program @forward attributes {kept} {
step.program @forward attributes {kept} {
  // CHECK-NEXT: step.instruction "x" @copy [#step.slice<read @w + 0>, #step.slice<write @x + 0>] scalars [16, -1] workgroups 2 scratch 64 when always {bytes = 128 : i64, flops = 16 : i64, id = 1 : i64}
  step.instruction "x" @copy [#step.slice<read @w + 0>, #step.slice<write @x + 0>] scalars [16, -1] workgroups 2 scratch 64 when always {bytes = 128 : i64, flops = 16 : i64, id = 1 : i64}
  // CHECK-NEXT: step.instruction "y" @add [#step.slice<read @x + 0>, #step.slice<read @table + 0>, #step.slice<write @y + 0>] scalars [] workgroups 1 scratch 0 when always
  step.instruction "y" @add [#step.slice<read @x + 0>, #step.slice<read @table + 0>, #step.slice<write @y + 0>] scalars [] workgroups 1 scratch 0 when always {bytes = 192 : i64, flops = 16 : i64, id = 2 : i64}
  // CHECK-NEXT: step.instruction "g" @copy {{.*}} when first_microbatch
  step.instruction "g" @copy [#step.slice<read @y + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when first_microbatch {bytes = 192 : i64, flops = 16 : i64, id = 3 : i64}
  // CHECK-NEXT: step.instruction "g2" @copy {{.*}} when last_microbatch
  step.instruction "g2" @copy [#step.slice<read @y + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when last_microbatch {bytes = 192 : i64, flops = 16 : i64, id = 4 : i64}
  // CHECK-NEXT: step.instruction "g3" @copy {{.*}} when segment_begin
  step.instruction "g3" @copy [#step.slice<read @y + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when segment_begin {bytes = 192 : i64, flops = 16 : i64, id = 5 : i64}
  // CHECK-NEXT: step.instruction "g4" @copy {{.*}} when segment_end
  step.instruction "g4" @copy [#step.slice<read @y + 0>, #step.slice<write @g + 0>] scalars [] workgroups 1 scratch 0 when segment_end {bytes = 192 : i64, flops = 16 : i64, id = 6 : i64}
  // CHECK-NEXT: step.instruction "p" @copy {{.*}} when accumulating
  step.instruction "p" @copy [#step.slice<read @y + 0>, #step.slice<write @pending + 0>] scalars [] workgroups 1 scratch 0 when accumulating {bytes = 192 : i64, flops = 16 : i64, id = 7 : i64}
  // CHECK-NEXT: step.instruction "s" @copy {{.*}} when always
  step.instruction "s" @copy [#step.slice<read @labels + 0>, #step.slice<write @sum + 0>] scalars [] workgroups 1 scratch 0 when always {bytes = 192 : i64, flops = 16 : i64, id = 8 : i64}
  // CHECK-NEXT: step.collective "all_reduce s" all_reduce over "data" [@sum] elements 16 with @combine when last_microbatch signal 9 {id = 9 : i64}
  step.collective "all_reduce s" all_reduce over "data" [@sum] elements 16 with @combine when last_microbatch signal 9 {id = 9 : i64}
}
step.program @update {
  // CHECK: step.instruction "u" {{.*}} when always {bytes = 128 : i64, flops = 16 : i64, id = 10 : i64, waits = array<i64: 9>}
  step.instruction "u" @copy [#step.slice<read @sum + 0>, #step.slice<write @w + 0>] scalars [] workgroups 1 scratch 0 when always {bytes = 128 : i64, flops = 16 : i64, id = 10 : i64, waits = array<i64: 9>}
}
