#include "compiler/PhaseRunner.h"
#include "compiler/target/cpu/Compile.h"
#include "dialects/step/Step.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace mlir;

namespace recipe {

Outcome runPass(Compilation &compilation, std::unique_ptr<Pass> pass) {
  PassManager manager(&compilation.context, ModuleOp::getOperationName(), PassManager::Nesting::Explicit);
  manager.enableVerifier(false); // the phase verifies
  manager.addPass(std::move(pass));
  return succeeded(manager.run(*compilation.module)) ? Outcome::Done : Outcome::Bug;
}

// Names are part of the IR: without locations a dump could not be compiled on.
static std::string printModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().enableDebugInfo(true, /*prettyForm=*/false));
  return text;
}

// Follows links, and leaves devices alone.
static void removeFile(StringRef path) {
  SmallString<128> real;
  if (!llvm::sys::fs::real_path(path, real) && llvm::sys::fs::is_regular_file(real))
    (void)llvm::sys::fs::remove(real);
}

static bool writeText(StringRef path, StringRef text, std::string &problem) {
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error) {
    file << text;
    file.close();
    error = file.error();
    file.clear_error();
    if (error)
      removeFile(path); // half a dump looks like a whole one
  }
  if (error)
    problem = ("error: " + path + ": " + error.message()).str();
  return !error;
}

// Phases are pure functions, so what this one was given can be made again; keeping a copy before each phase would cost
// every compile instead.
static std::string inputOf(const Compilation &failed, const Phase &phase) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  Compilation again{failed.recipe, failed.options, context};
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  for (const Phase &earlier : phases()) {
    if (earlier.name == phase.name)
      break;
    if (earlier.run(again) != Outcome::Done)
      return "";
  }
  return again.module ? printModule(*again.module) : "";
}

static void writeReproducer(Compilation &compilation, const Phase &phase) {
  SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("recipec-" + phase.name, "mlir", path))
    return;
  std::string text = ("// What phase '" + phase.name + "' was given when it failed; for passes: recipe-opt --" +
                      phase.name + " FILE\n" + inputOf(compilation, phase))
                         .str();
  std::string problem;
  if (writeText(path, text, problem))
    compilation.reproducer = path.str().str();
}

static bool wantsDump(const Options &options, const Phase &phase) {
  return !options.dumpFolder.empty() && phase.leaves != Phase::Leaves::File &&
         (options.dumpAfter.empty() || llvm::is_contained(options.dumpAfter, phase.name));
}

// The module as text or, after code generation, the LLVM IR of each kernel.
static bool dumpTo(const Compilation &compilation, const Phase &phase, StringRef stem, std::string &problem) {
  if (!compilation.report.empty() && !writeText((stem + ".txt").str(), compilation.report, problem))
    return false;
  if (phase.leaves != Phase::Leaves::Code)
    return writeText((stem + ".mlir").str(), printModule(*compilation.module), problem);
  if (std::error_code error = llvm::sys::fs::create_directories(stem)) {
    problem = ("error: " + stem + ": " + error.message()).str();
    return false;
  }
  for (auto kernel : ModuleOp(*compilation.module).getOps<step::KernelOp>()) {
    llvm::Expected<std::string> text = cpu::printKernel(kernel, compilation.options.target, /*optimized=*/true);
    if (!text) {
      problem = "error: " + llvm::toString(text.takeError());
      return false;
    }
    SmallString<128> path = stem;
    llvm::sys::path::append(path, kernel.getSymName() + ".ll");
    if (!writeText(path, *text, problem))
      return false;
  }
  return true;
}

static Outcome dump(Compilation &compilation, const Phase &phase) {
  StringRef folder = compilation.options.dumpFolder;
  std::string problem;
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    problem = ("error: " + folder + ": " + error.message()).str();
  // Numbered, so that a listing shows the order.
  size_t number =
      llvm::find_if(phases(), [&](const Phase &other) { return other.name == phase.name; }) - phases().begin();
  SmallString<128> stem = folder;
  llvm::sys::path::append(stem, llvm::formatv("{0:D2}-{1}", number, phase.name).str());
  if (problem.empty() && dumpTo(compilation, phase, stem, problem))
    return Outcome::Done;
  compilation.messages.push_back(problem);
  return Outcome::UserError;
}

static Outcome runAndVerify(Compilation &compilation, const Phase &phase) {
  Outcome outcome = phase.run(compilation);
  if (outcome != Outcome::Done)
    return outcome;
  bool holds = succeeded(verify(*compilation.module)) && (!phase.check || succeeded(phase.check(*compilation.module)));
  return holds ? Outcome::Done : Outcome::Bug;
}

Outcome runPhase(Compilation &compilation, const Phase &phase) {
  auto begin = std::chrono::steady_clock::now();
  ScopedDiagnosticHandler handler(&compilation.context, [&](Diagnostic &diagnostic) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << diagnostic.getLocation() << ": "
           << (diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error: " : "note: ") << diagnostic;
    for (Diagnostic &note : diagnostic.getNotes())
      stream << "\n" << note.getLocation() << ": note: " << note;
    compilation.messages.push_back(text);
    return success();
  });
  compilation.context.printOpOnDiagnostic(false);
  Outcome outcome = Outcome::Bug;
  compilation.report.clear();
  llvm::CrashRecoveryContext recovery;
  if (!recovery.RunSafely([&] { outcome = runAndVerify(compilation, phase); })) {
    compilation.messages.push_back(("error: phase '" + phase.name + "' crashed").str());
    outcome = Outcome::Bug;
  }
  if (outcome == Outcome::Bug)
    writeReproducer(compilation, phase);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  compilation.seconds.push_back({phase.name.str(), seconds.count()});
  if (outcome == Outcome::Done && wantsDump(compilation.options, phase))
    return dump(compilation, phase);
  return outcome;
}

} // namespace recipe
