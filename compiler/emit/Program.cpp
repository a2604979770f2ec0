#include "compiler/emit/Program.h"
#include "dialects/step/Step.h"
#include "dialects/train/Names.h"
#include "passes/LocalTypes.h"
#include "passes/codegen/KernelFamily.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;

namespace recipe::emit {
namespace {

std::string textOf(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

abi::DataType dataType(Type type) {
  if (type.isF32())
    return abi::F32;
  if (type.isBF16())
    return abi::BF16;
  if (type.isF64())
    return abi::F64;
  if (type.isInteger(32))
    return abi::I32;
  if (type.isInteger(64))
    return abi::I64;
  assert(type.isInteger(8) && "plan makes no other buffers");
  return abi::U8;
}

abi::Region region(step::Space space) {
  switch (space) {
  case step::Space::State:
    return abi::STATE;
  case step::Space::Input:
    return abi::INPUT;
  case step::Space::Transient:
    return abi::TRANSIENT;
  }
  llvm_unreachable("every space has a region");
}

abi::Predicate predicate(step::Predicate value) {
  switch (value) {
  case step::Predicate::Always:
    return abi::ALWAYS;
  case step::Predicate::FirstMicrobatch:
    return abi::FIRST_MICROBATCH;
  case step::Predicate::LastMicrobatch:
    return abi::LAST_MICROBATCH;
  case step::Predicate::SegmentBegin:
    return abi::SEGMENT_BEGIN;
  case step::Predicate::SegmentEnd:
    return abi::SEGMENT_END;
  case step::Predicate::Accumulating:
    return abi::ACCUMULATING;
  }
  llvm_unreachable("every predicate has a number");
}

class Emitter {
public:
  Emitter(ModuleOp module, abi::Step &step) : module(module), step(step), localTypes(module) {}

  void run() {
    for (auto buffer : module.getOps<step::BufferOp>())
      emitBuffer(buffer);
    for (auto kernel : module.getOps<step::KernelOp>())
      emitKernel(kernel);
    for (auto parameter : module.getOps<step::ParameterOp>())
      emitParameter(parameter);
    for (auto arena : module.getOps<step::ArenaOp>())
      emitCertificate(arena);
    for (StringRef name : {"prologue", "forward", "backward", "update", "init", "refresh", "eval"})
      if (auto program = module.lookupSymbol<step::ProgramOp>(name))
        emitProgram(program);
    // What a training step runs; init, refresh and eval are called for.
    using abi::ScheduleEntry;
    schedule("prologue", ScheduleEntry::ONCE);
    schedule("forward", ScheduleEntry::EACH_MICROBATCH);
    schedule("backward", ScheduleEntry::EACH_MICROBATCH);
    schedule("update", ScheduleEntry::ONCE);
  }

private:
  void schedule(StringRef program, abi::ScheduleEntry::Loop loop) {
    if (!module.lookupSymbol<step::ProgramOp>(program))
      return;
    abi::ScheduleEntry &entry = *step.add_schedule();
    entry.set_program(program.str());
    entry.set_loop(loop);
  }

  void emitBuffer(step::BufferOp op) {
    auto type = cast<RankedTensorType>(op.getType());
    buffers[op.getSymName()] = uint32_t(step.buffers_size());
    abi::Buffer &buffer = *step.add_buffers();
    buffer.set_name(op.getSymName().str());
    buffer.set_region(region(op.getSpace()));
    buffer.set_offset(op.getOffset());
    buffer.set_bytes(op.getBytes());
    buffer.set_slot_stride(op.getSlotStride());
    buffer.set_type(dataType(type.getElementType()));
    ArrayRef<int64_t> shape = localTypes.of(type).getShape();
    buffer.mutable_shape()->Assign(shape.begin(), shape.end());
    if (type.getEncoding())
      buffer.set_layout(textOf(type.getEncoding()));
    buffer.set_category(op.getCategory().str());
    buffer.set_min_nodes(op.getMinNodes());
    if (auto data = dyn_cast_or_null<DenseElementsAttr>(op.getDataAttr())) {
      abi::Constant &constant = *step.add_constants();
      constant.set_buffer(buffers[op.getSymName()]);
      std::string &bytes = *constant.mutable_data();
      // A splat keeps one element.
      size_t copies = data.isSplat() ? size_t(data.getNumElements()) : 1;
      for (size_t i = 0; i < copies; ++i)
        bytes.append(data.getRawData().data(), data.getRawData().size());
    }
  }

  void emitKernel(step::KernelOp op) {
    kernels[op.getSymName()] = uint32_t(step.kernels_size());
    std::string content;
    llvm::raw_string_ostream stream(content);
    op->print(stream, OpPrintingFlags().useLocalScope());
    abi::Kernel &kernel = *step.add_kernels();
    kernel.set_symbol(op.getSymName().str());
    auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(content));
    kernel.set_hash(llvm::toHex(digest, /*LowerCase=*/true));
    kernel.set_description((op.getFamily() + " " + textOf(op.getSpec())).str());
  }

  void emitParameter(step::ParameterOp op) {
    abi::Parameter &parameter = *step.add_parameters();
    uint32_t values = buffers[op.getValues()];
    parameter.set_name(op.getName().str());
    parameter.set_hf_name(op.getHfName().str());
    parameter.mutable_hf_shape()->Assign(op.getHfShape().begin(), op.getHfShape().end());
    parameter.set_slice_dim(int32_t(op.getHfSlice()[0]));
    parameter.set_slice_offset(op.getHfSlice()[1]);
    *parameter.mutable_shape() = step.buffers(int(values)).shape();
    parameter.set_buffer(values);
    for (auto name : op.getGradients().getAsRange<FlatSymbolRefAttr>())
      parameter.add_gradient_buffers(buffers[name.getValue()]);
    for (auto name : op.getOptimizer().getAsRange<FlatSymbolRefAttr>())
      parameter.add_optimizer_buffers(buffers[name.getValue()]);
    parameter.set_weight_decay(op.getDecay());
  }

  void emitCertificate(step::ArenaOp op) {
    abi::Certificate &certificate = *step.mutable_certificate();
    certificate.set_scratch_offset(op.getScratchOffset());
    certificate.set_scratch_stride(op.getScratchStride());
    certificate.set_budget_bytes(op.getBudget());
    certificate.set_communication_offset(op.getScratchOffset() + op.getScratchStride() * op.getMaxThreads());
    certificate.set_communication_bytes(op.getCommunication());
    step.mutable_manifest()->clear_legal_ranks();
    for (auto attribute : op.getRows().getAsRange<step::RowAttr>()) {
      step.mutable_manifest()->add_legal_ranks(attribute.getRanks());
      abi::Certificate::Row &row = *certificate.add_rows();
      row.set_ranks(attribute.getRanks());
      row.set_accumulation(attribute.getAccumulation());
      row.set_state_bytes(attribute.getState());
      row.set_input_bytes(attribute.getInput());
      row.set_transient_bytes(attribute.getTransient());
      row.set_total_bytes(attribute.total());
      for (step::ShareAttr share : attribute.getShares()) {
        abi::Certificate::Category &category = *row.add_categories();
        category.set_name(share.getCategory().str());
        category.set_bytes(share.getBytes());
      }
    }
  }

  void emitProgram(step::ProgramOp op) {
    abi::SubProgram &program = *step.add_programs();
    program.set_name(op.getSymName().str());
    for (Operation &child : op.getBody().front()) {
      if (auto instruction = dyn_cast<step::InstructionOp>(child))
        emitInstruction(instruction, *program.add_instructions());
      else
        emitCollective(cast<step::CollectiveOp>(child), *program.add_instructions());
    }
  }

  void emitCollective(step::CollectiveOp op, abi::Instruction &instruction) {
    instruction.set_id(op.getId());
    instruction.set_kernel(kernels[op.getKernel()]);
    for (auto name : op.getBuffers().getAsRange<FlatSymbolRefAttr>())
      instruction.add_arguments()->set_buffer(buffers[name.getValue()]);
    abi::DataType type = step.buffers(int(instruction.arguments(0).buffer())).type();
    instruction.set_predicate(predicate(op.getPredicate()));
    instruction.set_location(locationIndex(train::nameOf(op)));
    instruction.set_name(op.getName().str());
    instruction.set_queue(abi::COMMUNICATION);
    instruction.set_signal(op.getSignal());
    abi::Collective &collective = *instruction.mutable_collective();
    collective.set_kind(abi::Collective::ALL_REDUCE); // the only one so far
    collective.set_axis(op.getAxis().str());
    collective.set_type(type);
    collective.set_elements(op.getElements());
    instruction.set_bytes(4.0 * double(op.getElements())); // kernel selection has rules for f32 only
  }

  void emitInstruction(step::InstructionOp op, abi::Instruction &instruction) {
    instruction.set_id(op.getId());
    instruction.set_kernel(kernels[op.getKernel()]);
    for (auto slice : op.getArguments().getAsRange<step::SliceAttr>()) {
      abi::KernelArgument &argument = *instruction.add_arguments();
      argument.set_buffer(buffers[slice.getBuffer().getValue()]);
      argument.set_offset(slice.getOffset());
      argument.set_written(slice.getAccess() != step::Access::Read);
    }
    instruction.mutable_scalars()->Assign(op.getScalars().begin(), op.getScalars().end());
    instruction.set_workgroups(op.getWorkgroups());
    instruction.set_scratch_bytes(op.getScratchBytes());
    instruction.set_predicate(predicate(op.getPredicate()));
    instruction.set_beside(
        !codegen::writesStepScalars(module.lookupSymbol<step::KernelOp>(op.getKernelAttr()).getFamily()));
    instruction.set_location(locationIndex(train::nameOf(op)));
    instruction.set_name(op.getName().str());
    instruction.set_flops(double(op.getFlops()));
    instruction.set_bytes(double(op.getBytes()));
    for (int64_t id : op.getWaits())
      instruction.add_waits(uint64_t(id));
  }

  uint32_t locationIndex(StringRef name) {
    auto [entry, isNew] = locations.try_emplace(name, uint32_t(step.locations_size()));
    if (isNew)
      step.add_locations(name.str());
    return entry->second;
  }

  ModuleOp module;
  abi::Step &step;
  LocalTypes localTypes;
  llvm::StringMap<uint32_t> buffers, kernels, locations;
};

} // namespace

void emitProgram(ModuleOp module, abi::Step &step) { Emitter(module, step).run(); }

} // namespace recipe::emit
