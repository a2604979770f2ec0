// A region for each default rule. Values do not change, and every region has a kernel.
// RUN: recipe-opt --fuse %s | FileCheck %s
// RUN: recipe-opt --fuse --mlir-print-debuginfo %s | %same_values %s -
// RUN: recipe-opt --fuse --select-kernels --mlir-print-debuginfo %s | %same_values %s -
// RUN: recipe-opt --fuse --select-kernels %s | FileCheck %s --check-prefix=KERNELS

#nn = #train<form nn>
#nt = #train<form nt>
!x = tensor<2x3x16xf32>
!w = tensor<16x16xf32>
!c = tensor<16xf32>
!rows = tensor<2x3xf32>
!sums = tensor<8x16xf32>
!h = tensor<2x3x16xbf16>
train.variable @x : !x parameter {hf_name = "x"}
train.variable @other : !x parameter {hf_name = "other"}
train.variable @w : !w parameter {hf_name = "w"}
train.variable @bias : !c parameter {hf_name = "bias"}
train.variable @rstd : !rows parameter {hf_name = "rstd"}
train.variable @m : !x adam_m
train.variable @v : !x adam_v
train.variable @a : !x output
train.variable @b : !x output
train.variable @c : !x output
train.variable @d : !x output
train.variable @e : !x output
train.variable @f : !x output
train.variable @g : !x output
train.variable @dgain : !sums output
train.variable @dbias : !sums output

