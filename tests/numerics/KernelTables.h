// The tables of KernelTableTest, one file for each area.
#ifndef TESTS_NUMERICS_KERNELTABLES_H
#define TESTS_NUMERICS_KERNELTABLES_H

#include "tests/numerics/KernelHarness.h"

namespace recipe::test {

std::vector<KernelCase> elementwiseCases();
std::vector<KernelCase> rowCases();
std::vector<KernelCase> contractCases();
std::vector<KernelCase> panelTurnCases(); // at an L2 of 64 KiB
std::vector<KernelCase> bf16ContractCases();
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
