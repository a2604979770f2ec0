// RUN: recipe-opt --recompute --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s
// Not a bit changes.
// RUN: recipe-opt --recompute %s | %same_values --graph=train %s -
// Products only where that is wanted, and of what is kept as it is.
// RUN: recipe-opt --recompute=products=1 --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s --check-prefix=PRODUCTS
// RUN: recipe-opt --recompute=products=1 %s | %same_values --graph=train %s -
// Two in a row, but not the third.
// RUN: recipe-opt --recompute=products=2 --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s --check-prefix=FULL
// RUN: recipe-opt --recompute=products=2 %s | %same_values --graph=train %s -
// No more than the bytes that are asked for: a single product comes first, wherever it stands, then as many in a row as may be.
// RUN: recipe-opt --recompute="products=2 product-bytes=1" --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s --check-prefix=PRODUCTS
// RUN: recipe-opt --recompute="products=2 product-bytes=193" --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s --check-prefix=MORE
// RUN: recipe-opt --recompute="products=2 product-bytes=193" %s | %same_values --graph=train %s -
// In bf16 casts are replayed with what they round.
// RUN: recipe-opt --precision --recompute --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s --check-prefix=BF16
// RUN: recipe-opt --precision %s > %t.before
// RUN: recipe-opt --precision --recompute %s | %same_values --graph=train %t.before -
// Weights are rounded at their first use, and again in backward.
// RUN: recipe-opt --precision --recompute=working-copies=false --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s --check-prefix=ATUSE

