#include "tests/unit/codegen/ChainLoops.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/TargetSelect.h"
#include <gtest/gtest.h>
#include <optional>

using namespace llvm;

namespace recipe::test {
namespace {

struct Instruction {
  uint64_t address;
  bool jumps;
  std::optional<uint64_t> target; // of a jump
  bool multiplyAdds, computes;    // the latter: other arithmetic on vectors of floats
  bool onStack, loads, stores;    // the first: a vector register goes there or comes from there
};

bool startsWithAny(StringRef opcode, std::initializer_list<StringRef> prefixes) {
  return any_of(prefixes, [&](StringRef prefix) { return opcode.starts_with(prefix); });
}

class Disassembler {
public:
  Disassembler() {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    Triple triple("x86_64-unknown-linux-gnu");
    std::string message;
    const Target *target = TargetRegistry::lookupTarget(triple, message);
    registers.reset(target->createMCRegInfo(triple));
    assembly.reset(target->createMCAsmInfo(*registers, triple, MCTargetOptions()));
    instructions.reset(target->createMCInstrInfo());
    analysis.reset(target->createMCInstrAnalysis(instructions.get()));
    subtarget.reset(target->createMCSubtargetInfo(triple, "x86-64", ""));
    context = std::make_unique<MCContext>(triple, assembly.get(), registers.get(), subtarget.get());
    decoder.reset(target->createMCDisassembler(*subtarget, *context));
  }

  // Of a whole function; none where it is not understood.
  std::vector<Instruction> read(ArrayRef<uint8_t> code, uint64_t address) {
    std::vector<Instruction> found;
    framePointer = false;
    for (uint64_t size = 0; !code.empty(); code = code.drop_front(size), address += size) {
      MCInst instruction;
      if (decoder->getInstruction(instruction, size, code, address, nulls()) != MCDisassembler::Success)
        return {};
      found.push_back(understand(instruction, address, size));
    }
    return found;
  }

private:
  bool isRegister(const MCOperand &operand, StringRef name) const {
    return operand.isReg() && registers->getName(operand.getReg()) == name;
  }
  bool isVector(const MCOperand &operand) const {
    StringRef name = operand.isReg() ? registers->getName(operand.getReg()) : "";
    return startsWithAny(name, {"XMM", "YMM", "ZMM", "TMM"});
  }

  Instruction understand(const MCInst &instruction, uint64_t address, uint64_t size) {
    const MCInstrDesc &description = instructions->get(instruction.getOpcode());
    StringRef opcode = instructions->getName(instruction.getOpcode());
    Instruction result{address, description.isBranch(), {}, false, false, false, false, false};
    uint64_t target;
    if (result.jumps && analysis->evaluateBranch(instruction, address, size, target))
      result.target = target;
    framePointer |= opcode.starts_with("MOV64rr") && isRegister(instruction.getOperand(0), "RBP") &&
                    isRegister(instruction.getOperand(1), "RSP");
    bool movesVector = false;
    const MCOperand *base = nullptr; // the first operand of five that say where in memory
    for (auto [i, operand] : enumerate(description.operands())) {
      const MCOperand &value = instruction.getOperand(unsigned(i));
      if (operand.OperandType == MCOI::OPERAND_MEMORY)
        base = base ? base : &value;
      else
        movesVector |= isVector(value);
    }
    result.onStack = movesVector && base && (isRegister(*base, "RSP") || (framePointer && isRegister(*base, "RBP")));
    result.loads = description.mayLoad(), result.stores = description.mayStore();
    bool ofFloats = opcode.contains("PS");
    result.multiplyAdds = ofFloats && startsWithAny(opcode, {"VFMADD", "VFNMADD", "VDPBF16PS", "TDPBF16PS"});
    result.computes = ofFloats && startsWithAny(opcode, {"VADDPS", "VSUBPS", "VMULPS", "VDIVPS", "VMAXPS", "VMINPS"});
    return result;
  }

  std::unique_ptr<MCRegisterInfo> registers;
  std::unique_ptr<MCAsmInfo> assembly;
  std::unique_ptr<MCInstrInfo> instructions;
  std::unique_ptr<MCInstrAnalysis> analysis;
  std::unique_ptr<MCSubtargetInfo> subtarget;
  std::unique_ptr<MCContext> context;
  std::unique_ptr<MCDisassembler> decoder;
  bool framePointer = false; // of the function
};

void addLoops(StringRef kernel, ArrayRef<Instruction> code, std::vector<ChainLoop> &loops) {
  constexpr int64_t kLeast = 4;
  size_t afterJump = 0; // the first instruction behind the last jump
  for (size_t i = 0; i < code.size(); ++i) {
    if (!code[i].jumps)
      continue;
    auto isTarget = [&](const Instruction &each) { return each.address == code[i].target; };
    ArrayRef<Instruction> body = code.slice(afterJump, i + 1 - afterJump).drop_until(isTarget);
    afterJump = i + 1;
    ChainLoop loop{kernel.str(), count_if(body, [](auto &each) { return each.multiplyAdds; }),
                   count_if(body, [](auto &each) { return each.onStack && each.loads; }),
                   count_if(body, [](auto &each) { return each.onStack && each.stores; })};
    if (loop.multiplyAdds >= kLeast && none_of(body, [](auto &each) { return each.computes; }))
      loops.push_back(loop);
  }
}

} // namespace

std::vector<ChainLoop> chainLoops(StringRef object) {
  std::vector<ChainLoop> loops;
  auto file = object::ObjectFile::createELFObjectFile(MemoryBufferRef(object, "kernels"));
  if (!file) {
    ADD_FAILURE() << toString(file.takeError());
    return loops;
  }
  Disassembler disassembler;
  for (const object::ELFSymbolRef &symbol : cast<object::ELFObjectFileBase>(file->get())->getDynamicSymbolIterators()) {
    StringRef name = cantFail(symbol.getName());
    uint64_t address = cantFail(symbol.getAddress());
    object::section_iterator section = cantFail(symbol.getSection());
    if (section == (*file)->section_end() || !section->isText())
      continue;
    StringRef bytes = cantFail(section->getContents()).substr(address - section->getAddress(), symbol.getSize());
    std::vector<Instruction> code = disassembler.read(arrayRefFromStringRef(bytes), address);
    if (code.empty())
      ADD_FAILURE() << "kernel '" << name.str() << "' has bytes that are no instruction";
    addLoops(name, code, loops);
  }
  return loops;
}

} // namespace recipe::test
