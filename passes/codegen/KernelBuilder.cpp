#include "passes/codegen/KernelBuilder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include <numeric>

using namespace llvm;

namespace recipe::codegen {

static_assert(sizeof(void *) == 8 && offsetof(rcp_launch_v1, buffers) == 0 && offsetof(rcp_launch_v1, scalars) == 8 &&
                  offsetof(rcp_launch_v1, params) == 16 && offsetof(rcp_launch_v1, host) == 24,
              "kernels address rcp_launch_v1 by these offsets");

static void setAttributes(Function *function, const step::TargetInfo &target) {
  // Every extension is listed; the CPU's name only tunes.
  function->addFnAttr("target-cpu", "x86-64");
  function->addFnAttr("tune-cpu", target.cpu);
  std::string features;
  for (const std::string &feature : target.features)
    features += (features.empty() ? "+" : ",+") + feature;
  function->addFnAttr("target-features", features);
  std::string width = std::to_string(target.vectorBits);
  function->addFnAttr("prefer-vector-width", width);
  function->addFnAttr("min-legal-vector-width", width);
  // Kernels run with FTZ and DAZ; constants must fold the same way.
  function->addFnAttr("denormal-fp-math", "preserve-sign,preserve-sign");
  // No loop may become a call of memset or memcpy: kernels import nothing.
  function->addFnAttr("no-builtins");
  function->addFnAttr("frame-pointer", "none");
  function->setDoesNotThrow();
  function->setVisibility(GlobalValue::ProtectedVisibility);
}

KernelBuilder::KernelBuilder(Module &module, StringRef name, const step::TargetInfo &target)
    : builder(module.getContext()), target(target) {
  auto *type = FunctionType::get(builder.getVoidTy(), {pointerType(), i64Type(), pointerType()}, false);
  function = Function::Create(type, GlobalValue::ExternalLinkage, name, module);
  setAttributes(function, target);
  for (unsigned pointer : {0u, 2u}) {
    function->addParamAttr(pointer, Attribute::NonNull);
    function->addParamAttr(pointer, Attribute::NoAlias);
  }
  function->addParamAttr(0, Attribute::ReadOnly);
  function->addParamAttr(2, Attribute::getWithAlignment(module.getContext(), Align(64)));
  function->getArg(0)->setName("launch");
  function->getArg(1)->setName("workgroup");
  function->getArg(2)->setName("scratch");
  workgroupArgument = function->getArg(1);
  entry = BasicBlock::Create(module.getContext(), "entry", function);
  auto *body = BasicBlock::Create(module.getContext(), "body", function);
  builder.SetInsertPoint(entry);
  builder.CreateBr(body);
  builder.SetInsertPoint(body);
}

Function *KernelBuilder::finish() {
  builder.CreateRetVoid();
  // One scope for each argument; those that may be the same memory share it.
  auto scopeOf = [&](int memory) {
    for (bool changed = true; changed;) {
      changed = false;
      for (auto [a, b] : aliases)
        if (memory == int(std::max(a, b)) && a != b)
          memory = int(std::min(a, b)), changed = true;
    }
    return memory;
  };
  MDBuilder metadata(builder.getContext());
  MDNode *domain = metadata.createAnonymousAliasScopeDomain(function->getName());
  SmallVector<std::pair<int, MDNode *>> scopes;
  for (auto &[access, memory] : accesses)
    if (none_of(scopes, [&, memory = memory](auto &scope) { return scope.first == scopeOf(memory); }))
      scopes.push_back({scopeOf(memory), metadata.createAnonymousAliasScope(domain)});
  for (auto &[access, memory] : accesses) {
    SmallVector<Metadata *> own, others;
    for (auto &[scope, node] : scopes)
      (scope == scopeOf(memory) ? own : others).push_back(node);
    access->setMetadata(LLVMContext::MD_alias_scope, MDNode::get(builder.getContext(), own));
    if (!others.empty())
      access->setMetadata(LLVMContext::MD_noalias, MDNode::get(builder.getContext(), others));
  }
  return function;
}

Val KernelBuilder::entryLoad(function_ref<Val(IRBuilder<> &)> emit) {
  IRBuilder<> atEntry(entry->getTerminator());
  Val value = emit(atEntry);
  if (auto *load = dyn_cast<LoadInst>(value))
    load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(builder.getContext(), {}));
  return value;
}

Val KernelBuilder::launchField(size_t offset, StringRef name) {
  for (auto &[known, value] : launchFields)
    if (known == offset)
      return value;
  Val value = entryLoad([&](IRBuilder<> &b) {
    return b.CreateAlignedLoad(pointerType(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), function->getArg(0), offset),
                               Align(8), name);
  });
  launchFields.push_back({offset, value});
  return value;
}

Address KernelBuilder::buffer(unsigned index) {
  for (auto &[known, value] : buffers)
    if (known == index)
      return {value, int(index)};
  Val table = launchField(offsetof(rcp_launch_v1, buffers), "buffers");
  Val value = entryLoad([&](IRBuilder<> &b) {
    return b.CreateAlignedLoad(pointerType(), b.CreateConstInBoundsGEP1_64(pointerType(), table, index), Align(8),
                               "buffer");
  });
  buffers.push_back({index, value});
  return {value, int(index)};
}

Val KernelBuilder::scalar(unsigned index) {
  for (auto &[known, value] : scalars)
    if (known == index)
      return value;
  Val table = launchField(offsetof(rcp_launch_v1, scalars), "scalars");
  Val value = entryLoad([&](IRBuilder<> &b) {
    return b.CreateAlignedLoad(i64Type(), b.CreateConstInBoundsGEP1_64(i64Type(), table, index), Align(8), "scalar");
  });
  scalars.push_back({index, value});
  return value;
}

