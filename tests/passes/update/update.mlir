// RUN: recipe-opt --update="beta1=0.75 beta2=0.875 eps=0.125 weight-decay=0.25 clip=2" %s | FileCheck %s
// Evaluation and training compute what they did.
// RUN: recipe-opt --update %s | %same_values --graph=train %s -

module attributes {train.step = {batch_size = 1, seq_length = 2, global_batch = 1, batch_segments = 1, segments = 2}} {
  train.variable @table : tensor<3x4xf32> parameter {hf_name = "table", init = {normal = 0.02}, decay = true}
  train.variable @gain : tensor<4xf32> parameter {hf_name = "gain", init = {constant = 1.0}, decay = false}
  train.variable @frozen : tensor<4xf32> parameter {hf_name = "frozen", init = {constant = 0.5}, trainable = false}
  train.variable @loss : tensor<8xf32> loss
  train.variable @count : tensor<8xf32> loss
  train.variable @"grad:table:0" : tensor<3x4xf32> gradient {of = @table, use = 0}
  train.variable @"grad:table:1" : tensor<3x4xf32> gradient {of = @table, use = 1}
  train.variable @"grad:table:2" : tensor<3x4xf32> gradient {of = @table, use = 2}
  train.variable @"grad:gain" : tensor<8x4xf32> gradient {of = @gain, use = 0}
  // CHECK: train.variable @"grad:gain"
  // CHECK-NEXT: train.variable @"adam_m:table" : tensor<3x4xf32> adam_m {of = @table}
  // CHECK-NEXT: train.variable @"adam_v:table" : tensor<3x4xf32> adam_v {of = @table}
  // CHECK-NEXT: train.variable @"adam_m:gain" : tensor<4xf32> adam_m {of = @gain}
  // CHECK-NEXT: train.variable @"adam_v:gain" : tensor<4xf32> adam_v {of = @gain}
  // CHECK-NOT: train.variable
  train.graph @train {
    %zero = train.fill {value = 0.5} : () -> tensor<8x4xf32>
    train.write @"grad:gain", %zero : tensor<8x4xf32>
  }
  // CHECK: train.graph @eval
  train.graph @eval {
    %labels = train.input "labels" : tensor<1x2xi32>
    %x = train.fill {value = 1.0} : () -> tensor<1x2x4xf32>
    %w = train.read @table : tensor<3x4xf32>
    // It sums tokens.
    // CHECK: %[[EL:.+]], %[[EC:.+]] = train.linear_cross_entropy
    // CHECK-SAME: -> (tensor<1x2xf32>, tensor<1x2xf32>)
    // CHECK-NEXT: train.eval_loss %[[EL]], %[[EC]]
    // CHECK-NEXT: }
    %loss, %count = train.linear_cross_entropy %x, %w, %labels {vocab_segments = 2 : i64, batch_nodes = 1 : i64} : (tensor<1x2x4xf32>, tensor<3x4xf32>, tensor<1x2xi32>) -> (tensor<8xf32>, tensor<8xf32>)
    train.write @loss, %loss : tensor<8xf32>
    train.write @count, %count : tensor<8xf32>
  }

  // CHECK-NEXT: train.graph @update {
  // CHECK-NEXT: %[[LOSS:.+]] = train.read @loss
  // CHECK-NEXT: %[[COUNT:.+]] = train.read @count
  // CHECK-NEXT: train.step_loss %[[LOSS]], %[[COUNT]]
  // The uses of a parameter are added in order.
  // CHECK-NEXT: %[[G0:.+]] = train.read @"grad:table:0"
  // CHECK-NEXT: %[[G1:.+]] = train.read @"grad:table:1"
  // CHECK-NEXT: %[[S1:.+]] = train.add %[[G0]], %[[G1]]
  // CHECK-NEXT: %[[G2:.+]] = train.read @"grad:table:2"
  // CHECK-NEXT: %[[S2:.+]] = train.add %[[S1]], %[[G2]]
  // CHECK-NEXT: %[[ROWS:.+]] = train.read @"grad:gain"
  // CHECK-NEXT: %[[GAIN:.+]] = train.position_sum %[[ROWS]] : (tensor<8x4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: train.grad_norm %[[S2]], %[[GAIN]] {clip = 2.000000e+00 : f64}
  // CHECK-NEXT: %[[P:.+]] = train.read @table
  // CHECK-NEXT: %[[M:.+]] = train.read @"adam_m:table"
  // CHECK-NEXT: %[[V:.+]] = train.read @"adam_v:table"
  // CHECK-NEXT: %[[P1:.+]], %[[M1:.+]], %[[V1:.+]] = train.adamw %[[P]], %[[M]], %[[V]], %[[S2]]
  // CHECK-SAME: {beta1 = 7.500000e-01 : f64, beta2 = 8.750000e-01 : f64, eps = 1.250000e-01 : f64, weight_decay = 2.500000e-01 : f64}
  // CHECK-NEXT: train.write @table, %[[P1]]
  // CHECK-NEXT: train.write @"adam_m:table", %[[M1]]
  // CHECK-NEXT: train.write @"adam_v:table", %[[V1]]
  // A gain does not decay.
  // CHECK: train.adamw %{{.+}}, %{{.+}}, %{{.+}}, %[[GAIN]] {{{.*}}weight_decay = 0.000000e+00 : f64}
  // CHECK-NEXT: train.write @gain
  // CHECK-NOT: frozen

  // CHECK: train.graph @init {
  // CHECK-NEXT: %[[T:.+]] = train.init_normal {key = {{[0-9]+}} : i64, stddev = 2.000000e-02 : f64} : () -> tensor<3x4xf32>
  // CHECK-NEXT: train.write @table, %[[T]]
  // CHECK-NEXT: %[[ONE:.+]] = train.fill {value = 1.000000e+00 : f64} : () -> tensor<4xf32>
  // CHECK-NEXT: train.write @gain, %[[ONE]]
  // CHECK-NEXT: %[[HALF:.+]] = train.fill {value = 5.000000e-01 : f64}
  // CHECK-NEXT: train.write @frozen, %[[HALF]]
  // CHECK-NEXT: train.fill {value = 0.000000e+00 : f64}
  // CHECK-NEXT: train.write @"adam_m:table"
  // CHECK-NEXT: train.fill {value = 0.000000e+00 : f64}
  // CHECK-NEXT: train.write @"adam_v:table"
  // CHECK: train.write @"adam_m:gain"
  // CHECK: train.write @"adam_v:gain"
  // CHECK-NEXT: }
  // CHECK-NEXT: train.graph @prologue {
  // CHECK-NEXT: train.schedule {beta1 = 7.500000e-01 : f64, beta2 = 8.750000e-01 : f64}
  // CHECK-NEXT: }
}
