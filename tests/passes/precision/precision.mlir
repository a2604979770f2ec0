// RUN: recipe-opt --grad --update --mlir-print-debuginfo --mlir-print-local-scope %s > %t
// RUN: recipe-opt %t > %t.plain
// RUN: recipe-opt --grad --update --precision --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s
// Nothing but rounding changes; and rounding does.
// RUN: recipe-opt --precision %t | %same_values --fp64 %t -
// RUN: recipe-opt --precision %t | not %same_values --graph=train %t - 2>&1 | FileCheck --check-prefix=ROUNDED %s
// ROUNDED: differs at element
// The order of bf16 terms is set where operands are bf16.
// RUN: recipe-opt --precision=blocks=true %t | %same_values --fp64 %t -
// RUN: recipe-opt --precision=blocks=true %t | not %same_values --graph=train %t - 2>&1 | FileCheck --check-prefix=ROUNDED %s
// RUN: recipe-opt --precision="blocks=true keep-fp32=mlp.down" %t | FileCheck --check-prefix=BLOCKS %s
// BLOCKS: train.contract {{.*}}bf16_order = #train<bf16_order blocks>{{.*}}xbf16>) ->
// BLOCKS: train.contract {{.*}}bf16_order = #train<bf16_order blocks>{{.*}}xbf16>) ->
// BLOCKS: train.contract
// BLOCKS-NOT: bf16_order
// BLOCKS-SAME: xf32>) ->
// Products of f32 operands by parts: all of them without casts, those that are kept with casts. bf16 operands have none.
// RUN: recipe-opt --precision="casts=false bf16x6=true" %t | %same_values --fp64 %t -
// RUN: recipe-opt --precision="casts=false bf16x6=true" %t | not %same_values --graph=train %t - 2>&1 | FileCheck --check-prefix=ROUNDED %s
// RUN: recipe-opt --precision="casts=false bf16x6=true" %t | FileCheck --check-prefix=SIX --implicit-check-not=bf16x6 --implicit-check-not=xbf16 %s
// RUN: recipe-opt --precision=casts=false %t | diff %t.plain -
// SIX-LABEL: train.graph @train
// SIX-COUNT-3: train.contract {{.*}}f32_products = #train<f32_products bf16x6>
// SIX: train.linear_cross_entropy_grad {{.*}}f32_products = #train<f32_products bf16x6>
// SIX-COUNT-4: train.contract {{.*}}f32_products = #train<f32_products bf16x6>
// SIX-LABEL: train.graph @eval
// SIX-COUNT-2: train.contract {{.*}}f32_products = #train<f32_products bf16x6>
// SIX: train.linear_cross_entropy {{.*}}f32_products = #train<f32_products bf16x6>
// RUN: recipe-opt --precision="bf16x6=true blocks=true keep-fp32=mlp.down" %t | %same_values --fp64 %t -
// RUN: recipe-opt --precision="bf16x6=true blocks=true keep-fp32=mlp.down" %t | FileCheck --check-prefix=BOTH %s
// BOTH: train.contract {{.*}}bf16_order = #train<bf16_order blocks>
// BOTH-NOT: f32_products
// BOTH-SAME: xbf16>) ->
// BOTH: train.contract {{.*}}bf16_order = #train<bf16_order blocks>
// BOTH: train.contract {{.*}}f32_products = #train<f32_products bf16x6>{{.*}}xf32>) ->
// A second run finds nothing to do.
// RUN: recipe-opt --precision %t > %t.once
// RUN: recipe-opt --precision --precision %t | diff %t.once -

// Kept by name: the op, its gradients, and the gradient that it shares with mlp.gate.
// RUN: recipe-opt --grad --update --precision="keep-fp32=mlp.u?" --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck --check-prefix=KEPT %s
// RUN: recipe-opt --precision="keep-fp32=mlp.u?" %t | %same_values --fp64 %t -
// Kept by class, by a list, by globs: nothing is left to cast.
// RUN: recipe-opt --precision="keep-fp32=matmul,elementwise,loss" %t | diff %t.plain -
// RUN: recipe-opt --precision="keep-fp32=loss,*up,mlp.gate,m*p.d*n,mlp.act" %t | diff %t.plain -

