// RUN: recipe-opt --fuse=enabled=false --select-kernels %s | FileCheck %s
// RUN: recipe-opt --fuse=enabled=false --select-kernels --mlir-print-debuginfo %s | %same_values %s -
// The symbol of a kernel does not depend on what else is in the module.
// RUN: recipe-opt --fuse=enabled=false --select-kernels %s > %t.1
// RUN: sed -e '/loc("sum")/d; /@out/d' %s | recipe-opt --fuse=enabled=false --select-kernels | grep -o '@norm_[0-9a-fx]*_[0-9a-f]*' | sort -u > %t.2
// RUN: grep -F -f %t.2 %t.1 | FileCheck %s --check-prefix=SAME

// SAME: step.kernel @norm_

// Three launches, two kernels: the adds are of one size, the norm is another.
// CHECK: step.kernel @[[ADD:elementwise_2x3x8_[0-9a-f]+]] family "elementwise"
// CHECK: step.kernel @[[NORM:norm_2x3x8_[0-9a-f]+]] family "norm"
// CHECK-NOT: step.kernel
train.variable @x : tensor<2x3x8xf32> output
train.variable @gain : tensor<8xf32> parameter {hf_name = "gain"}
train.variable @out : tensor<2x3x8xf32> output
train.variable @norm : tensor<2x3x8xf32> output
// CHECK-LABEL: train.graph @train
train.graph @train {
  %x = train.read @x : tensor<2x3x8xf32>
  %gain = train.read @gain : tensor<8xf32>
  // CHECK: train.kernel "sum"
  // CHECK-SAME: in_place = array<i64: 0, 0, 0, 1>
  // CHECK-SAME: launches = [#step.launch<@[[ADD]](<operand 0 + 0>, <operand 1 + 0>, <result 0 + 0>), scalars = [48]
  // CHECK-SAME: temps = array<i64>
  %y = train.add %x, %x : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32> loc("sum")
  // CHECK: train.kernel "sum#2"
  // CHECK-SAME: #step.launch<@[[ADD]](
  %z = train.add %y, %x : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32> loc("sum")
  // CHECK: train.kernel "norm"
  // CHECK-SAME: #step.launch<@[[NORM]](
  %n, %r = train.rms_norm %x, %gain {eps = 1.0e-5 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3xf32>) loc("norm")
  train.write @norm, %n : tensor<2x3x8xf32>
  train.write @out, %z : tensor<2x3x8xf32>
}