module {
  train.variable @table : tensor<11x6xf32> parameter {hf_name = "table"}
  train.variable @gain : tensor<6xf32> parameter {hf_name = "gain"}
  train.variable @bias : tensor<6xf32> parameter {hf_name = "bias"}
  train.variable @up : tensor<6x32xf32> parameter {hf_name = "up"}
  train.variable @down : tensor<32x6xf32> parameter {hf_name = "down"}
  train.variable @square : tensor<6x6xf32> parameter {hf_name = "square"}
  train.variable @dy : tensor<2x4x6xf32> output
  train.variable @dp : tensor<2x4x6xf32> output
  train.variable @y : tensor<2x4x6xf32> output
  train.variable @dz : tensor<2x4x6xf32> output
  train.variable @dx : tensor<2x4x6xf32> output
  train.variable @ddown : tensor<32x6xf32> gradient {of = @down, use = 0}
  train.variable @dup : tensor<6x32xf32> gradient {of = @up, use = 0}
  // CHECK-LABEL: train.graph @train
  // BF16-LABEL: train.graph @train
  train.graph @train {
    %ids = train.input "tokens" : tensor<2x4xi32>
    %table = train.read @table : tensor<11x6xf32>
    %gain = train.read @gain : tensor<6xf32>
    %bias = train.read @bias : tensor<6xf32>
    %up = train.read @up : tensor<6x32xf32>
    %down = train.read @down : tensor<32x6xf32>
    %dy = train.read @dy : tensor<2x4x6xf32>
    %square = train.read @square : tensor<6x6xf32>
    // Forward stays as it was.
    // CHECK: %[[X:.+]] = train.embedding {{.+}} loc("embed")
    // CHECK-NEXT: %[[N:.+]], %{{.+}}, %{{.+}} = train.layer_norm %[[X]]
    // CHECK-NEXT: %[[U:.+]] = train.contract %[[N]]
    // CHECK-NEXT: %[[A:.+]] = train.gelu %[[U]]
    // CHECK-NEXT: %[[D:.+]] = train.contract %[[A]]
    // CHECK-NEXT: %[[E:.+]] = train.dropout %[[D]]
    // CHECK-NEXT: %[[S:.+]] = train.add %[[X]], %[[E]]
    // CHECK-NEXT: %[[P:.+]] = train.contract %[[S]]
    // CHECK-NEXT: %[[Z:.+]], %[[MEAN:.+]], %[[RSTD:.+]] = train.layer_norm %[[S]]
    // CHECK-NEXT: train.write @y, %[[Z]]
    // CHECK-NEXT: train.backward_begin
    %x = train.embedding %ids, %table : (tensor<2x4xi32>, tensor<11x6xf32>) -> tensor<2x4x6xf32> loc("embed")
    %n, %mean, %rstd = train.layer_norm %x, %gain, %bias {eps = 1.0e-5} : (tensor<2x4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<2x4x6xf32>, tensor<2x4xf32>, tensor<2x4xf32>) loc("norm")
    %u = train.contract %n, %up {form = #train<form nn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x6xf32>, tensor<6x32xf32>) -> tensor<2x4x32xf32> loc("up")
    %a = train.gelu %u : (tensor<2x4x32xf32>) -> tensor<2x4x32xf32> loc("act")
    %d = train.contract %a, %down {form = #train<form nn>, segments = array<i64: 0, 16, 16, 32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x32xf32>, tensor<32x6xf32>) -> tensor<2x4x6xf32> loc("down")
    %e = train.dropout %d {p = 0.25, dropout_id = 7} : (tensor<2x4x6xf32>) -> tensor<2x4x6xf32> loc("drop")
    %s = train.add %x, %e : (tensor<2x4x6xf32>, tensor<2x4x6xf32>) -> tensor<2x4x6xf32> loc("sum")
    %p = train.contract %s, %square {form = #train<form nn>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x6xf32>, tensor<6x6xf32>) -> tensor<2x4x6xf32> loc("proj")
    %z, %zmean, %zrstd = train.layer_norm %s, %gain, %bias {eps = 1.0e-5} : (tensor<2x4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<2x4x6xf32>, tensor<2x4xf32>, tensor<2x4xf32>) loc("last")
    train.write @y, %z : tensor<2x4x6xf32>
    train.backward_begin
    // CHECK-NEXT: train.add %{{.+}}, %[[P]]
    // PRODUCTS: train.backward_begin
    // PRODUCTS-NEXT: %[[P:.+]] = train.contract {{.+}} loc("proj/replay")
    // PRODUCTS-NEXT: train.add %{{.+}}, %[[P]]
    // PRODUCTS-NOT: train.contract {{.+}} loc("{{.*}}/replay")
    // MORE: train.backward_begin
    // MORE-NEXT: train.contract {{.+}} loc("proj/replay")
    // MORE: train.contract {{.+}} loc("up/replay")
    // MORE-NEXT: train.gelu {{.+}} loc("act/replay")
    // MORE-NOT: train.contract {{.+}} loc("{{.*}}/replay")
    // ATUSE-NOT: working:
    // ATUSE: %[[UP:.+]] = train.read @up
    // ATUSE: %[[UPONCE:.+]] = train.cast %[[UP]] {{.+}} loc("rounded up")
    // ATUSE-NEXT: train.contract {{.+}}, %[[UPONCE]]
    // ATUSE: train.backward_begin
    // ATUSE: %[[UPAGAIN:.+]] = train.cast %[[UP]] {{.+}} loc("rounded up/replay")
    // ATUSE-NEXT: train.contract {{.+}}, %[[UPAGAIN]]
    // ATUSE-NOT: train.graph @refresh
    // FULL: train.backward_begin
    // FULL-NOT: loc("proj/replay")
    // FULL: %[[U:.+]] = train.contract {{.+}} loc("up/replay")
    // FULL-NEXT: %[[A:.+]] = train.gelu %[[U]] {{.+}} loc("act/replay")
    // FULL-NEXT: train.contract %[[A]], {{.+}} loc("down/replay")
    // FULL-NOT: loc("proj/replay")
    %dp = train.add %dy, %p : (tensor<2x4x6xf32>, tensor<2x4x6xf32>) -> tensor<2x4x6xf32> loc("proj/sum")
    // Of the last norm only the statistics are needed, which are small; the sum needs what is gone.
    // CHECK-NEXT: train.layer_norm_grad %{{.+}}, %[[S]], %{{.+}}, %[[MEAN]], %[[RSTD]]
    %dz, %g0, %b0 = train.layer_norm_grad %dy, %s, %gain, %zmean, %zrstd {batch_nodes = 1, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<6xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>) loc("last/grad")
    // CHECK: %[[AGAIN:.+]] = train.gelu %[[U]] {{.+}} loc("act/replay")
    // CHECK-NEXT: train.contract %[[AGAIN]]
    // BF16: %[[WIDE:.+]] = train.gelu {{.+}} loc("act/replay")
    // BF16-NEXT: %[[ROUNDED:.+]] = train.cast %[[WIDE]] {{.+}} loc("act/bf16/replay")
    // BF16-NEXT: train.contract %[[ROUNDED]]
    %ddown = train.contract %a, %dz {form = #train<form tn>, segments = array<i64: 0, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x32xf32>, tensor<2x4x6xf32>) -> tensor<32x6xf32> loc("down/drhs")
    train.write @ddown, %ddown : tensor<32x6xf32>
    %da = train.contract %dz, %down {form = #train<form nt>, segments = array<i64: 0, 6>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x6xf32>, tensor<32x6xf32>) -> tensor<2x4x32xf32> loc("down/dlhs")
    // CHECK: train.gelu_grad %{{.+}}, %[[U]]
    %du = train.gelu_grad %da, %u : (tensor<2x4x32xf32>, tensor<2x4x32xf32>) -> tensor<2x4x32xf32> loc("act/dx")
    // A replay for all that need it, after what it needs itself.
    // CHECK-NEXT: %[[XAGAIN:.+]] = train.embedding {{.+}} loc("embed/replay")
    // CHECK-NEXT: %[[NAGAIN:.+]], %[[MEANAGAIN:.+]], %[[RSTDAGAIN:.+]] = train.layer_norm %[[XAGAIN]], {{.+}} loc("norm/replay")
    // CHECK-NEXT: train.contract %[[NAGAIN]]
    %dup = train.contract %n, %du {form = #train<form tn>, segments = array<i64: 0, 8>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x6xf32>, tensor<2x4x32xf32>) -> tensor<6x32xf32> loc("up/drhs")
    train.write @dup, %dup : tensor<6x32xf32>
    %dn = train.contract %du, %up {form = #train<form nt>, segments = array<i64: 0, 16, 16, 32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x32xf32>, tensor<6x32xf32>) -> tensor<2x4x6xf32> loc("up/dlhs")
    // CHECK: train.layer_norm_grad %{{.+}}, %[[XAGAIN]], %{{.+}}, %[[MEANAGAIN]], %[[RSTDAGAIN]]
    %dx, %g1, %b1 = train.layer_norm_grad %dn, %x, %gain, %mean, %rstd {batch_nodes = 1, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<6xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>) loc("norm/grad")
    train.write @dp, %dp : tensor<2x4x6xf32>
    train.write @dz, %dz : tensor<2x4x6xf32>
    train.write @dx, %dx : tensor<2x4x6xf32>
  }
}
