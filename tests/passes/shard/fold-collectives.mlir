// RUN: recipe-opt %s --fold-collectives > %t
// RUN: FileCheck %s < %t
// RUN: recipe-opt %s --verify-layouts=require-layouts=true -o /dev/null
// RUN: recipe-opt %t --verify-layouts=require-layouts=true -o /dev/null
// Values, on one rank, where everything folds.
// RUN: recipe-opt %S/shard.mlir --shard -o %t.one
// RUN: recipe-opt %t.one --fold-collectives -o %t.folded
// RUN: %same_values %t.one %t.folded
// RUN: FileCheck %s --check-prefix=ONE < %t.folded
// Folding again changes nothing.
// RUN: recipe-opt %t --fold-collectives | diff %t -

// ONE: dist.mesh @mesh ["data"] [1]
// ONE-NOT: dist.all_reduce
// ONE-NOT: "data"

// CHECK: dist.mesh @mesh ["data", "context", "tensor"] [1, 1, 2]
dist.mesh @mesh ["data", "context", "tensor"] [1, 1, 2]

// CHECK: train.variable @loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>> loss
train.variable @loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>> loss
// CHECK: train.variable @both : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"tensor">]>> loss
train.variable @both : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">, <"tensor">]>> loss
// Padding goes with the last axis that it was for.
// CHECK: train.variable @padded : tensor<7x7xf32, #dist.layout<@mesh, [<[], 7>, <[<"tensor">], 7, padding = 1>]>> loss
train.variable @padded : tensor<7x7xf32, #dist.layout<@mesh, [<[<"data">], 7, padding = 1>, <[<"context">, <"tensor">], 7, padding = 1>]>> loss

// CHECK-LABEL: train.graph @update
train.graph @update {
  // CHECK-NEXT: %[[LOSS:.*]] = train.read @loss
  %loss = train.read @loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>
  // One rank: gone.
  %whole = dist.all_reduce %loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>> -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
  // CHECK-NEXT: %[[BOTH:.*]] = train.read @both
  %both = train.read @both : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">, <"tensor">]>>
  // Two axes, of which one has ranks: only that one is left.
  // CHECK-NEXT: %[[SUM:.*]] = dist.all_reduce %[[BOTH]] : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"tensor">]>> -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
  %sum = dist.all_reduce %both : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">, <"tensor">]>> -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
  // Over one rank, although another axis with ranks is in the layout: gone.
  %part = dist.all_reduce %both : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">, <"tensor">]>> -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"tensor">]>>
  // CHECK-NEXT: %[[AGAIN:.*]] = dist.all_reduce %[[BOTH]]
  %again = dist.all_reduce %part : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"tensor">]>> -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
  // CHECK-NEXT: train.add %[[LOSS]], %[[SUM]]
  %x = train.add %whole, %sum : (tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>) -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
  // CHECK-NEXT: train.step_loss %{{.*}}, %[[AGAIN]]
  train.step_loss %x, %again : (tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>) -> ()
}

// Every kind of layout change.
// CHECK-LABEL: train.graph @chain
train.graph @chain {
  // CHECK-NEXT: %[[X:.*]] = train.read @loss
  %loss = train.read @loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>
  %0 = dist.reduce_scatter %loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>> -> tensor<8xf32, #dist.layout<@mesh, [<[<"data">], 8>]>>
  %1 = dist.all_gather %0 : tensor<8xf32, #dist.layout<@mesh, [<[<"data">], 8>]>> -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
  %2 = dist.slice %1 : tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>> -> tensor<8xf32, #dist.layout<@mesh, [<[<"context">], 8>]>>
  %3 = dist.all_gather %2 : tensor<8xf32, #dist.layout<@mesh, [<[<"context">], 8>]>> -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
  // CHECK-NEXT: train.step_loss %[[X]], %[[X]]
  train.step_loss %3, %1 : (tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>) -> ()
  // CHECK-NEXT: %[[P:.*]] = train.read @padded
  %p = train.read @padded : tensor<7x7xf32, #dist.layout<@mesh, [<[<"data">], 7, padding = 1>, <[<"context">, <"tensor">], 7, padding = 1>]>>
  // CHECK-NEXT: %[[G:.*]] = dist.all_gather %[[P]] : tensor<7x7xf32, #dist.layout<@mesh, [<[], 7>, <[<"tensor">], 7, padding = 1>]>> -> tensor<7x7xf32, #dist.layout<@mesh, [<[], 7>, <[], 7>]>>
  %4 = dist.all_gather %p : tensor<7x7xf32, #dist.layout<@mesh, [<[<"data">], 7, padding = 1>, <[<"context">, <"tensor">], 7, padding = 1>]>> -> tensor<7x7xf32, #dist.layout<@mesh, [<[<"data">], 7, padding = 1>, <[], 7>]>>
  // Onto an axis of one rank: gone.
  %5 = dist.all_to_all %4 : tensor<7x7xf32, #dist.layout<@mesh, [<[<"data">], 7, padding = 1>, <[], 7>]>> -> tensor<7x7xf32, #dist.layout<@mesh, [<[], 7>, <[<"data">], 7>]>>
  // CHECK-NEXT: train.grad_norm %[[G]]
  %6 = dist.all_gather %5 : tensor<7x7xf32, #dist.layout<@mesh, [<[], 7>, <[<"data">], 7>]>> -> tensor<7x7xf32, #dist.layout<@mesh, [<[], 7>, <[], 7>]>>
  train.grad_norm %6 {clip = 0.0 : f64} : (tensor<7x7xf32, #dist.layout<@mesh, [<[], 7>, <[], 7>]>>) -> ()
}
