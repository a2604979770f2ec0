// RUN: recipe-opt %s > %t
// RUN: FileCheck %s < %t
// RUN: recipe-opt %t | diff %t -
// RUN: recipe-opt --mlir-print-op-generic %s | recipe-opt | diff %t -
// Every op of the dialect, with every attribute and optional operand.

// CHECK: train.variable @w : tensor<9x8xf32> parameter {decay = true, hf_name = "wte.weight", hf_shape = array<i64: 9, 24>, hf_slice = array<i64: 1, 16>, init = {normal = 2.000000e-02 : f64}, trainable = false}
train.variable @w : tensor<9x8xf32> parameter {hf_name = "wte.weight", hf_shape = array<i64: 9, 24>, hf_slice = array<i64: 1, 16>, init = {normal = 0.02 : f64}, decay = true, trainable = false}
// CHECK: train.variable @gain : tensor<8xf32> parameter {hf_name = "ln.weight", init = {constant = 1.000000e+00 : f64}}
train.variable @gain : tensor<8xf32> parameter {hf_name = "ln.weight", init = {constant = 1.0 : f64}}
// CHECK: train.variable @m : tensor<9x8xf32> adam_m {of = @w}
train.variable @m : tensor<9x8xf32> adam_m {of = @w}
// CHECK: train.variable @v : tensor<9x8xf32> adam_v {of = @w}
train.variable @v : tensor<9x8xf32> adam_v {of = @w}
// CHECK: train.variable @"grad:w:1" : tensor<9x8xf32> gradient {of = @w, use = 1 : i64}
train.variable @"grad:w:1" : tensor<9x8xf32> gradient {of = @w, use = 1 : i64}
// CHECK: train.variable @pending : tensor<3x9x8xf32> pending {of = @"grad:w:1"}
train.variable @pending : tensor<3x9x8xf32> pending {of = @"grad:w:1"}
// CHECK: train.variable @loss : tensor<8xf32> loss
train.variable @loss : tensor<8xf32> loss
// CHECK: train.variable @count : tensor<8xf32> loss
train.variable @count : tensor<8xf32> loss
// CHECK: train.variable @logits : tensor<2x3x8xf32> output
train.variable @logits : tensor<2x3x8xf32> output

