/* The kernel ABI: what a compiled kernel and the runtime agree on. C11, fixed width, versioned.
 *
 * A kernel is one function. The executor calls it once for each workgroup of a launch, on any thread, in any order;
 * workgroups of one launch write disjoint data. A kernel imports nothing: what it needs of the host comes in
 * rcp_host_v1. Kernels run with FTZ and DAZ set (MXCSR bits 15 and 6), rounding to nearest even.
 */
#ifndef RUNTIME_ABI_KERNEL_ABI_H
#define RUNTIME_ABI_KERNEL_ABI_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RCP_ABI_VERSION 1u
#define RCP_RUN_VALUES 32

/* fp64 functions for the prologue only. */
typedef struct rcp_host_v1 {
  double (*exp)(double);
  double (*log)(double);
  double (*pow)(double, double);
  double (*cos)(double);
} rcp_host_v1;

/* The dynamic scalars of one step, at a fixed place; kernels read scalars only here or in rcp_launch_v1.scalars. */
typedef struct rcp_step_params_v1 {
  /* Written by the executor. */
  uint32_t struct_bytes; /* sizeof(rcp_step_params_v1) */
  uint32_t abi_version;  /* RCP_ABI_VERSION */
  int64_t step;          /* updates done before this one: 0, 1, ... */
  uint64_t seed;         /* experiment.seed */
  int64_t microbatch;    /* micro-batch of this step on this rank */
  int64_t first_sample;  /* position in the global batch, 0..G-1, of this micro-batch's first sample */
  int64_t node;          /* index of the batch-tree node that this micro-batch completes, on this rank */
  int64_t node_count;    /* batch-tree nodes of one step on this rank (a power of two) */
  int64_t reserved[7];
  double run_values[RCP_RUN_VALUES]; /* run-time keys, see RunTimeKey.slot in step.proto */
  /* Written by the compiled prologue. */
  double learning_rate;    /* of this update */
  double bias_correction1; /* 1 - beta1^(step+1) */
  double bias_correction2; /* 1 - beta2^(step+1) */
  /* Written by the compiled update. */
  int64_t valid_tokens; /* labels that count, in the global batch */
  double loss_sum;      /* sum of their losses */
  double grad_norm;     /* of the mean gradient, before clipping */
  double grad_scale;    /* clip factor / valid_tokens: what an update multiplies gradients with */
  uint64_t skip_update; /* 1: a non-finite gradient or loss; updates leave all state alone */
  double norm_max;      /* scratch of the reproducible norm: max |g| */
  int64_t reserved2[8];
} rcp_step_params_v1;

typedef struct rcp_launch_v1 {
  void *const *buffers;   /* one address for each kernel argument, in the order of the launch */
  const int64_t *scalars; /* the launch's constants */
  rcp_step_params_v1 *params;
  const rcp_host_v1 *host;
} rcp_launch_v1;

/* scratch: this thread's private workspace, 64-byte aligned, Instruction.scratch_bytes long, contents undefined. */
typedef void (*rcp_kernel_v1)(const rcp_launch_v1 *launch, int64_t workgroup, void *scratch);

#define RCP_ASSERT(cond, text) _Static_assert(cond, text)
#ifdef __cplusplus
#undef RCP_ASSERT
#define RCP_ASSERT(cond, text) static_assert(cond, text)
#endif
RCP_ASSERT(sizeof(rcp_host_v1) == 32, "rcp_host_v1");
RCP_ASSERT(offsetof(rcp_step_params_v1, step) == 8, "step");
RCP_ASSERT(offsetof(rcp_step_params_v1, seed) == 16, "seed");
RCP_ASSERT(offsetof(rcp_step_params_v1, microbatch) == 24, "microbatch");
RCP_ASSERT(offsetof(rcp_step_params_v1, first_sample) == 32, "first_sample");
RCP_ASSERT(offsetof(rcp_step_params_v1, node) == 40, "node");
RCP_ASSERT(offsetof(rcp_step_params_v1, node_count) == 48, "node_count");
RCP_ASSERT(offsetof(rcp_step_params_v1, run_values) == 112, "run_values");
RCP_ASSERT(offsetof(rcp_step_params_v1, learning_rate) == 368, "learning_rate");
RCP_ASSERT(offsetof(rcp_step_params_v1, bias_correction1) == 376, "bias_correction1");
RCP_ASSERT(offsetof(rcp_step_params_v1, bias_correction2) == 384, "bias_correction2");
RCP_ASSERT(offsetof(rcp_step_params_v1, valid_tokens) == 392, "valid_tokens");
RCP_ASSERT(offsetof(rcp_step_params_v1, loss_sum) == 400, "loss_sum");
RCP_ASSERT(offsetof(rcp_step_params_v1, grad_norm) == 408, "grad_norm");
RCP_ASSERT(offsetof(rcp_step_params_v1, grad_scale) == 416, "grad_scale");
RCP_ASSERT(offsetof(rcp_step_params_v1, skip_update) == 424, "skip_update");
RCP_ASSERT(offsetof(rcp_step_params_v1, norm_max) == 432, "norm_max");
RCP_ASSERT(sizeof(rcp_step_params_v1) == 504, "rcp_step_params_v1");
RCP_ASSERT(sizeof(rcp_launch_v1) == 32, "rcp_launch_v1");

#ifdef __cplusplus
}
#endif
#endif
