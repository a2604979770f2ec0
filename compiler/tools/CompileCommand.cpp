#include "compiler/tools/Commands.h"
#include "compiler/tools/Report.h"
#include "compiler/tools/Session.h"
#include "dialects/step/Step.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/File.h"
#include "runtime/base/Printable.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Threading.h"
#include <chrono>

namespace recipe {

static int complain(const std::string &problem) { return complain(absl::InvalidArgumentError(problem)); }

// Empty if the phases end before a file is made.
static std::string outputOf(const CompileRequest &request) {
  if (!request.stopAfter.empty() && request.stopAfter != phases().back().name)
    return "";
  return request.output.empty() ? llvm::sys::path::stem(request.recipe).str() + ".bin" : request.output;
}

// What cannot be written is refused before the work, not after it.
static absl::Status prepareOutputs(const CompileRequest &request, const std::string &output) {
  if (!output.empty())
    if (absl::Status status = rt::AtomicFile::create(output).status(); !status.ok())
      return status;
  return request.dumpFolder.empty() ? absl::OkStatus() : rt::makeFolders(request.dumpFolder);
}

// Empty if every phase that the request names is one.
static std::string phaseProblem(const CompileRequest &request) {
  std::vector<std::pair<const char *, std::string>> given;
  if (!request.stopAfter.empty())
    given.push_back({"--stop-after", request.stopAfter});
  for (const std::string &name : request.dumpAfter)
    given.push_back({"--dump-after", name});
  for (const auto &[option, name] : given) {
    if (llvm::is_contained(llvm::map_range(phases(), [](const Phase &phase) { return phase.name; }), name))
      continue;
    std::string list;
    for (const Phase &phase : phases())
      list += (list.empty() ? "" : ", ") + phase.name.str();
    return std::string(option) + " must be one of " + list + ", got '" + name + "'";
  }
  return "";
}

// The option as a setting of the key, which knows what a file of rules is.
static std::vector<std::string> settings(const CompileRequest &request) {
  std::vector<std::string> sets = request.sets;
  if (request.fusionRules.empty())
    return sets;
  llvm::json::Array files(request.fusionRules);
  sets.push_back(llvm::formatv("fusion.rules={0}", llvm::json::Value(std::move(files))).str());
  return sets;
}

static void printTimes(const Compilation &compilation) {
  llvm::outs() << "phases, seconds\n";
  for (const auto &[name, seconds] : compilation.seconds)
    llvm::outs() << llvm::formatv("  {0,-18} {1,8:f3}\n", name, seconds);
}

int compileCommand(const CompileRequest &request) {
  auto begin = std::chrono::steady_clock::now();
  if (std::string problem = phaseProblem(request); !problem.empty())
    return complain(problem);
  if (!request.dumpAfter.empty() && request.dumpFolder.empty())
    return complain("--dump-after needs --dump-dir");
  std::string output = outputOf(request);
  if (!output.empty() && llvm::sys::fs::equivalent(output, request.recipe))
    return complain("the output must not be the recipe, got '" + output + "' for both");
  std::unique_ptr<Session> session = openSession(request.recipe, settings(request));
  if (!session)
    return kUserError;
  if (absl::Status status = prepareOutputs(request, output); !status.ok())
    return complain(status);
  Compilation &compilation = *session->compilation;
  compilation.options.stopAfter = request.stopAfter;
  compilation.options.dumpFolder = request.dumpFolder;
  compilation.options.dumpAfter = request.dumpAfter;
  compilation.options.threads = request.threads ? request.threads : llvm::hardware_concurrency().compute_thread_count();
  if (int code = runPipeline(*session))
    return code;
  const std::string &bytes = compilation.bytes;
  if (!output.empty())
    if (absl::Status status = rt::writeFileAtomically(output, bytes.data(), bytes.size()); !status.ok())
      return complain(status);
  if (request.timing)
    printTimes(compilation);
  if (output.empty())
    return 0;

  const abi::Step &step = compilation.step;
  int64_t instructions = 0;
  for (const abi::SubProgram &program : step.programs())
    instructions += program.instructions_size();
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  printModel(llvm::outs(), step.manifest());
  llvm::outs() << "kernels         " << step.kernels_size() << " distinct, " << instructions << " launches\n";
  printCertificate(llvm::outs(), step.certificate());
  llvm::outs() << llvm::formatv("{0}: {1:f2} MiB, compiled in {2:f2} s\n", rt::printable(output),
                                double(bytes.size()) / 1048576.0, seconds.count());
  return 0;
}

} // namespace recipe
