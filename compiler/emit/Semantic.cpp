#include "compiler/emit/Semantic.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace recipe {

std::string writeSemantic(ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  // The default producer names a build of MLIR.
  BytecodeWriterConfig config("recipec");
  if (failed(writeBytecodeToFile(module, stream, config)))
    llvm_unreachable("only asking for an old bytecode version can fail");
  return bytes;
}

OwningOpRef<ModuleOp> readSemantic(const std::string &bytes, MLIRContext &context) {
  return parseSourceString<ModuleOp>(bytes, ParserConfig(&context), "semantic section");
}

} // namespace recipe
