// The tables of KernelTableTest, one file for each area.
#ifndef TESTS_NUMERICS_KERNELTABLES_H
#define TESTS_NUMERICS_KERNELTABLES_H

#include "dialects/train/Segments.h"
#include "tests/numerics/KernelHarness.h"

namespace recipe::test {

// How products take their terms.
enum class Terms { F32, Pairs, Blocks, Split };

// Operand types of one pair; `tokens` are the leading dimensions, which form tn contracts.
struct Contraction {
  std::string form;
  std::vector<int64_t> tokens;              // product: m of nn and nt, k of tn
  int64_t rows;                             // m of tn
  int64_t columns;                          // n
  std::vector<int64_t> k;                   // of each pair, nn and nt
  std::vector<train::SegmentList> segments; // of each pair
  bool accumulate = false;
  Terms terms = Terms::F32;
};

KernelCase caseOf(const std::string &name, const Contraction &contraction);

struct LossSize {
  int64_t samples, positions, channels, vocabulary, nodes;
  bool accumulate = false;
  double invalid = 0.3;
  Terms terms = Terms::F32;
};

// Its forms and its gradient.
void addLoss(std::vector<KernelCase> &cases, const LossSize &size);

struct AttentionShape {
  const char *name;
  int64_t samples, positions, heads, kvHeads, size;
  double dropout;
  uint64_t firstSample = 3; // of the micro-batch
};

// Forward and backward; `more`: attributes of bf16 operands.
void addAttention(std::vector<KernelCase> &cases, const AttentionShape &shape, const std::string &type,
                  const std::string &more);

std::vector<KernelCase> elementwiseCases();
std::vector<KernelCase> rowCases();
std::vector<KernelCase> contractCases();
std::vector<KernelCase> panelTurnCases();     // at an L2 of 64 KiB
std::vector<KernelCase> bf16PanelTurnCases(); // at an L2 of 64 KiB
std::vector<KernelCase> bf16ContractCases();
std::vector<KernelCase> attentionChunkCases(); // at an L2 of 64 KiB
std::vector<KernelCase> bf16BlocksCases();
std::vector<KernelCase> splitCases();
std::vector<KernelCase> lossCases();
std::vector<KernelCase> bf16LossCases();
std::vector<KernelCase> blocksLossCases();
std::vector<KernelCase> splitLossCases();
std::vector<KernelCase> updateCases();
std::vector<KernelCase> attentionCases();
std::vector<KernelCase> bf16AttentionCases();
std::vector<KernelCase> blocksAttentionCases();
std::vector<KernelCase> fusedCases();
std::vector<KernelCase> fusedBlocksCases();
std::vector<KernelCase> fusedSplitCases();

} // namespace recipe::test
#endif
