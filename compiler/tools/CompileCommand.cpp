#include "compiler/tools/Commands.h"
#include "compiler/tools/Report.h"
#include "compiler/tools/Session.h"
#include "dialects/step/Step.h"
#include "runtime/base/AtomicFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Threading.h"
#include <chrono>

namespace recipe {

static int complain(const std::string &problem) {
  llvm::errs() << "recipec: error: " << problem << "\n";
  return kUserError;
}

static absl::Status writeFile(const std::string &path, const std::string &bytes) {
  absl::StatusOr<rt::AtomicFile> file = rt::AtomicFile::create(path);
  if (!file.ok())
    return file.status();
  if (absl::Status status = file->append(bytes.data(), bytes.size()); !status.ok())
    return status;
  return file->commit();
}

static std::string unknownPhase(const CompileRequest &request) {
  std::vector<std::string> names = request.dumpAfter;
  if (!request.stopAfter.empty())
    names.push_back(request.stopAfter);
  for (const std::string &name : names)
    if (llvm::none_of(phases(), [&](const Phase &phase) { return phase.name == name; }))
      return name;
  return "";
}

static std::string phaseList() {
  std::string list;
  for (const Phase &phase : phases())
    list += (list.empty() ? "" : ", ") + phase.name.str();
  return list;
}

static void printTimes(const Compilation &compilation) {
  llvm::outs() << "phases, seconds\n";
  for (const auto &[name, seconds] : compilation.seconds)
    llvm::outs() << llvm::formatv("  {0,-18} {1,8:f3}\n", name, seconds);
}

int compileCommand(const CompileRequest &request) {
  auto begin = std::chrono::steady_clock::now();
  if (std::string name = unknownPhase(request); !name.empty())
    return complain("phases are " + phaseList() + ", got '" + name + "'");
  if (!request.dumpAfter.empty() && request.dumpFolder.empty())
    return complain("--dump-after needs --dump-dir");
  if (!request.output.empty() && llvm::sys::fs::equivalent(request.output, request.recipe))
    return complain("the output must not be the recipe, got '" + request.output + "' for both");
  std::unique_ptr<Session> session = openSession(request.recipe, request.sets);
  if (!session)
    return kUserError;
  Compilation &compilation = *session->compilation;
  compilation.options.stopAfter = request.stopAfter;
  compilation.options.dumpFolder = request.dumpFolder;
  compilation.options.dumpAfter = request.dumpAfter;
  compilation.options.threads = request.threads ? request.threads : llvm::hardware_concurrency().compute_thread_count();
  if (int code = runPipeline(*session))
    return code;
  if (request.timing)
    printTimes(compilation);
  if (compilation.bytes.empty()) // stopped before emit
    return 0;

  llvm::SmallString<128> output(request.output);
  if (output.empty()) {
    output = llvm::sys::path::stem(request.recipe);
    output += ".bin";
  }
  if (absl::Status status = writeFile(output.str().str(), compilation.bytes); !status.ok())
    return complain(std::string(status.message()));

  const abi::Step &step = compilation.step;
  int64_t instructions = 0;
  for (const abi::SubProgram &program : step.programs())
    instructions += program.instructions_size();
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  printModel(llvm::outs(), step.manifest());
  llvm::outs() << "kernels         " << step.kernels_size() << " distinct, " << instructions << " launches\n";
  printCertificate(llvm::outs(), step.certificate());
  llvm::outs() << llvm::formatv("{0}: {1:f2} MiB, compiled in {2:f2} s\n", output,
                                double(compilation.bytes.size()) / 1048576.0, seconds.count());
  return 0;
}

} // namespace recipe