// The pre-activation is kept for backward, so the region gives both.
// CHECK-LABEL: train.graph @gelu
// CHECK: %[[BOTH:.+]]:2 = train.kernel "fc+bias_add+gelu"(%[[X:.+]], %[[W:.+]], %[[B:.+]]) :
// CHECK-NEXT: ^bb0(%[[XI:.+]]: tensor<2x3x16xf32>, %[[WI:.+]]: tensor<16x16xf32>, %[[BI:.+]]: tensor<16xf32>):
// CHECK-NEXT: %[[P:.+]] = train.contract %[[XI]], %[[WI]]
// CHECK-NEXT: %[[Q:.+]] = train.bias_add %[[P]], %[[BI]]
// CHECK-NEXT: %[[R:.+]] = train.gelu %[[Q]]
// CHECK-NEXT: train.yield %[[Q]], %[[R]]
// CHECK: train.write @a, %[[BOTH]]#1
// The gradient takes the product and nobody else does.
// CHECK: train.kernel "dlhs+gelu_grad"(%[[X]], %[[W]], %[[BOTH]]#0)
// KERNELS-LABEL: train.graph @gelu
// KERNELS: train.kernel "fc+bias_add+gelu"
// KERNELS-SAME: <operand 0 + 0>, <operand 1 + 0>, <operand 2 + 0>, <result 0 + 0>, <result 1 + 0>
// KERNELS: train.kernel "dlhs+gelu_grad"
// KERNELS-SAME: in_place = array<i64: 0, 2>
train.graph @gelu {
  %x = train.read @x : !x
  %w = train.read @w : !w
  %bias = train.read @bias : !c
  %0 = train.contract %x, %w {form = #nn, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 16>} : (!x, !w) -> !x loc("fc")
  %1 = train.bias_add %0, %bias : (!x, !c) -> !x loc("fc.bias")
  %2 = train.gelu %1 : (!x) -> !x loc("act")
  train.write @a, %2 : !x
  %3 = train.contract %x, %w {form = #nt, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 16>} : (!x, !w) -> !x loc("dlhs")
  %4 = train.gelu_grad %3, %1 : (!x, !x) -> !x loc("act/dx")
  train.write @b, %4 : !x
}

// CHECK-LABEL: train.graph @residual
// CHECK: train.kernel "drop+bias_add+dropout+add"
// CHECK: train.kernel "proj+bias_add+add"
// CHECK: train.kernel "alone+bias_add"
// CHECK: train.kernel "plain+add"
// CHECK: train.kernel "first+add"
train.graph @residual {
  %x = train.read @x : !x
  %other = train.read @other : !x
  %w = train.read @w : !w
  %bias = train.read @bias : !c
  %0 = train.contract %x, %w {form = #nn, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 16>} : (!x, !w) -> !x loc("drop")
  %1 = train.bias_add %0, %bias : (!x, !c) -> !x loc("drop.bias")
  %2 = train.dropout %1 {dropout_id = 7 : i64, p = 0.5 : f64} : (!x) -> !x loc("drop.drop")
  %3 = train.add %other, %2 : (!x, !x) -> !x loc("drop.sum")
  train.write @a, %3 : !x
  %4 = train.contract %x, %w {form = #nn, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 16>} : (!x, !w) -> !x loc("proj")
  %5 = train.bias_add %4, %bias : (!x, !c) -> !x loc("proj.bias")
  %6 = train.add %3, %5 : (!x, !x) -> !x loc("proj.sum")
  train.write @b, %6 : !x
  %7 = train.contract %x, %w {form = #nn, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 16>} : (!x, !w) -> !x loc("alone")
  %8 = train.bias_add %7, %bias : (!x, !c) -> !x loc("alone.bias")
  train.write @c, %8 : !x
  %9 = train.contract %x, %w {form = #nn, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 16>} : (!x, !w) -> !x loc("plain")
  %10 = train.add %other, %9 : (!x, !x) -> !x loc("plain.sum")
  train.write @d, %10 : !x
  %11 = train.contract %x, %w {form = #nn, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 16>} : (!x, !w) -> !x loc("first")
  %12 = train.add %11, %other : (!x, !x) -> !x loc("first.sum")
  train.write @e, %12 : !x
}

// CHECK-LABEL: train.graph @swiglu
// CHECK: %[[GATE:.+]] = train.kernel "gate"
// CHECK: %[[UP:.+]]:2 = train.kernel "up+swiglu"(%{{.+}}, %{{.+}}, %[[GATE]])
// CHECK: train.kernel "dlhs+swiglu_grad"(%{{.+}}, %{{.+}}, %[[GATE]], %[[UP]]#0)
train.graph @swiglu {
  %x = train.read @x : !x
  %w = train.read @w : !w
  %0 = train.contract %x, %w {form = #nt, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 16>} : (!x, !w) -> !x loc("gate")
  %1 = train.contract %x, %w {form = #nn, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 16>} : (!x, !w) -> !x loc("up")
  %2 = train.swiglu %0, %1 : (!x, !x) -> !x loc("act")
  train.write @a, %2 : !x
  %3 = train.contract %x, %w {form = #nn, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 16>} : (!x, !w) -> !x loc("dlhs")
  %4:2 = train.swiglu_grad %3, %0, %1 : (!x, !x, !x) -> (!x, !x) loc("act/grad")
  train.write @b, %4#0 : !x
  train.write @c, %4#1 : !x
}

// The gradients of the gain go to variables before the sum stands: they wait for it.
// CHECK-LABEL: train.graph @norm
// CHECK: %[[ALL:.+]]:4 = train.kernel "ln/grad+add+dropout"
// CHECK: train.yield %[[DG:[^,]+]], %[[DB:[^,]+]], %[[SUM:[^,]+]], %{{[^,]+}} :
// CHECK-DAG: train.write @dgain, %[[ALL]]#0
// CHECK-DAG: train.write @dbias, %[[ALL]]#1
// CHECK-DAG: train.write @a, %[[ALL]]#2
// CHECK-DAG: train.write @b, %[[ALL]]#3
// CHECK: train.kernel "rms/grad+add"
// KERNELS-LABEL: train.graph @norm
// KERNELS: train.kernel "rms/grad+add"
// Over dy, over x, over the other term.
// KERNELS-SAME: in_place = array<i64: 1, 0, 1, 0, 1, 3>
train.graph @norm {
  %x = train.read @x : !x
  %other = train.read @other : !x
  %gain = train.read @bias : !c
  %rstd = train.read @rstd : !rows
  %dx, %dgain, %dbias = train.layer_norm_grad %x, %other, %gain, %rstd, %rstd {batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>} : (!x, !x, !c, !rows, !rows) -> (!x, !sums, !sums) loc("ln/grad")
  train.write @dgain, %dgain : !sums
  train.write @dbias, %dbias : !sums
  %1 = train.add %other, %dx : (!x, !x) -> !x loc("ln/sum")
  train.write @a, %1 : !x
  %2 = train.dropout %1 {dropout_id = 7 : i64, p = 0.5 : f64} : (!x) -> !x loc("ln/drop")
  train.write @b, %2 : !x
  %dx2, %dgain2 = train.rms_norm_grad %x, %x, %gain, %rstd {batch_nodes = 1 : i64} : (!x, !x, !c, !rows) -> (!x, !sums) loc("rms/grad")
  %3 = train.add %other, %dx2 : (!x, !x) -> !x loc("rms/sum")
  train.write @c, %3 : !x
}

// CHECK-LABEL: train.graph @chain
// CHECK: train.kernel "one+gelu+add"(%[[V:.+]], %[[U:.+]])
train.graph @chain {
  %x = train.read @x : !x
  %other = train.read @other : !x
  %0 = train.add %x, %other : (!x, !x) -> !x loc("one")
  %1 = train.gelu %0 : (!x) -> !x loc("two")
  %2 = train.add %x, %1 : (!x, !x) -> !x loc("three")
  train.write @a, %2 : !x
}

// What contractions take in bf16 is rounded where it is made; AdamW gives the working copy.
// CHECK-LABEL: train.graph @casts
// CHECK: train.kernel "ln+cast"
// CHECK: train.kernel "rms+cast"
// CHECK: train.kernel "product+cast"
// CHECK: train.kernel "adamw+cast"
// KERNELS-LABEL: train.graph @casts
train.variable @ln : !h working {of = @x}
train.variable @rms : !h working {of = @x}
train.variable @product : !h working {of = @x}
train.variable @working : !h working {of = @x}
train.graph @casts {
  %x = train.read @x : !x
  %m = train.read @m : !x
  %v = train.read @v : !x
  %other = train.read @other : !x
  %w = train.read @w : !w
  %gain = train.read @bias : !c
  %y, %mean, %rstd = train.layer_norm %x, %gain, %gain {eps = 1.0e-5 : f64} : (!x, !c, !c) -> (!x, !rows, !rows) loc("ln")
  %0 = train.cast %y : (!x) -> !h loc("ln.bf16")
  train.write @ln, %0 : !h
  %z, %rstd2 = train.rms_norm %x, %gain {eps = 1.0e-5 : f64} : (!x, !c) -> (!x, !rows) loc("rms")
  %1 = train.cast %z : (!x) -> !h loc("rms.bf16")
  train.write @rms, %1 : !h
  %2 = train.contract %x, %w {form = #nn, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 16>} : (!x, !w) -> !x loc("product")
  %3 = train.cast %2 : (!x) -> !h loc("product.bf16")
  train.write @product, %3 : !h
  %p, %m1, %v1 = train.adamw %x, %m, %v, %other {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64} : (!x, !x, !x, !x) -> (!x, !x, !x) loc("adamw")
  train.write @x, %p : !x
  %4 = train.cast %p : (!x) -> !h loc("adamw.bf16")
  train.write @m, %m1 : !x
  train.write @v, %v1 : !x
  train.write @working, %4 : !h
}