// CHECK-LABEL: train.graph @forward
train.graph @forward {
  // CHECK: %[[IDS:.*]] = train.input "tokens" : tensor<2x3xi32>
  %ids = train.input "tokens" : tensor<2x3xi32>
  %positions = train.input "positions" : tensor<2x3xi32>
  %labels = train.input "labels" : tensor<2x3xi32>
  // CHECK: %[[W:.*]] = train.read @w : tensor<9x8xf32>
  %w = train.read @w : tensor<9x8xf32>
  %gain = train.read @gain : tensor<8xf32>
  // CHECK: train.embedding %[[IDS]], %[[W]] : (tensor<2x3xi32>, tensor<9x8xf32>) -> tensor<2x3x8xf32>
  %x = train.embedding %ids, %w : (tensor<2x3xi32>, tensor<9x8xf32>) -> tensor<2x3x8xf32>
  // CHECK: train.dropout %{{.*}} {dropout_id = 5 : i64, p = 1.000000e-01 : f64} : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %drop = train.dropout %x {p = 0.1 : f64, dropout_id = 5 : i64} : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  // CHECK: train.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  %ln, %mean, %rstd = train.layer_norm %drop, %gain, %gain {eps = 1.0e-5 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  // CHECK: train.rms_norm %{{.*}}, %{{.*}} {eps = 2.500000e-01 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3xf32>)
  %rn, %rrstd = train.rms_norm %ln, %gain {eps = 2.5e-1 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3xf32>)
  // CHECK: train.rope_table {attention_factor = 1.000000e+00 : f64, inv_freq = array<f64: 1.000000e+00, 1.000000e-01>} : () -> (tensor<3x2xf32>, tensor<3x2xf32>)
  %cos, %sin = train.rope_table {inv_freq = array<f64: 1.0, 0.1>, attention_factor = 1.0 : f64} : () -> (tensor<3x2xf32>, tensor<3x2xf32>)
  // CHECK: train.rope %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {heads = 2 : i64, inverse = false} : (tensor<2x3x8xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
  %rope = train.rope %rn, %cos, %sin, %positions {heads = 2 : i64, inverse = false} : (tensor<2x3x8xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
  // CHECK: train.attention %{{.*}}, %{{.*}}, %{{.*}} {dropout = 1.000000e-01 : f64, dropout_id = 7 : i64, heads = 4 : i64, kv_heads = 4 : i64, scale = 5.000000e-01 : f64}
  %att, %max, %sum = train.attention %rope, %rope, %rn {heads = 4 : i64, kv_heads = 4 : i64, scale = 0.5 : f64, dropout = 0.1 : f64, dropout_id = 7 : i64} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> (tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>)
  // CHECK: train.contract %{{.*}}, %{{.*}} {form = #train<form nt>, operandSegmentSizes = array<i32: 1, 1, 0>, out_segments = array<i64: 0, 9>, segments = array<i64: 0, 4, 4, 8>} : (tensor<2x3x8xf32>, tensor<9x8xf32>) -> tensor<2x3x9xf32>
  %fc = train.contract %att, %w {form = #train<form nt>, segments = array<i64: 0, 4, 4, 8>, out_segments = array<i64: 0, 9>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<9x8xf32>) -> tensor<2x3x9xf32>
  // CHECK: train.contract %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {form = #train<form nn>, operandSegmentSizes = array<i32: 2, 2, 0>, segments = array<i64: 0, 9, 0, 9>}
  %two = train.contract %fc, %fc, %w, %w {form = #train<form nn>, segments = array<i64: 0, 9, 0, 9>, operandSegmentSizes = array<i32: 2, 2, 0>} : (tensor<2x3x9xf32>, tensor<2x3x9xf32>, tensor<9x8xf32>, tensor<9x8xf32>) -> tensor<2x3x8xf32>
  // CHECK: %[[HALF:.*]] = train.cast %{{.*}} : (tensor<2x3x8xf32>) -> tensor<2x3x8xbf16>
  %half = train.cast %two : (tensor<2x3x8xf32>) -> tensor<2x3x8xbf16>
  // CHECK: %[[WHALF:.*]] = train.cast %{{.*}} : (tensor<9x8xf32>) -> tensor<9x8xbf16>
  %whalf = train.cast %w : (tensor<9x8xf32>) -> tensor<9x8xbf16>
  // CHECK: train.contract %[[HALF]], %[[WHALF]] {{.*}} : (tensor<2x3x8xbf16>, tensor<9x8xbf16>) -> tensor<2x3x9xf32>
  %mixed = train.contract %half, %whalf {form = #train<form nt>, segments = array<i64: 0, 4, 4, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xbf16>, tensor<9x8xbf16>) -> tensor<2x3x9xf32>
  // CHECK: train.contract %[[HALF]], %[[WHALF]] {bf16_order = #train<bf16_order blocks>, {{.*}} : (tensor<2x3x8xbf16>, tensor<9x8xbf16>) -> tensor<2x3x9xf32>
  %blocks = train.contract %half, %whalf {form = #train<form nt>, segments = array<i64: 0, 4, 4, 8>, bf16_order = #train<bf16_order blocks>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xbf16>, tensor<9x8xbf16>) -> tensor<2x3x9xf32>
  // CHECK: train.contract {{.*}} {f32_products = #train<f32_products bf16x6>, {{.*}} : (tensor<2x3x8xf32>, tensor<9x8xf32>) -> tensor<2x3x9xf32>
  %six = train.contract %two, %w {form = #train<form nt>, segments = array<i64: 0, 3, 3, 8>, f32_products = #train<f32_products bf16x6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<9x8xf32>) -> tensor<2x3x9xf32>
  // CHECK: train.bias_add %{{.*}}, %{{.*}} : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %b = train.bias_add %two, %gain : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  // CHECK: train.gelu %{{.*}} : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %gelu = train.gelu %b : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  // CHECK: train.swiglu %{{.*}}, %{{.*}} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %swiglu = train.swiglu %gelu, %b : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  // CHECK: train.add %{{.*}}, %{{.*}} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %sum2 = train.add %swiglu, %x : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  // CHECK: train.linear_cross_entropy %{{.*}}, %{{.*}}, %{{.*}} {batch_nodes = 2 : i64, vocab_segments = 8 : i64} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  %loss, %count = train.linear_cross_entropy %sum2, %w, %labels {vocab_segments = 8 : i64, batch_nodes = 2 : i64} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  // CHECK: train.linear_cross_entropy %{{.*}} {batch_nodes = 2 : i64, f32_products = #train<f32_products fma>, vocab_segments = 8 : i64}
  %loss_fma, %count_fma = train.linear_cross_entropy %sum2, %w, %labels {vocab_segments = 8 : i64, batch_nodes = 2 : i64, f32_products = #train<f32_products fma>} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  // CHECK: train.write @loss, %{{.*}} : tensor<8xf32>
  train.write @loss, %loss : tensor<8xf32>
  train.write @count, %count : tensor<8xf32>
  train.write @logits, %sum2 : tensor<2x3x8xf32>
}

// CHECK-LABEL: train.graph @train
train.graph @train attributes {kept} {
  %ids = train.input "tokens" : tensor<2x3xi32>
  %w = train.read @w : tensor<9x8xf32>
  %dw0 = train.read @"grad:w:1" : tensor<9x8xf32>
  %gain = train.read @gain : tensor<8xf32>
  %l0 = train.read @loss : tensor<8xf32>
  %c0 = train.read @count : tensor<8xf32>
  %x = train.read @logits : tensor<2x3x8xf32>
  %z = train.fill {value = 0.0 : f64} : () -> tensor<8x8xf32>
  %rows = train.fill {value = 1.0 : f64} : () -> tensor<2x3xf32>
  %max = train.fill {value = 1.0 : f64} : () -> tensor<2x4x3xf32>
  // CHECK: train.backward_begin
  train.backward_begin
  // CHECK: train.linear_cross_entropy_grad %{{.*}}, %{{.*}}, %{{.*}} {batch_nodes = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, vocab_segments = 4 : i64}
  %la, %ca, %dxa, %dwa = train.linear_cross_entropy_grad %x, %w, %ids {vocab_segments = 4 : i64, batch_nodes = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2x3x8xf32>, tensor<9x8xf32>)
  // CHECK: train.linear_cross_entropy_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>, vocab_segments = 4 : i64}
  %l, %c, %dx, %dw = train.linear_cross_entropy_grad %x, %w, %ids, %l0, %c0, %dw0 {vocab_segments = 4 : i64, batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>} : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>, tensor<8xf32>, tensor<8xf32>, tensor<9x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2x3x8xf32>, tensor<9x8xf32>)
  // CHECK: train.embedding_grad %{{.*}}, %{{.*}} {batch_nodes = 2 : i64} : (tensor<2x3x8xf32>, tensor<2x3xi32>) -> tensor<9x8xf32>
  %e0 = train.embedding_grad %dx, %ids {batch_nodes = 2 : i64} : (tensor<2x3x8xf32>, tensor<2x3xi32>) -> tensor<9x8xf32>
  // CHECK: train.embedding_grad %{{.*}}, %{{.*}}, %{{.*}} {batch_nodes = 1 : i64}
  %e1 = train.embedding_grad %dx, %ids, %dw {batch_nodes = 1 : i64} : (tensor<2x3x8xf32>, tensor<2x3xi32>, tensor<9x8xf32>) -> tensor<9x8xf32>
  // CHECK: train.bias_grad %{{.*}} {batch_nodes = 2 : i64} : (tensor<2x3x8xf32>) -> tensor<8x8xf32>
  %b0 = train.bias_grad %dx {batch_nodes = 2 : i64} : (tensor<2x3x8xf32>) -> tensor<8x8xf32>
  // CHECK: train.bias_grad %{{.*}}, %{{.*}} {batch_nodes = 1 : i64}
  %b1 = train.bias_grad %dx, %z {batch_nodes = 1 : i64} : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: train.layer_norm_grad %{{.*}} {batch_nodes = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>}
  %n0:3 = train.layer_norm_grad %dx, %x, %gain, %rows, %rows {batch_nodes = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
  // CHECK: train.layer_norm_grad %{{.*}} {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1>}
  %n1:3 = train.layer_norm_grad %dx, %x, %gain, %rows, %rows, %z {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1>} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<8x8xf32>) -> (tensor<2x3x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
  // CHECK: train.rms_norm_grad %{{.*}} {batch_nodes = 1 : i64} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8xf32>, tensor<2x3xf32>, tensor<8x8xf32>) -> (tensor<2x3x8xf32>, tensor<8x8xf32>)
  %r:2 = train.rms_norm_grad %dx, %x, %gain, %rows, %z {batch_nodes = 1 : i64} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8xf32>, tensor<2x3xf32>, tensor<8x8xf32>) -> (tensor<2x3x8xf32>, tensor<8x8xf32>)
  // CHECK: train.attention_grad %{{.*}} {dropout = 0.000000e+00 : f64, dropout_id = 0 : i64, heads = 4 : i64, kv_heads = 4 : i64, scale = 5.000000e-01 : f64}
  %a:3 = train.attention_grad %dx, %x, %x, %x, %x, %max, %max {heads = 4 : i64, kv_heads = 4 : i64, scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>)
  // CHECK: train.gelu_grad %{{.*}}, %{{.*}} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %g = train.gelu_grad %dx, %x : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  // CHECK: train.swiglu_grad %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>)
  %s:2 = train.swiglu_grad %dx, %x, %g : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>)
  // CHECK: train.contract %{{.*}}, %{{.*}}, %{{.*}} {form = #train<form tn>, operandSegmentSizes = array<i32: 1, 1, 1>, segments = array<i64: 0, 6>}
  %tn = train.contract %x, %s#0, %z {form = #train<form tn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
}

// CHECK-LABEL: train.graph @segment_end
train.graph @segment_end {
  %value = train.read @"grad:w:1" : tensor<9x8xf32>
  %pending = train.read @pending : tensor<3x9x8xf32>
  // CHECK: train.tree_merge %{{.*}}, %{{.*}} : (tensor<9x8xf32>, tensor<3x9x8xf32>) -> (tensor<9x8xf32>, tensor<3x9x8xf32>)
  %merged:2 = train.tree_merge %value, %pending : (tensor<9x8xf32>, tensor<3x9x8xf32>) -> (tensor<9x8xf32>, tensor<3x9x8xf32>)
}

// CHECK-LABEL: train.graph @update
train.graph @update {
  %loss = train.read @loss : tensor<8xf32>
  %w = train.read @w : tensor<9x8xf32>
  // CHECK: train.step_loss %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> ()
  train.step_loss %loss, %loss : (tensor<8xf32>, tensor<8xf32>) -> ()
  // CHECK: train.eval_loss %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<2x4xf32>) -> ()
  %tokens = train.fill {value = 0.0} : () -> tensor<2x4xf32>
  train.eval_loss %tokens, %tokens : (tensor<2x4xf32>, tensor<2x4xf32>) -> ()
  %z = train.fill {value = 0.0 : f64} : () -> tensor<8x9xf32>
  // CHECK: train.position_sum %{{.*}} : (tensor<8x9xf32>) -> tensor<9xf32>
  %p = train.position_sum %z : (tensor<8x9xf32>) -> tensor<9xf32>
  // CHECK: train.grad_norm %{{.*}}, %{{.*}} {clip = 1.000000e+00 : f64} : (tensor<9x8xf32>, tensor<9xf32>) -> ()
  train.grad_norm %w, %p {clip = 1.0 : f64} : (tensor<9x8xf32>, tensor<9xf32>) -> ()
  // CHECK: train.adamw %{{.*}} {beta1 = 5.000000e-01 : f64, beta2 = 7.500000e-01 : f64, eps = 1.000000e-08 : f64, weight_decay = 1.000000e-01 : f64}
  %a:3 = train.adamw %w, %w, %w, %w {beta1 = 0.5 : f64, beta2 = 0.75 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64} : (tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>) -> (tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>)
}

// CHECK-LABEL: train.graph @init
train.graph @init {
  // CHECK: train.init_normal {key = 7 : i64, stddev = 2.000000e-02 : f64} : () -> tensor<9x8xf32>
  %w = train.init_normal {stddev = 0.02 : f64, key = 7 : i64} : () -> tensor<9x8xf32>
  // CHECK: train.fill {value = 1.000000e+00 : f64} : () -> tensor<8xf32>
  %gain = train.fill {value = 1.0 : f64} : () -> tensor<8xf32>
}

// CHECK-LABEL: train.graph @prologue
train.graph @prologue {
  // CHECK: train.schedule {{.*}}beta1 = 5.000000e-01 : f64, beta2 = 7.500000e-01 : f64} : () -> ()
  train.schedule {beta1 = 0.5 : f64, beta2 = 0.75 : f64} : () -> ()
}

// CHECK-LABEL: train.graph @kernels
train.graph @kernels {
  %x = train.read @gain : tensor<8xf32>
  // CHECK: train.kernel "sum"(%{{.*}}, %{{.*}}) attributes {in_place = array<i64: 0, 0, 0, 1>, launches = [#step.launch<@k(<operand 0 + 0>, <operand 1 + 0>, <result 0 + 0>, <temp 0 + 64>), scalars = [8], workgroups = 1, scratch = 0, flops = 8, bytes = 96>], temps = array<i64: 128>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  %y = train.kernel "sum"(%x, %x) attributes {launches = [#step.launch<@k(<operand 0 + 0>, <operand 1 + 0>, <result 0 + 0>, <temp 0 + 64>), scalars = [8], workgroups = 1, scratch = 0, flops = 8, bytes = 96>], temps = array<i64: 128>, in_place = array<i64: 0, 0, 0, 1>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>):
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    %c = train.add %a, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    // CHECK: train.yield %{{.*}} : tensor<8xf32>
    train.yield %c : tensor<8xf32>
  }
  // CHECK: train.kernel "nothing"() : () -> () {
  train.kernel "nothing"() : () -> () {
    // CHECK-NEXT: train.yield
    train.yield
  }
}
