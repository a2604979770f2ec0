#include "compiler/FusionRules.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace recipe {

static Expected<std::string> contentsOf(const Twine &path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                                                      /*RequiresNullTerminator=*/false);
  if (!file)
    return createStringError("cannot be read: " + path.str() + ": " + file.getError().message());
  return (*file)->getBuffer().str();
}

// The version that the rules of this compiler went through, then any other.
static Expected<std::string> findTranslator() {
  for (const char *name : {"mlir-pdll-22", RECIPEC_MLIR_PDLL, "mlir-pdll"})
    if (ErrorOr<std::string> found = sys::findProgramByName(name))
      return *found;
  return createStringError("need mlir-pdll (package mlir-22-tools), which is not installed");
}

Expected<FusionRules> readFusionRules(const std::string &path) {
  Expected<std::string> source = contentsOf(path);
  if (!source)
    return source.takeError();
  if (sys::path::extension(path) == ".mlir")
    return FusionRules{path, std::move(*source)};
  Expected<std::string> program = findTranslator();
  if (!program)
    return program.takeError();
  SmallString<128> output, messages;
  if (std::error_code error = sys::fs::createTemporaryFile("recipec-rules", "mlir", output))
    return createStringError("cannot be translated: " + error.message());
  FileRemover removeOutput(output);
  if (std::error_code error = sys::fs::createTemporaryFile("recipec-rules", "txt", messages))
    return createStringError("cannot be translated: " + error.message());
  FileRemover removeMessages(messages);
  std::string problem;
  int code = sys::ExecuteAndWait(*program, {*program, "-x", "mlir", path, "-o", output}, std::nullopt,
                                 {StringRef(), StringRef(messages), StringRef(messages)}, /*SecondsToWait=*/60,
                                 /*MemoryLimit=*/0, &problem);
  if (code != 0) {
    Expected<std::string> said = contentsOf(messages);
    if (!said)
      return said.takeError();
    return createStringError("are no PDLL: " + (problem.empty() ? StringRef(*said).split('\n').first.str() : problem));
  }
  Expected<std::string> text = contentsOf(output);
  if (!text)
    return text.takeError();
  return FusionRules{path, std::move(*text)};
}

} // namespace recipe