module attributes {train.step = {batch_size = 2, seq_length = 4, global_batch = 2, batch_segments = 1, segments = 2}} {
  train.variable @table : tensor<11x6xf32> parameter {hf_name = "table", init = {normal = 0.02}, decay = true}
  train.variable @up : tensor<6x20xf32> parameter {hf_name = "up", init = {normal = 0.02}, decay = true}
  train.variable @gate : tensor<6x20xf32> parameter {hf_name = "gate", init = {normal = 0.02}, decay = true, trainable = false}
  train.variable @down : tensor<20x6xf32> parameter {hf_name = "down", init = {normal = 0.02}, decay = true}
  train.variable @loss : tensor<8xf32> loss
  train.variable @count : tensor<8xf32> loss
  // Two bytes for each parameter that is read in bf16, frozen or not.
  // CHECK: train.variable @"adam_v:down"
  // CHECK-NEXT: train.variable @"working:up" : tensor<6x20xbf16> working {of = @up}
  // CHECK-NEXT: train.variable @"working:gate" : tensor<6x20xbf16> working {of = @gate}
  // CHECK-NEXT: train.variable @"working:down" : tensor<20x6xbf16> working {of = @down}
  // CHECK-NEXT: train.variable @"working:table" : tensor<11x6xbf16> working {of = @table}
  // CHECK-NOT: train.variable
  // CHECK-LABEL: train.graph @train
  // CHECK: %[[TABLE:.+]] = train.read @table
  // CHECK-NEXT: %[[HEAD:.+]] = train.read @"working:table"
  // CHECK-NEXT: %[[X:.+]] = train.embedding %{{.+}}, %[[TABLE]]
  // One cast for two contractions forward and one backward; the residual takes the value itself.
  // CHECK-NEXT: %[[XB:.+]] = train.cast %[[X]] : (tensor<2x4x6xf32>) -> tensor<2x4x6xbf16> loc("embed/bf16")
  // CHECK-NEXT: %[[UP:.+]] = train.read @"working:up" : tensor<6x20xbf16>
  // CHECK-NEXT: %[[GATE:.+]] = train.read @"working:gate"
  // CHECK-NEXT: %[[DOWN:.+]] = train.read @"working:down"
  // CHECK-NEXT: %[[U:.+]] = train.contract %[[XB]], %[[UP]]
  // CHECK-SAME: (tensor<2x4x6xbf16>, tensor<6x20xbf16>) -> tensor<2x4x20xf32>
  // CHECK-NEXT: %[[UB:.+]] = train.cast %[[U]] {{.*}} loc("mlp.up/bf16")
  // CHECK-NEXT: %[[G:.+]] = train.contract %[[XB]], %[[GATE]]
  // CHECK-NEXT: %[[GB:.+]] = train.cast %[[G]]
  // What the activation is applied to is kept in bf16, for forward and backward.
  // CHECK-NEXT: %[[A:.+]] = train.swiglu %[[GB]], %[[UB]] : (tensor<2x4x20xbf16>, tensor<2x4x20xbf16>) -> tensor<2x4x20xf32>
  // CHECK-NEXT: %[[AB:.+]] = train.cast %[[A]]
  // CHECK-NEXT: %[[D:.+]] = train.contract %[[AB]], %[[DOWN]]
  // CHECK-NEXT: %[[Y:.+]] = train.add %[[X]], %[[D]]
  // CHECK-NEXT: %[[YB:.+]] = train.cast %[[Y]]
  // CHECK-NEXT: %{{.+}}, %{{.+}}, %[[DX:.+]], %{{.+}} = train.linear_cross_entropy_grad %[[YB]], %[[HEAD]]
  // CHECK-NEXT: %[[DXB:.+]] = train.cast %[[DX]] {{.*}} loc("head/bf16.2")
  // CHECK: train.backward_begin
  // CHECK-NEXT: %[[DDOWN:.+]] = train.contract %[[AB]], %[[DXB]]
  // CHECK-SAME: (tensor<2x4x20xbf16>, tensor<2x4x6xbf16>) -> tensor<20x6xf32>
  // CHECK-NEXT: train.write @"grad:down", %[[DDOWN]] : tensor<20x6xf32>
  // CHECK-NEXT: %[[DA:.+]] = train.contract %[[DXB]], %[[DOWN]]
  // CHECK-NEXT: %[[DGATE:.+]], %[[DUP:.+]] = train.swiglu_grad %[[DA]], %[[GB]], %[[UB]]
  // CHECK-NEXT: %[[DGATEB:.+]] = train.cast %[[DGATE]] {{.*}} loc("mlp.act/grad/bf16")
  // CHECK-NEXT: %[[DUPB:.+]] = train.cast %[[DUP]] {{.*}} loc("mlp.act/grad/bf16.1")
  // CHECK-NEXT: train.contract %[[XB]], %[[DUPB]]
  // CHECK-NEXT: train.write @"grad:up"
  // CHECK-NEXT: train.contract %[[DUPB]], %[[DGATEB]], %[[UP]], %[[GATE]]
  // CHECK-NEXT: train.add %[[DX]]
  // CHECK-NEXT: train.embedding_grad
  // CHECK-NOT: train.cast

