// Layouts stay at the boundary of a region; collectives over one rank go.
// RUN: recipe-opt --fuse --fold-collectives %s | FileCheck %s

#whole = #dist.layout<@mesh, [<[], 8>]>
#partial = #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>
dist.mesh @mesh ["data"] [1]
train.variable @a : tensor<8xf32, #partial> gradient
train.variable @b : tensor<8xf32, #whole> output
// CHECK-LABEL: train.graph @update
train.graph @update {
  // CHECK: %[[A:.+]] = train.read @a : tensor<8xf32, #{{.+}}>
  // CHECK-NEXT: %[[S:.+]] = train.kernel "add"(%[[A]], %[[A]]) : (tensor<8xf32, #[[P:.+]]>, tensor<8xf32, #[[P]]>) -> tensor<8xf32, #[[W:.+]]> {
  // CHECK-NEXT: ^bb0(%[[E:.+]]: tensor<8xf32>, %[[F:.+]]: tensor<8xf32>):
  // CHECK-NEXT: train.add %[[E]], %[[F]] : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %a = train.read @a : tensor<8xf32, #partial>
  %r = dist.all_reduce %a : tensor<8xf32, #partial> -> tensor<8xf32, #whole>
  %s = train.add %r, %r : (tensor<8xf32, #whole>, tensor<8xf32, #whole>) -> tensor<8xf32, #whole> loc("add")
  train.write @b, %s : tensor<8xf32, #whole>
}
