// How the global batch falls on ranks, batch-tree nodes and micro-batches (docs/numerics.md has the reasons).
#ifndef RUNTIME_LOADER_RANKPLAN_H
#define RUNTIME_LOADER_RANKPLAN_H
#include "runtime/abi/step.pb.h"
#include "runtime/base/Status.h"

namespace recipe::rt {

struct RankPlan {
  int64_t ranks = 1;
  int64_t accumulation = 1;     // A = G / (B N): micro-batches per update and rank
  int64_t nodeMicrobatches = 1; // q = max(1, (G / S) / B): micro-batches of one batch-tree node
  int64_t nodeCount = 1;        // A / q, a power of two
  abi::Certificate::Row memory; // the certificate's row for this number of ranks
};

/// Checks manifest and certificate and refuses a number of ranks that the step was not compiled for.
absl::StatusOr<RankPlan> planRanks(const abi::Step &step, int64_t ranks);

} // namespace recipe::rt
#endif
