// recipe-same-values before.mlir after.mlir: exits 0 when every graph of `before` computes the same bits in `after`, on
// random values, in the reference interpreter. For lit tests of passes.
#include "compiler/interp/SameValues.h"
#include "dialects/dist/Dist.h"
#include "dialects/step/Step.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace recipe;

int main(int argc, char **argv) {
  llvm::cl::opt<std::string> before(llvm::cl::Positional, llvm::cl::desc("<before.mlir>"), llvm::cl::Required);
  llvm::cl::opt<std::string> after(llvm::cl::Positional, llvm::cl::desc("<after.mlir>"), llvm::cl::Required);
  llvm::cl::list<std::string> only("graph", llvm::cl::desc("compare this graph instead of all"));
  llvm::cl::opt<uint64_t> seed("seed", llvm::cl::desc("of the random values"), llvm::cl::init(1));
  llvm::cl::opt<bool> fp64("fp64", llvm::cl::desc("in double precision, where nothing is rounded to f32 or bf16"));
  llvm::cl::ParseCommandLineOptions(argc, argv, "Compares the values that two modules compute, bit for bit\n");

  DialectRegistry registry;
  registry.insert<train::TrainDialect, dist::DistDialect, step::StepDialect>();
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> first = parseSourceFile<ModuleOp>(before, &context);
  OwningOpRef<ModuleOp> second = parseSourceFile<ModuleOp>(after, &context);
  if (!first || !second)
    return 1;
  llvm::SmallVector<std::string> graphs(only.begin(), only.end());
  if (graphs.empty())
    for (auto graph : first->getOps<train::GraphOp>())
      graphs.push_back(graph.getSymName().str());
  if (graphs.empty()) {
    first->emitError() << "has no graph to compare";
    return 1;
  }
  for (const std::string &graph : graphs)
    if (failed(interp::sameValues(*first, *second, graph, seed,
                                  fp64 ? train::ReferenceMode::Fp64 : train::ReferenceMode::Exact)))
      return 1;
  llvm::outs() << "same values: " << llvm::join(graphs, ", ") << "\n";
  return 0;
}