  // KEPT-LABEL: train.graph @train
  // KEPT: train.contract {{.*}} (tensor<2x4x6xf32>, tensor<6x20xf32>) -> tensor<2x4x20xf32> loc("mlp.up")
  // KEPT: train.contract {{.*}} (tensor<2x4x6xbf16>, tensor<6x20xbf16>) -> tensor<2x4x20xf32> loc("mlp.gate")
  // KEPT: train.contract {{.*}} (tensor<2x4x6xf32>, tensor<2x4x20xf32>) -> tensor<6x20xf32> loc("mlp.up/drhs")
  // KEPT: train.contract {{.*}} (tensor<2x4x20xf32>, tensor<2x4x20xf32>, tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<2x4x6xf32> loc("embed/dresult")
  train.graph @forward {
    %tokens = train.input "tokens" : tensor<2x4xi32>
    %labels = train.input "labels" : tensor<2x4xi32>
    %table = train.read @table : tensor<11x6xf32>
    %x = train.embedding %tokens, %table : (tensor<2x4xi32>, tensor<11x6xf32>) -> tensor<2x4x6xf32> loc("embed")
    %up = train.read @up : tensor<6x20xf32>
    %gate = train.read @gate : tensor<6x20xf32>
    %down = train.read @down : tensor<20x6xf32>
    %u = train.contract %x, %up {form = #train<form nn>, segments = array<i64: 0, 6>, out_segments = array<i64: 0, 16, 16, 20>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x6xf32>, tensor<6x20xf32>) -> tensor<2x4x20xf32> loc("mlp.up")
    %g = train.contract %x, %gate {form = #train<form nn>, segments = array<i64: 0, 6>, out_segments = array<i64: 0, 16, 16, 20>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x6xf32>, tensor<6x20xf32>) -> tensor<2x4x20xf32> loc("mlp.gate")
    %a = train.swiglu %g, %u : (tensor<2x4x20xf32>, tensor<2x4x20xf32>) -> tensor<2x4x20xf32> loc("mlp.act")
    %d = train.contract %a, %down {form = #train<form nn>, segments = array<i64: 0, 16, 16, 20>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x20xf32>, tensor<20x6xf32>) -> tensor<2x4x6xf32> loc("mlp.down")
    %y = train.add %x, %d : (tensor<2x4x6xf32>, tensor<2x4x6xf32>) -> tensor<2x4x6xf32> loc("residual")
    %loss, %count = train.linear_cross_entropy %y, %table, %labels {vocab_segments = 2 : i64, batch_nodes = 1 : i64} : (tensor<2x4x6xf32>, tensor<11x6xf32>, tensor<2x4xi32>) -> (tensor<8xf32>, tensor<8xf32>) loc("head")
    train.write @loss, %loss : tensor<8xf32>
    train.write @count, %count : tensor<8xf32>
  }
  // The same working copies.
  // CHECK-LABEL: train.graph @eval
  // CHECK: train.read @"working:up"
  // CHECK: train.read @"working:down"
  // KEPT-LABEL: train.graph @eval
  train.graph @eval {
    %tokens = train.input "tokens" : tensor<2x4xi32>
    %labels = train.input "labels" : tensor<2x4xi32>
    %table = train.read @table : tensor<11x6xf32>
    %x = train.embedding %tokens, %table : (tensor<2x4xi32>, tensor<11x6xf32>) -> tensor<2x4x6xf32> loc("embed")
    %up = train.read @up : tensor<6x20xf32>
    %u = train.contract %x, %up {form = #train<form nn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x6xf32>, tensor<6x20xf32>) -> tensor<2x4x20xf32> loc("mlp.up")
    %down = train.read @down : tensor<20x6xf32>
    %d = train.contract %u, %down {form = #train<form nn>, segments = array<i64: 0, 16, 16, 20>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x20xf32>, tensor<20x6xf32>) -> tensor<2x4x6xf32> loc("mlp.down")
    %loss, %count = train.linear_cross_entropy %d, %table, %labels {vocab_segments = 2 : i64, batch_nodes = 1 : i64} : (tensor<2x4x6xf32>, tensor<11x6xf32>, tensor<2x4xi32>) -> (tensor<8xf32>, tensor<8xf32>) loc("head")
    train.write @loss, %loss : tensor<8xf32>
    train.write @count, %count : tensor<8xf32>
  }

  // The copy of a parameter follows it; one that is frozen needs no update.
  // CHECK-LABEL: train.graph @update
  // CHECK: %[[P:.+]], %{{.+}}, %{{.+}} = train.adamw {{.*}} loc("adamw table")
  // CHECK-NEXT: train.write @table
  // CHECK-NEXT: train.cast %[[P]] {{.*}} loc("working table")
  // CHECK-NEXT: train.write @"working:table"
  // CHECK-NEXT: train.write @"adam_m:table"
  // CHECK: %[[P:.+]], %{{.+}}, %{{.+}} = train.adamw {{.*}} loc("adamw up")
  // CHECK-NEXT: train.write @up, %[[P]] : tensor<6x20xf32>
  // CHECK-NEXT: %[[W:.+]] = train.cast %[[P]] {{.*}} loc("working up")
  // CHECK-NEXT: train.write @"working:up", %[[W]] : tensor<6x20xbf16>
  // CHECK: train.write @"working:down"
  // CHECK-NOT: @"working:gate"

  // CHECK-LABEL: train.graph @init
  // CHECK-NOT: working:
  // CHECK-LABEL: train.graph @refresh
  // CHECK-NEXT: %[[P:.+]] = train.read @up : tensor<6x20xf32>
  // CHECK-NEXT: %[[W:.+]] = train.cast %[[P]]
  // CHECK-NEXT: train.write @"working:up", %[[W]]
  // CHECK: train.write @"working:gate"
  // CHECK: train.write @"working:down"
  // CHECK: train.write @"working:table"
  // CHECK-NEXT: }
}
