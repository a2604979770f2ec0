// RUN: recipe-opt %s --fold-collectives --verify-diagnostics

// expected-error @below {{D5: every mesh that a layout names must exist}}
module {
  train.variable @loss : tensor<8xf32, #dist.layout<@mesh, [<[], 8>], partial = [<"data">]>> loss
}
