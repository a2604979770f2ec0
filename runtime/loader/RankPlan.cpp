#include "runtime/loader/RankPlan.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/abi/kernel_abi.h"
#include <algorithm>

using namespace recipe::rt;

/// Far above anything real and low enough that products of two fit in 64 bits.
static const int64_t kMaxCount = int64_t(1) << 31;
static const uint64_t kMaxBytes = uint64_t(1) << 46;
static const uint32_t kMaxThreads = 4096;

template <typename... T> static absl::Status invalid(const T &...text) {
  return absl::InvalidArgumentError(absl::StrCat(text...));
}

static absl::Status checkManifest(const recipe::abi::Manifest &m) {
  if (m.abi_version() != RCP_ABI_VERSION)
    return invalid("kernel ABI version must be ", RCP_ABI_VERSION, ", got ", m.abi_version(),
                   m.abi_version() > RCP_ABI_VERSION ? ": compiled by a newer recipec" : ": compile the recipe again");
  if (m.max_threads() < 1 || m.max_threads() > kMaxThreads)
    return invalid("manifest: max_threads must be 1..", kMaxThreads, ", got ", m.max_threads());
  const std::pair<const char *, int64_t> counts[] = {{"seq_length", m.seq_length()},
                                                     {"batch_size", m.batch_size()},
                                                     {"global_batch", m.global_batch()},
                                                     {"batch_segments", m.batch_segments()},
                                                     {"vocab_size", m.vocab_size()}};
  for (auto [name, value] : counts)
    if (value < 1 || value > kMaxCount)
      return invalid("manifest: ", name, " must be 1..", kMaxCount, ", got ", value);
  if (m.batch_size() * m.seq_length() > kMaxCount)
    return invalid("manifest: batch_size x seq_length must be at most ", kMaxCount, ", got ", m.batch_size(), " and ",
                   m.seq_length());
  if (m.global_batch() % m.batch_segments() != 0)
    return invalid("manifest: batch_segments must divide global_batch, got ", m.batch_segments(), " and ",
                   m.global_batch());
  int64_t segment = m.global_batch() / m.batch_segments();
  if (segment % m.batch_size() != 0 && m.batch_size() % segment != 0)
    return invalid("manifest: batch_size must divide global_batch / batch_segments or be a multiple of it, got ",
                   m.batch_size(), " and ", segment);
  return absl::OkStatus();
}

static absl::Status checkRow(const recipe::abi::Certificate &certificate, const recipe::abi::Certificate::Row &row,
                             uint32_t maxThreads) {
  uint64_t state = row.state_bytes(), input = row.input_bytes(), transient = row.transient_bytes();
  if (std::max({state, input, transient}) > kMaxBytes || row.total_bytes() != state + input + transient)
    return invalid("certificate: total_bytes must be the sum of the regions, got ", row.total_bytes(), " and ", state,
                   " + ", input, " + ", transient);
  uint64_t offset = certificate.scratch_offset(), stride = certificate.scratch_stride();
  if (offset % 64 != 0 || stride % 64 != 0)
    return invalid("certificate: scratch must be 64-byte aligned, got offset ", offset, " and stride ", stride);
  if (offset > transient || stride > (transient - offset) / maxThreads)
    return invalid("certificate: scratch of ", maxThreads, " threads must lie inside the transient region of ",
                   transient, " bytes, got offset ", offset, " and stride ", stride);
  return absl::OkStatus();
}

absl::StatusOr<RankPlan> recipe::rt::planRanks(const abi::Step &step, int64_t ranks) {
  const abi::Manifest &m = step.manifest();
  RCP_RETURN_IF_ERROR(checkManifest(m));
  if (std::find(m.legal_ranks().begin(), m.legal_ranks().end(), ranks) == m.legal_ranks().end())
    return invalid("--nodes must be one of the numbers of ranks that the step was compiled for, got ", ranks, " and ",
                   absl::StrJoin(m.legal_ranks(), ", "));
  if (ranks < 1 || ranks > m.batch_segments() || m.batch_segments() % ranks != 0 || m.global_batch() % ranks != 0 ||
      m.global_batch() / ranks % m.batch_size() != 0)
    return invalid("manifest: ", ranks, " ranks must divide batch_segments, and ranks x batch_size global_batch, got ",
                   m.batch_segments(), ", ", m.batch_size(), " and ", m.global_batch());

  RankPlan plan;
  plan.ranks = ranks;
  plan.accumulation = m.global_batch() / ranks / m.batch_size();
  plan.nodeMicrobatches = std::max<int64_t>(1, m.global_batch() / m.batch_segments() / m.batch_size());
  plan.nodeCount = plan.accumulation / plan.nodeMicrobatches;
  if (plan.nodeCount < 1 || plan.accumulation % plan.nodeMicrobatches != 0 || (plan.nodeCount & (plan.nodeCount - 1)))
    return invalid("manifest: the batch-tree nodes of one rank must be a power of two, got ", plan.nodeCount);

  for (const abi::Certificate::Row &row : step.certificate().rows()) {
    if (row.ranks() != ranks)
      continue;
    RCP_RETURN_IF_ERROR(checkRow(step.certificate(), row, m.max_threads()));
    if (row.accumulation() != plan.accumulation)
      return invalid("certificate: accumulation on ", ranks, " ranks must be global_batch / (batch_size x ranks), got ",
                     row.accumulation(), " and ", plan.accumulation);
    plan.memory = row;
    return plan;
  }
  return invalid("certificate: no row for ", ranks, " ranks");
}
