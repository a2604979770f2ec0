// RUN: recipe-opt %s > %t
// RUN: recipe-opt %s --verify-layouts=require-layouts=true | diff %t -
// What is legal passes unchanged; tests/dialects hold what is not, rule by rule.

dist.mesh @mesh ["data"] [2]
train.variable @loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>> loss
train.graph @update {
  %loss = train.read @loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>>
  %whole = dist.all_reduce %loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>> -> tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>
  train.step_loss %whole, %whole : (tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>, tensor<8xf32, #dist.layout<@mesh, [<[], 8>]>>) -> ()
}
