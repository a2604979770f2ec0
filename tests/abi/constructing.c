/* An object that a compiler must never emit: it runs code when it is loaded. */
#include "runtime/abi/kernel_abi.h"
static volatile int64_t state;
__attribute__((constructor)) static void construct(void) { state = 1; }
void constructing(const rcp_launch_v1 *launch, int64_t workgroup, void *scratch) { *(int64_t *)scratch = state; }
