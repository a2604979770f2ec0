#include "passes/codegen/LaneProgram.h"
#include "passes/codegen/BF16.h"
#include "passes/codegen/Spec.h"

using namespace llvm;
using mlir::ArrayAttr;
using mlir::DictionaryAttr;

namespace recipe::codegen {

LaneProgram::LaneProgram(KernelBuilder &builder, DictionaryAttr spec, unsigned firstBuffer)
    : b(builder), inputs(specInts(spec, "inputs")), results(specInts(spec, "results")), firstBuffer(firstBuffer) {
  if (auto bf16 = spec.getAs<mlir::DenseI64ArrayAttr>("bf16"))
    halves = bf16.asArrayRef();
  for (auto [input, access] : enumerate(inputs))
    if (access == 0)
      mayOverwrite(firstBuffer + unsigned(input));
}

Expected<LaneProgram> LaneProgram::read(KernelBuilder &b, DictionaryAttr spec, unsigned firstBuffer,
                                        unsigned firstScalar) {
  LaneProgram program(b, spec, firstBuffer);
  for (auto entry : spec.getAs<ArrayAttr>("program").getAsRange<DictionaryAttr>()) {
    StringRef name = entry.getAs<mlir::StringAttr>("op").getValue();
    const LaneRule *rule = findLaneRule(name);
    if (!rule)
      return createStringError("a program over lanes holds elementwise ops, got '" + name.str() + "'");
    Step step{rule, specInts(entry, "operands"), entry.getAs<DictionaryAttr>("attributes"), {}};
    Vals scalars;
    for (unsigned i = 0; i < rule->scalars; ++i)
      scalars.push_back(b.scalar(firstScalar++));
    if (rule->prepare)
      step.prepared = rule->prepare(b, step.attributes, scalars);
    program.steps.push_back(std::move(step));
  }
  return program;
}

void LaneProgram::run(ValRange given, const Place &place) const {
  EmitPolicy policy(b);
  Vals values(given.begin(), given.end());
  for (auto [input, access] : enumerate(inputs)) {
    Address from = at(input, access == 0 ? place.element : place.channel);
    values.push_back(isBF16(input) ? loadBF16Lanes(b, from, place.mask) : b.loadLanes(from, place.mask));
  }
  for (const Step &step : steps) {
    Vals operands;
    for (int64_t number : step.operands)
      operands.push_back(values[size_t(number)]);
    values.append(step.rule->lanes({b, policy, step.attributes, step.prepared, place.element}, operands));
  }
  for (auto [result, number] : enumerate(results)) {
    Address to = at(inputs.size() + result, place.element);
    if (isBF16(inputs.size() + result))
      storeBF16Lanes(b, to, values[size_t(number)], place.mask);
    else
      b.storeLanes(to, values[size_t(number)], place.mask);
  }
}

Address LaneProgram::at(size_t number, Val index) const {
  return b.at(b.buffer(firstBuffer + unsigned(number)), index, isBF16(number) ? 2 : 4);
}

bool LaneProgram::isBF16(size_t number) const { return is_contained(halves, int64_t(number)); }

void LaneProgram::prefetch(Val element) const {
  for (auto [input, access] : enumerate(inputs))
    if (access == 0)
      b.prefetch(at(input, element));
}

void LaneProgram::prefetchResults(Val element) const {
  for (size_t result = 0; result < results.size(); ++result)
    b.prefetchToWrite(at(inputs.size() + result, element));
}

void LaneProgram::mayOverwrite(unsigned buffer) const {
  for (size_t result = 0; result < results.size(); ++result)
    b.mayAlias(buffer, firstBuffer + unsigned(inputs.size() + result));
}

bool LaneProgram::isShort() const {
  return all_of(steps, [](const Step &step) { return step.rule->isShort; });
}

Expected<std::optional<LaneProgram>> readEpilogue(KernelBuilder &b, DictionaryAttr spec, unsigned result,
                                                  ArrayRef<unsigned> inputs) {
  auto fused = spec.getAs<DictionaryAttr>("epilogue");
  if (!fused)
    return std::nullopt;
  Expected<LaneProgram> program = LaneProgram::read(b, fused, result, unsigned(specInt(fused, "first_scalar")));
  if (!program)
    return program.takeError();
  for (unsigned input : inputs)
    program->mayOverwrite(input);
  return std::optional<LaneProgram>(std::move(*program));
}

} // namespace recipe::codegen