Address KernelBuilder::bufferAt(unsigned first, Val index) {
  if (auto *known = dyn_cast<ConstantInt>(index))
    return buffer(first + unsigned(known->getZExtValue()));
  Val table = launchField(offsetof(rcp_launch_v1, buffers), "buffers");
  Val place = builder.CreateInBoundsGEP(pointerType(), table, iadd(index, int64_t(first)));
  return {builder.CreateAlignedLoad(pointerType(), place, Align(8), "buffer"), int(first)};
}

Val KernelBuilder::scalarAt(Val index) {
  Val table = launchField(offsetof(rcp_launch_v1, scalars), "scalars");
  return builder.CreateAlignedLoad(i64Type(), builder.CreateInBoundsGEP(i64Type(), table, index), Align(8), "scalar");
}

std::pair<Val, Val> KernelBuilder::ownRange(Val total, Val grain) {
  Val lo = imul(workgroup(), grain);
  return {lo, imin(iadd(lo, grain), total)};
}

Address KernelBuilder::scratch(int64_t bytes) { return at({function->getArg(2), Address::kScratch}, bytes, 1); }

void KernelBuilder::mayAlias(unsigned first, unsigned second) { aliases.push_back({first, second}); }

Val KernelBuilder::param(size_t offset, Type *type) {
  Address params{launchField(offsetof(rcp_launch_v1, params), "params"), Address::kParams};
  return load(at(params, int64_t(offset), 1), type, 8);
}

void KernelBuilder::setParam(size_t offset, Val value) {
  paramsAreSet = true;
  Address params{launchField(offsetof(rcp_launch_v1, params), "params"), Address::kParams};
  store(at(params, int64_t(offset), 1), value, 8);
}

Val KernelBuilder::hostCall(size_t offset, ValRange arguments) {
  Val table = launchField(offsetof(rcp_launch_v1, host), "host");
  Val callee = entryLoad([&](IRBuilder<> &b) {
    return b.CreateAlignedLoad(pointerType(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), table, offset), Align(8),
                               "function");
  });
  SmallVector<Type *> types(arguments.size(), f64Type());
  auto *call = builder.CreateCall(FunctionType::get(f64Type(), types, false), callee, arguments);
  call->setDoesNotThrow();
  return call;
}

Val KernelBuilder::f32(double value) { return ConstantFP::get(f32Type(), APFloat(float(value))); }
Val KernelBuilder::f64(double value) { return ConstantFP::get(f64Type(), APFloat(value)); }

Val KernelBuilder::laneIndex() {
  SmallVector<Constant *> index;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    index.push_back(builder.getInt32(uint32_t(lane)));
  return ConstantVector::get(index);
}

Instruction *KernelBuilder::belongs(Instruction *access, int memory) {
  accesses.push_back({access, memory});
  return access;
}

Address KernelBuilder::at(Address base, Val index, int64_t elementBytes) {
  if (auto *constant = dyn_cast<ConstantInt>(index))
    return at(base, constant->getSExtValue(), elementBytes);
  // GEP over arrays of bytes scales the index without an explicit multiplication.
  Type *element = elementBytes == 1   ? builder.getInt8Ty()
                  : elementBytes == 4 ? f32Type()
                  : elementBytes == 8 ? i64Type()
                                      : static_cast<Type *>(ArrayType::get(builder.getInt8Ty(), elementBytes));
  return {builder.CreateInBoundsGEP(element, base.pointer, index), base.memory};
}

Address KernelBuilder::at(Address base, int64_t index, int64_t elementBytes) {
  if (index == 0)
    return base;
  return {builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base.pointer, uint64_t(index * elementBytes)),
          base.memory};
}

Val KernelBuilder::load(Address from, Type *type, unsigned align) {
  return belongs(builder.CreateAlignedLoad(type, from.pointer, Align(align)), from.memory);
}

void KernelBuilder::store(Address to, Val value, unsigned align) {
  belongs(builder.CreateAlignedStore(value, to.pointer, Align(align)), to.memory);
}

Val KernelBuilder::loadLanes(Address from, Val mask) { return loadLanes(from, f32Type(), mask); }

// An element's address is a multiple of its size, up to 4.
static unsigned laneAlignment(Type *lanes) { return std::min(4u, lanes->getScalarSizeInBits() / 8); }

Val KernelBuilder::loadLanes(Address from, Type *element, Val mask) {
  auto *type = cast<FixedVectorType>(lanesOf(element));
  return mask ? loadMasked(from, type, mask) : load(from, type, laneAlignment(type));
}

Val KernelBuilder::loadMasked(Address from, FixedVectorType *type, Val mask) {
  if (type->getNumElements() != kLanes) {
    SmallVector<int> first(type->getNumElements());
    std::iota(first.begin(), first.end(), 0);
    mask = builder.CreateShuffleVector(mask, first);
  }
  Align align(laneAlignment(type));
  return belongs(builder.CreateMaskedLoad(type, from.pointer, align, mask, Constant::getNullValue(type)), from.memory);
}

void KernelBuilder::storeLanes(Address to, Val value, Val mask) {
  unsigned align = laneAlignment(value->getType());
  if (!mask)
    return store(to, value, align);
  belongs(builder.CreateMaskedStore(value, to.pointer, Align(align), mask), to.memory);
}

void KernelBuilder::prefetch(Address from) {
  builder.CreateIntrinsic(Intrinsic::prefetch, {pointerType()}, {from.pointer, i32(0), i32(3), i32(1)});
}

void KernelBuilder::prefetchToWrite(Address to) {
  builder.CreateIntrinsic(Intrinsic::prefetch, {pointerType()}, {to.pointer, i32(1), i32(3), i32(1)});
}

} // namespace recipe::codegen
