// RUN: recipe-opt --grad --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s
// The loss of @train is that of @forward, bit for bit.
// RUN: sed s/@forward/@train/ %s > %t.before
// RUN: recipe-opt --grad %s | %same_values --graph=train %t.before -

// One micro-batch holds the whole batch tree of 2 leaves: no sums between micro-batches.
module attributes {train.step = {batch_size = 4, seq_length = 3, global_batch = 4, batch_segments = 2, segments = 2}} {
  train.variable @table : tensor<11x6xf32> parameter {hf_name = "table"}
  train.variable @gain : tensor<6xf32> parameter {hf_name = "gain"}
  train.variable @a : tensor<6x32xf32> parameter {hf_name = "a"}
  train.variable @b : tensor<6x32xf32> parameter {hf_name = "b", trainable = false}
  train.variable @down : tensor<6x32xf32> parameter {hf_name = "down"}
  train.variable @loss : tensor<8xf32> loss
  train.variable @count : tensor<8xf32> loss
  // Gradients come after the parameters' order, one for each use; a frozen parameter has none; gains keep position segments.
  // CHECK: train.variable @count
  // CHECK-NEXT: train.variable @"grad:table:0" : tensor<11x6xf32> gradient {of = @table, use = 0 : i64}
  // CHECK-NEXT: train.variable @"grad:table:1" : tensor<11x6xf32> gradient {of = @table, use = 1 : i64}
  // CHECK-NEXT: train.variable @"grad:gain" : tensor<8x6xf32> gradient {of = @gain, use = 0 : i64}
  // CHECK-NEXT: train.variable @"grad:a" : tensor<6x32xf32> gradient {of = @a, use = 0 : i64}
  // CHECK-NEXT: train.variable @"grad:down" : tensor<6x32xf32> gradient {of = @down, use = 0 : i64}
  // CHECK-NOT: train.variable

  // CHECK: train.graph @train
  train.graph @forward {
    %tokens = train.input "tokens" : tensor<4x3xi32>
    %labels = train.input "labels" : tensor<4x3xi32>
    %table = train.read @table : tensor<11x6xf32>
    %gain = train.read @gain : tensor<6xf32>
    %wa = train.read @a : tensor<6x32xf32>
    %wb = train.read @b : tensor<6x32xf32>
    %wdown = train.read @down : tensor<6x32xf32>
    // CHECK: %[[X:.+]] = train.embedding %[[TOKENS:.+]], %{{.+}} loc("embed")
    %x = train.embedding %tokens, %table : (tensor<4x3xi32>, tensor<11x6xf32>) -> tensor<4x3x6xf32> loc("embed")
    // CHECK: %[[H:.+]], %[[RSTD:.+]] = train.rms_norm
    %h, %rstd = train.rms_norm %x, %gain {eps = 1.0e-5} : (tensor<4x3x6xf32>, tensor<6xf32>) -> (tensor<4x3x6xf32>, tensor<4x3xf32>) loc("norm")
    %a = train.contract %h, %wa {form = #train<form nn>, segments = array<i64: 0, 6>, out_segments = array<i64: 0, 16, 16, 32>,
      operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x3x6xf32>, tensor<6x32xf32>) -> tensor<4x3x32xf32> loc("a")
    %b = train.contract %h, %wb {form = #train<form nn>, segments = array<i64: 0, 6>, out_segments = array<i64: 0, 16, 16, 32>,
      operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x3x6xf32>, tensor<6x32xf32>) -> tensor<4x3x32xf32> loc("b")
    // CHECK: %[[S:.+]] = train.swiglu
    %s = train.swiglu %a, %b : (tensor<4x3x32xf32>, tensor<4x3x32xf32>) -> tensor<4x3x32xf32> loc("swiglu")
    %d = train.contract %s, %wdown {form = #train<form nt>, segments = array<i64: 0, 16, 16, 32>,
      operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x3x32xf32>, tensor<6x32xf32>) -> tensor<4x3x6xf32> loc("down")
    // CHECK: %[[Y:.+]] = train.add
    %y = train.add %x, %d : (tensor<4x3x6xf32>, tensor<4x3x6xf32>) -> tensor<4x3x6xf32> loc("residual")
    // Loss and both gradients are one op, in the place and under the name of the loss; its weight's gradient is written at once.
    // CHECK: %[[LOSS:.+]], %[[COUNT:.+]], %[[DY:.+]], %[[DW:.+]] = train.linear_cross_entropy_grad %[[Y]],
    // CHECK-SAME: batch_nodes = 2
    // CHECK-SAME: loc("head")
    // CHECK-NEXT: train.write @"grad:table:1", %[[DW]]
    // CHECK-NEXT: train.write @loss, %[[LOSS]]
    // CHECK-NEXT: train.write @count, %[[COUNT]]
    %loss, %count = train.linear_cross_entropy %y, %table, %labels {vocab_segments = 2 : i64, batch_nodes = 2 : i64}
      : (tensor<4x3x6xf32>, tensor<11x6xf32>, tensor<4x3xi32>) -> (tensor<8xf32>, tensor<8xf32>) loc("head")
    train.write @loss, %loss : tensor<8xf32>
    train.write @count, %count : tensor<8xf32>
    // CHECK-NEXT: train.backward_begin
    // A weight's gradient sums over the tokens of each leaf; an activation's over the segments of the forward result.
    // CHECK-NEXT: %[[DDOWN:.+]] = train.contract %[[DY]], %[[S]] {form = #train<form tn>, {{.*}}segments = array<i64: 0, 6, 6, 12>} {{.*}} loc("down/drhs")
    // CHECK-NEXT: train.write @"grad:down", %[[DDOWN]]
    // CHECK-NEXT: %[[DS:.+]] = train.contract %[[DY]], %{{.+}} {form = #train<form nn>, {{.*}}segments = array<i64: 0, 6>} {{.*}} loc("down/dlhs")
    // CHECK-NEXT: %[[DA:.+]], %[[DB:.+]] = train.swiglu_grad %[[DS]], {{.*}} loc("swiglu/grad")
    // Nothing for the frozen weight.
    // CHECK-NEXT: %[[DWA:.+]] = train.contract %[[H]], %[[DA]] {form = #train<form tn>, {{.*}} loc("a/drhs")
    // CHECK-NEXT: train.write @"grad:a", %[[DWA]]
    // Both uses of %h are contractions over the same segments: one contraction over both pairs, in order of use.
    // CHECK-NEXT: %[[DH:.+]] = train.contract %[[DA]], %[[DB]], %{{.+}}, %{{.+}} {form = #train<form nt>, operandSegmentSizes = array<i32: 2, 2, 0>,
    // CHECK-SAME: segments = array<i64: 0, 16, 0, 16, 16, 32, 16, 32>} {{.*}} loc("norm/dresult")
    // CHECK-NEXT: %[[DX:.+]], %[[DGAIN:.+]] = train.rms_norm_grad %[[DH]], %[[X]], %{{.+}}, %[[RSTD]] {batch_nodes = 2 : i64}
    // CHECK-NEXT: train.write @"grad:gain", %[[DGAIN]]
    // Last use first.
    // CHECK-NEXT: %[[SUM:.+]] = train.add %[[DY]], %[[DX]] {{.*}} loc("embed/dresult.sum")
    // CHECK-NEXT: %[[DTABLE:.+]] = train.embedding_grad %[[SUM]], %[[TOKENS]] {batch_nodes = 2 : i64}
    // CHECK-NEXT: train.write @"grad:table:0", %[[DTABLE]]
    // CHECK-NEXT: }
  }
  // CHECK-NOT: train.graph
}
