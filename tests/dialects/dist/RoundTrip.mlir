// RUN: recipe-opt %s > %t
// RUN: FileCheck %s < %t
// RUN: recipe-opt %t | diff %t -
// RUN: recipe-opt --mlir-print-op-generic %s | recipe-opt | diff %t -
// RUN: recipe-opt --verify-layouts %s | diff %t -

// CHECK: dist.mesh @mesh ["data", "context", "tensor", "pipeline", "expert"] [2, 1, 4, 1, 1]
dist.mesh @mesh ["data", "context", "tensor", "pipeline", "expert"] [2, 1, 4, 1, 1]

// CHECK: train.variable @whole : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> loss
train.variable @whole : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>]>> loss
// CHECK: train.variable @partial : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>> loss
train.variable @partial : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>> loss
// CHECK: train.variable @padded : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[<"tensor">], 6, padding = 2>]>> loss
train.variable @padded : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[<"tensor">], 6, padding = 2>]>> loss
// Two halves of one axis: the outer one splits rows, the inner one is still to be summed.
// CHECK: train.variable @halves : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor" size 2>], 8>, <[], 6>], partial = [<"tensor" after 2 size 2>]>> loss
train.variable @halves : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor" size 2>], 8>, <[], 6>], partial = [<"tensor" after 2 size 2>]>> loss
// CHECK: train.variable @scalar : tensor<f32, #dist.layout<@mesh, []>> loss
train.variable @scalar : tensor<f32, #dist.layout<@mesh, []>> loss
// CHECK: train.variable @partial_scalar : tensor<f32, #dist.layout<@mesh, [], partial = [<"data">]>> loss
train.variable @partial_scalar : tensor<f32, #dist.layout<@mesh, [], partial = [<"data">]>> loss

// CHECK-LABEL: train.graph @changes
train.graph @changes {
  %partial = train.read @partial : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>>
  // CHECK: dist.all_reduce %{{.*}} : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  %0 = dist.all_reduce %partial : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">, <"tensor">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>>
  // CHECK: dist.reduce_scatter %{{.*}} : {{.*}} -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  %1 = dist.reduce_scatter %0 : tensor<8x6xf32, #dist.layout<@mesh, [<[], 8>, <[], 6>], partial = [<"data">]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  // CHECK: dist.slice %{{.*}} : {{.*}} -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[<"tensor">], 6, padding = 2>]>>
  %2 = dist.slice %1 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[<"tensor">], 6, padding = 2>]>>
  // CHECK: dist.all_to_all %{{.*}} : {{.*}} -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>>
  %3 = dist.all_to_all %2 : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[<"tensor">], 6, padding = 2>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>>
  // CHECK: dist.all_gather %{{.*}} {kept} : {{.*}} -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
  %4 = dist.all_gather %3 {kept} : tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">, <"tensor">], 8>, <[], 6>]>> -> tensor<8x6xf32, #dist.layout<@mesh, [<[<"data">], 8>, <[], 6>]>>
}
