#include "compiler/FusionRules.h"
#include "compiler/frontend/ModelConfig.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace recipe {

// Brackets open at once. Those in a string count as well, because mlir-pdll parses an attribute from it.
static int deepestNesting(StringRef text) {
  int depth = 0, deepest = 0, outside = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString && c == '\\') {
      ++i;
    } else if (c == '"' || (inString && c == '\n')) {
      if (inString)
        depth = outside;
      else
        outside = depth;
      inString = !inString;
    } else if (!inString && text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size() - 1);
    } else if (StringRef("([{<").contains(c)) {
      deepest = std::max(deepest, ++depth);
    } else if (StringRef(")]}>").contains(c)) {
      bool arrow = c == '>' && i > 0 && (text[i - 1] == '-' || text[i - 1] == '=');
      depth = std::max(0, depth - !arrow);
    }
  }
  return deepest;
}

// MLIR's parser recurses for each open bracket, and for each operator of an affine expression.
static Error checkParsable(const std::string &path, StringRef text) {
  constexpr int maxNesting = 64;
  if (int levels = deepestNesting(text); levels > maxNesting)
    return createStringError(path + ": must be nested at most " + std::to_string(maxNesting) + " levels deep, got " +
                             std::to_string(levels));
  for (StringRef word : {"affine_map", "affine_set"})
    if (text.contains(word))
      return createStringError(path + ": must have no affine maps or sets, got " + word.str());
  return Error::success();
}

static Expected<std::string> contentsOf(const Twine &path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                                                      /*RequiresNullTerminator=*/false);
  if (!file)
    return createStringError(path.str() + ": cannot be read: " + file.getError().message());
  return (*file)->getBuffer().str();
}

// The version that the rules of this compiler went through, then any other.
static Expected<std::string> findTranslator() {
  for (const char *name : {"mlir-pdll-22", RECIPEC_MLIR_PDLL, "mlir-pdll"})
    if (ErrorOr<std::string> found = sys::findProgramByName(name))
      return *found;
  return createStringError("need mlir-pdll (package mlir-22-tools), which is not installed");
}

// What mlir-pdll makes of a file. It may include files without end: its memory has a limit, and it may crash.
static Expected<std::string> translated(const std::string &path) {
  Expected<std::string> program = findTranslator();
  if (!program)
    return program.takeError();
  SmallString<128> output, messages;
  if (std::error_code error = sys::fs::createTemporaryFile("recipec-rules", "mlir", output))
    return createStringError(path + ": cannot be translated: " + error.message());
  FileRemover removeOutput(output);
  if (std::error_code error = sys::fs::createTemporaryFile("recipec-rules", "txt", messages))
    return createStringError(path + ": cannot be translated: " + error.message());
  FileRemover removeMessages(messages);
  constexpr unsigned megabytes = 1024;
  std::string problem;
  int code = sys::ExecuteAndWait(*program, {*program, "-x", "mlir", path, "-o", output}, std::nullopt,
                                 {StringRef(), StringRef(messages), StringRef(messages)}, /*SecondsToWait=*/60,
                                 megabytes, &problem);
  if (code < 0)
    return createStringError("mlir-pdll could not read " + path + ": " + problem);
  if (code == 0)
    return contentsOf(output);
  Expected<std::string> said = contentsOf(messages);
  if (!said)
    return said.takeError();
  return createStringError("no PDLL: " + StringRef(*said).split('\n').first.str());
}

Expected<FusionRules> readFusionRules(const std::string &path) {
  std::variant<std::string, frontend::Diagnostic> file = frontend::readTextFile(path);
  if (auto *problem = std::get_if<frontend::Diagnostic>(&file))
    return createStringError(path + ": " + problem->message);
  std::string text = std::move(std::get<std::string>(file));
  if (Error error = checkParsable(path, text))
    return std::move(error);
  if (sys::path::extension(path) == ".mlir")
    return FusionRules{path, std::move(text)};
  Expected<std::string> pdl = translated(path);
  if (!pdl)
    return pdl.takeError();
  if (Error error = checkParsable(path, *pdl)) // with what the file includes
    return std::move(error);
  return FusionRules{path, std::move(*pdl)};
}

} // namespace recipe
