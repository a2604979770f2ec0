// Why rules do not join ops. A pattern that does not match is silent where another rule joined the op.
// RUN: recipe-opt --fuse=remarks=true %s -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=remark:

#nn = #train<form nn>
!x = tensor<2x3x16xf32>
!w = tensor<16x16xf32>
train.variable @x : !x parameter {hf_name = "x"}
train.variable @w : !w parameter {hf_name = "w"}
train.variable @bias : tensor<16xf32> parameter {hf_name = "bias"}
train.variable @a : !x output
train.variable @b : !x output
train.variable @c : !x output

// CHECK: remark: loc("bias"): not fused by GemmBias: operand 0 of 'train.bias_add' comes from 'train.read', not from 'train.contract'
// CHECK: remark: loc("bias"): not fused by ElementwiseChain: 'train.read' is not elementwise
// CHECK: remark: loc("bias"): not fused by ElementwiseChainSecond: 'train.read' is not elementwise
train.graph @structure {
  %x = train.read @x : !x
  %bias = train.read @bias : tensor<16xf32>
  %0 = train.bias_add %x, %bias : (!x, tensor<16xf32>) -> !x loc("bias")
  train.write @a, %0 : !x
}

// A second product is no epilogue of the first.
// CHECK: remark: loc("sum"): not fused by GemmFirstInSum: one region has one op that is not elementwise, got 'train.contract' and 'train.contract'
train.graph @anchors {
  %x = train.read @x : !x
  %w = train.read @w : !w
  %0 = train.contract %x, %w {form = #nn, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 16>} : (!x, !w) -> !x loc("first")
  %1 = train.contract %x, %w {form = #nn, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 16>} : (!x, !w) -> !x loc("second")
  %2 = train.add %0, %1 : (!x, !x) -> !x loc("sum")
  train.write @a, %2 : !x
}

// Another op needs the product before the region could run.
// CHECK: remark: loc("late"): not fused by GemmBias: what 'train.contract' product gives is needed by 'train.contract' user before 'train.bias_add' late can run
// CHECK: remark: loc("late"): not fused by ElementwiseChain: 'train.contract' is not elementwise
// CHECK: remark: loc("late"): not fused by ElementwiseChainSecond: 'train.read' is not elementwise
train.graph @order {
  %x = train.read @x : !x
  %w = train.read @w : !w
  %bias = train.read @bias : tensor<16xf32>
  %0 = train.contract %x, %w {form = #nn, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 16>} : (!x, !w) -> !x loc("product")
  %1 = train.contract %0, %w {form = #nn, operandSegmentSizes = array<i32: 1, 1, 0>, segments = array<i64: 0, 16>} : (!x, !w) -> !x loc("user")
  train.write @b, %1 : !x
  %2 = train.bias_add %0, %bias : (!x, tensor<16xf32>) -> !x loc("late")
  train.write @a, %2 : !x
}

// Forward ends before backward begins.
// CHECK: remark: loc("gelu"): not fused by GemmBiasGelu: operand 0 of 'train.gelu' comes from 'train.add', not from 'train.bias_add'
// CHECK: remark: loc("gelu"): not fused by ElementwiseChain: 'train.add' add belongs to forward, 'train.gelu' gelu to backward
// CHECK: remark: loc("gelu"): not fused by ElementwiseChainSecond: 'train.gelu' has 1 operands
// CHECK: remark: loc("add"): not fused by GemmBiasDropoutResidual: operand 1 of 'train.add' comes from 'train.read', not from 'train.dropout'
// CHECK-COUNT-7: remark: loc("add"): not fused by
train.graph @backward {
  %x = train.read @x : !x
  %0 = train.add %x, %x : (!x, !x) -> !x loc("add")
  train.write @a, %0 : !x
  train.backward_begin
  %1 = train.gelu %0 : (!x) -> !x loc("gelu")
  train.write @b, %1 : !x
}

// The scalars that AdamW reads change before its cast stands.
// CHECK-COUNT-5: remark: loc("cast"): not fused by {{.*}}Cast: operand 0 of 'train.cast' comes from 'train.adamw', not from
// CHECK: remark: loc("cast"): not fused by ElementwiseChain: 'train.grad_norm' norm changes the step's scalars in between
// CHECK: remark: loc("cast"): not fused by ElementwiseChainSecond: 'train.cast' has 1 operands
// CHECK: remark: loc("cast"): not fused by SecondResultCast: operand 0 of 'train.cast' is result 0 of 'train.adamw', not 1
// CHECK-COUNT-2: remark: loc("adamw"): not fused by ElementwiseChain{{.*}}: 'train.read' is not elementwise
train.variable @h : tensor<2x3x16xbf16> working {of = @x}
train.graph @scalars {
  %x = train.read @x : !x
  %p, %m, %v = train.adamw %x, %x, %x, %x {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64} : (!x, !x, !x, !x) -> (!x, !x, !x) loc("adamw")
  train.grad_norm %x {clip = 1.0 : f64} : (!x) -> () loc("norm")
  %0 = train.cast %p : (!x) -> tensor<2x3x16xbf16> loc("cast")
  train.write @h, %0 : tensor<2x3x16xbf16>
}
