/* Hand-written kernels of a whole training step: a line fitted to (token, label) pairs by SGD. They test the kernel ABI
 * and the runtime without the compiler. line = {slope, offset}; x = token * scale, y = label * scale; a label < 0 does
 * not count. B samples of T tokens in a micro-batch. */
#include "runtime/abi/kernel_abi.h"

#define EXPORT __attribute__((visibility("default")))
#define KERNEL(name) EXPORT void name(const rcp_launch_v1 *launch, int64_t workgroup, void *scratch)
#define BUFFER(type, index) ((type *)launch->buffers[index])

enum { pendingLevels = 8 };

/* line */
KERNEL(line_init) {
  float *line = BUFFER(float, 0);
  line[0] = 0.25f + (float)launch->params->seed * 0.125f;
  line[1] = -0.5f;
}

/* run_values[0]: learning rate, run_values[1]: its decay per step */
KERNEL(line_prologue) {
  rcp_step_params_v1 *params = launch->params;
  params->learning_rate = params->run_values[0] * launch->host->pow(params->run_values[1], (double)params->step);
}

/* values [n]; scalars: n */
KERNEL(line_zero) {
  for (int64_t i = 0; i < launch->scalars[0]; ++i)
    BUFFER(float, 0)[i] = 0.0f;
}

/* counters; scalars: index */
KERNEL(line_count) { ++BUFFER(int64_t, 0)[launch->scalars[0]]; }

/* line, tokens, labels, scale, residual [B, T], environment [B]; scalars: T. One workgroup for each sample; goes
 * through scratch to show that it is private. */
KERNEL(line_residual) {
  const float *line = BUFFER(const float, 0), scale = BUFFER(const float, 3)[0];
  int64_t length = launch->scalars[0], first = workgroup * length;
  volatile float *own = scratch;
  for (int64_t t = 0; t < length; ++t)
    own[t] = line[0] * ((float)BUFFER(const int32_t, 1)[first + t] * scale) + line[1];
  for (int64_t t = 0; t < length; ++t) {
    int32_t label = BUFFER(const int32_t, 2)[first + t];
    BUFFER(float, 4)[first + t] = label < 0 ? 0.0f : own[t] - (float)label * scale;
  }
  uint32_t environment = __builtin_ia32_stmxcsr();
  BUFFER(uint32_t, 5)[workgroup] = ((uintptr_t)scratch % 64) ? 0 : environment;
}

/* tokens, labels, scale, residual [B, T], gradient [2], loss {sum, count} of the step; scalars: B * T */
KERNEL(line_gradient) {
  float *gradient = BUFFER(float, 4), scale = BUFFER(const float, 2)[0];
  double *loss = BUFFER(double, 5);
  for (int64_t t = 0; t < launch->scalars[0]; ++t) {
    if (BUFFER(const int32_t, 1)[t] < 0)
      continue;
    float residual = BUFFER(const float, 3)[t];
    gradient[0] += 2.0f * residual * ((float)BUFFER(const int32_t, 0)[t] * scale);
    gradient[1] += 2.0f * residual;
    loss[0] += (double)residual * (double)residual;
    loss[1] += 1.0;
  }
}

/* gradient [2] of one node, total [2] */
KERNEL(line_copy) {
  BUFFER(float, 1)[0] = BUFFER(float, 0)[0];
  BUFFER(float, 1)[1] = BUFFER(float, 0)[1];
}

/* gradient [2] of one node, pending [pendingLevels, 2], total [2]: a binary counter over the nodes */
KERNEL(line_merge) {
  float a = BUFFER(float, 0)[0], b = BUFFER(float, 0)[1], *pending = BUFFER(float, 1);
  int64_t level = 0;
  for (; launch->params->node >> level & 1; ++level) {
    a = pending[2 * level] + a;
    b = pending[2 * level + 1] + b;
  }
  float *out = launch->params->node == launch->params->node_count - 1 ? BUFFER(float, 2) : pending + 2 * level;
  out[0] = a;
  out[1] = b;
}

/* own, arrived; scalars: elements, whether what arrived is the left operand. See docs/abi.md, "Sums over ranks". */
#define COMBINE(type)                                                                                                  \
  KERNEL(line_combine_##type) {                                                                                        \
    type *own = BUFFER(type, 0), *arrived = BUFFER(type, 1);                                                           \
    int64_t first = workgroup * 16384, end = first + 16384;                                                            \
    for (int64_t i = first; i < end && i < launch->scalars[0]; ++i)                                                    \
      own[i] = launch->scalars[1] ? arrived[i] + own[i] : own[i] + arrived[i];                                         \
  }
COMBINE(float)
COMBINE(double)

/* line, total [2], loss {sum, count} */
KERNEL(line_update) {
  rcp_step_params_v1 *params = launch->params;
  float *line = BUFFER(float, 0), *total = BUFFER(float, 1);
  double *loss = BUFFER(double, 2);
  params->loss_sum = loss[0];
  params->valid_tokens = (int64_t)loss[1];
  params->grad_scale = 1.0 / loss[1];
  params->grad_norm = __builtin_sqrt((double)total[0] * total[0] + (double)total[1] * total[1]) * params->grad_scale;
  params->skip_update = !(params->grad_norm - params->grad_norm == 0.0);
  loss[0] = loss[1] = 0.0;
  if (params->skip_update)
    return;
  float rate = (float)(params->learning_rate * params->grad_scale);
  line[0] = line[0] - rate * total[0];
  line[1] = line[1] - rate * total[1];
}

/* line, tokens, labels, scale; scalars: B * T */
KERNEL(line_eval) {
  rcp_step_params_v1 *params = launch->params;
  const float *line = BUFFER(const float, 0), scale = BUFFER(const float, 3)[0];
  for (int64_t t = 0; t < launch->scalars[0]; ++t) {
    int32_t label = BUFFER(const int32_t, 2)[t];
    if (label < 0)
      continue;
    float residual = line[0] * ((float)BUFFER(const int32_t, 1)[t] * scale) + line[1] - (float)label * scale;
    params->loss_sum += (double)residual * (double)residual;
    ++params->valid_tokens;
  }
}

/* out [workgroups]: out[i] += i; for the thread pool's tests */
KERNEL(line_touch) { BUFFER(int64_t, 0)[workgroup] += workgroup; }
