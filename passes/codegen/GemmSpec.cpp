// From the segments of a contraction to the steps and groups that a gemm kernel runs through.
#include "passes/codegen/Gemm.h"
#include "passes/codegen/Spec.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace recipe::codegen {

// Cuts the ranges of all segments into steps of at most kBlock, as equal as they can be.
static void makeSteps(ArrayRef<int64_t> segments, GemmSpec &spec) {
  int64_t pairs = int64_t(spec.k.size());
  int64_t count = int64_t(segments.size()) / (2 * pairs);
  for (int64_t segment = 0; segment < count; ++segment) {
    size_t first = spec.steps.size();
    for (int64_t pair = 0; pair < pairs; ++pair) {
      int64_t begin = segments[size_t(2 * (segment * pairs + pair))];
      int64_t length = segments[size_t(2 * (segment * pairs + pair) + 1)] - begin;
      int64_t parts = divideCeil(length, spec.kBlock);
      for (int64_t part = 0; part < parts; ++part) {
        int64_t lo = length * part / parts, hi = length * (part + 1) / parts;
        spec.steps.push_back({pair, begin + lo, hi - lo, 0, GemmStep::Continue, 0, GemmStep::kToResult});
      }
    }
    if (spec.steps.size() == first) // an empty segment is +0.0
      spec.steps.push_back({0, 0, 0, 0, GemmStep::Continue, 0, GemmStep::kToResult});
    spec.steps[first].start = spec.accumulator ? GemmStep::Accumulator : GemmStep::Zero;
    // A binary counter: the one bits of `segment` are the pending subtrees, the trailing ones are complete. The last
    // segment, of a power of two of them, takes all.
    int64_t trailingOnes = countr_one(uint64_t(segment));
    spec.steps.back().merges = (int64_t(1) << trailingOnes) - 1;
    spec.steps.back().target = segment == count - 1 ? GemmStep::kToResult : trailingOnes;
  }
}

GemmSpec::GemmSpec(mlir::DictionaryAttr spec)
    : form(GemmForm(specInt(spec, "form"))), m(specInt(spec, "m")), n(specInt(spec, "n")), k(specInts(spec, "k")),
      accumulator(specInt(spec, "accumulator") != 0), blockRows(specInts(spec, "block")[0]),
      blockColumns(specInts(spec, "block")[1]), tileRows(specInts(spec, "tile")[0]),
      tileVectors(specInts(spec, "tile")[1]), kBlock(specInt(spec, "k_block")),
      packsLhs(specInt(spec, "packs_lhs") != 0), packedA(specInts(spec, "scratch")[0]),
      pending(specInts(spec, "scratch")[1]), epilogueInputs(0) {
  if (auto epilogue = spec.getAs<mlir::DictionaryAttr>("epilogue"))
    epilogueInputs = int64_t(specInts(epilogue, "inputs").size());
  makeSteps(specInts(spec, "segments"), *this);
  int64_t packed = 0;
  for (auto [index, step] : enumerate(steps)) {
    if (index == 0 || packed + step.length > kBlock) {
      groups.push_back(int64_t(index));
      packed = 0;
    }
    step.packed = packed;
    packed += step.length;
  }
  groups.push_back(int64_t(steps.size()));
  pendingPerTile = groups.size() == 2;
}

int64_t GemmSpec::levels() const {
  int64_t levels = 0;
  for (const GemmStep &step : steps)
    levels = std::max(levels, step.target + 1);
  return levels;
}

bool GemmSpec::rests() const {
  return any_of(drop_end(steps), [](const GemmStep &step) { return step.target == GemmStep::kToResult; });
}

Val GemmStepTable::field(Val step, int64_t GemmStep::*member) {
  SmallVector<int64_t> column;
  for (const GemmStep &each : spec.steps)
    column.push_back(each.*member);
  return lookUp(step, column);
}

Val GemmStepTable::groupBegin(Val group) {
  if (spec.groups.size() == spec.steps.size() + 1) // one step each
    return group;
  return lookUp(group, spec.groups);
}

Val GemmStepTable::lhsStride(Val pair) { return spec.form == GemmForm::TN ? b.i64(spec.m) : lookUp(pair, spec.k); }
Val GemmStepTable::rhsStride(Val pair) { return spec.form == GemmForm::NT ? lookUp(pair, spec.k) : b.i64(spec.n); }

Val GemmStepTable::lookUp(Val index, ArrayRef<int64_t> column) {
  if (auto *known = dyn_cast<ConstantInt>(index))
    return b.i64(column[size_t(known->getSExtValue())]);
  if (all_equal(column))
    return b.i64(column.front());
  auto *found = find_if(tables, [&](auto &each) { return ArrayRef<int64_t>(each.first) == column; });
  if (found == tables.end()) {
    Function *function = b.ir().GetInsertBlock()->getParent();
    auto *data = ConstantDataArray::get(
        b.ir().getContext(), ArrayRef<uint64_t>(reinterpret_cast<const uint64_t *>(column.data()), column.size()));
    auto *global = new GlobalVariable(*function->getParent(), data->getType(), /*isConstant=*/true,
                                      GlobalValue::PrivateLinkage, data, function->getName() + ".steps");
    global->setAlignment(Align(8));
    tables.push_back({SmallVector<int64_t>(column), global});
    found = &tables.back();
  }
  auto *load =
      b.ir().CreateAlignedLoad(b.i64Type(), b.ir().CreateInBoundsGEP(b.i64Type(), found->second, index), Align(8));
  load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(b.ir().getContext(), {}));
  return load;
}

} // namespace recipe::codegen
