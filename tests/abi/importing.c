/* A kernel that a compiler must never emit: it imports memset. */
#include "runtime/abi/kernel_abi.h"
void *memset(void *, int, size_t);
void importing(const rcp_launch_v1 *launch, int64_t workgroup, void *scratch) { memset(scratch, 0, 64); }
