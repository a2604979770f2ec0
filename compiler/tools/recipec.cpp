// recipec: a recipe in, a step.bin out.
#include "CLI/CLI.hpp"
#include "compiler/Version.h"
#include "compiler/frontend/Schema.h"
#include "compiler/tools/Commands.h"
#include "runtime/base/Printable.h"
#include "runtime/base/Process.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>
#include <sstream>

using namespace recipe;

static CLI::Validator notEmpty() {
  return {[](std::string &text) { return std::string(text.empty() ? "must not be empty" : ""); }, ""};
}

/// most: the largest value of the type is no bound that anybody wants to read.
static CLI::Validator wholeNumber(int64_t least, int64_t most = std::numeric_limits<int64_t>::max()) {
  auto check = [=](std::string &text) -> std::string {
    int64_t value = 0;
    if (!llvm::StringRef(text).getAsInteger(10, value) && value >= least && value <= most)
      return "";
    std::string rule = "must be a whole number >= " + std::to_string(least);
    if (most != std::numeric_limits<int64_t>::max())
      rule += " and <= " + std::to_string(most);
    return rule + ", got " + text;
  };
  return {check, ""};
}

static CLI::Validator oneOf(const std::string &first, const std::string &second) {
  auto check = [=](std::string &text) -> std::string {
    return text == first || text == second ? "" : "must be " + first + " or " + second + ", got " + text;
  };
  return {check, ""};
}

/// What a command does not know: an option, perhaps misspelt, or one argument too many.
static std::string unexpected(const CLI::App &app) {
  std::string argument = app.remaining(/*recurse=*/true).front();
  if (argument[0] != '-')
    return "unexpected argument '" + argument + "'";
  std::string name = argument.substr(0, argument.find('='));
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands())
    for (const CLI::Option *option : command->get_options())
      for (const std::string &known : option->get_lnames())
        names.push_back("--" + known);
  std::string guess = frontend::closest(name, names);
  return "unknown option '" + name + "'" + (guess.empty() ? "" : ", did you mean '" + guess + "'?");
}

/// What is wrong with the command line. CLI11 says only that a command is missing, whatever stands in its place.
static std::string parseProblem(const CLI::App &app, const CLI::ParseError &error) {
  if (error.get_exit_code() == int(CLI::ExitCodes::ArgumentMismatch)) {
    std::string text = error.what(); // "--set: 1 required TEXT missing"
    return text.substr(0, text.find(':')) + " needs a value";
  }
  if (!app.get_subcommands().empty())
    return app.remaining(/*recurse=*/true).empty() ? error.what() : unexpected(app);
  const char *commands = "compile, check, interpret or inspect";
  std::vector<std::string> rest = app.remaining();
  if (rest.empty())
    return std::string("a command is required: ") + commands;
  return "unknown " + std::string(rest[0].find('-') == 0 ? "option" : "command") + " '" + rest[0] +
         "': a command is required: " + commands;
}

static int run(int argc, char **argv) {
  CLI::App app{"Compiles whole training steps."};
  app.set_version_flag("--version", versionText());
  app.require_subcommand(1);
  int code = 0;

  CompileRequest compileRequest;
  CLI::App *compile = app.add_subcommand("compile", "compile a recipe to one file that reciperun executes");
  compile->add_option("recipe", compileRequest.recipe, "the recipe")->required();
  compile->add_option("-o,--output", compileRequest.output, "file to write; default: the recipe's name with .bin")
      ->check(notEmpty());
  compile->add_option("--set", compileRequest.sets, "override a key: key=value; may be repeated")
      ->allow_extra_args(false);
  compile->add_option("--fusion-rules", compileRequest.fusionRules, "file of fusion rules in PDLL; may be repeated")
      ->allow_extra_args(false)
      ->check(notEmpty());
  compile->add_option("--stop-after", compileRequest.stopAfter, "the last phase to run; nothing is written")
      ->check(notEmpty());
  compile->add_option("--dump-dir", compileRequest.dumpFolder, "folder that takes the IR after each phase")
      ->check(notEmpty());
  compile->add_option("--dump-after", compileRequest.dumpAfter, "dump only after this phase; may be repeated")
      ->allow_extra_args(false);
  compile->add_flag("--timing", compileRequest.timing, "print the time of each phase");
  compile->add_option("--threads", compileRequest.threads, "threads of the compiler; default: all cores")
      ->check(wholeNumber(1, 1024));
  compile->callback([&] { code = compileCommand(compileRequest); });

  CheckRequest checkRequest;
  CLI::App *check =
      app.add_subcommand("check", "what a recipe comes to: values and origins, parameters, FLOPs, memory");
  check->add_option("recipe", checkRequest.recipe, "the recipe")->required();
  check->add_option("--set", checkRequest.sets, "override a key: key=value; may be repeated")->allow_extra_args(false);
  check->callback([&] { code = checkCommand(checkRequest); });

  InterpretRequest interpretRequest;
  std::string mode = "fp64";
  CLI::App *interpret = app.add_subcommand("interpret", "run a compiled step on the reference interpreter");
  interpret->add_option("step", interpretRequest.step, "file that `recipec compile` wrote")->required();
  interpret->add_option("--set", interpretRequest.sets, "change a run-time key: key=value; may be repeated")
      ->allow_extra_args(false);
  interpret->add_option("--steps", interpretRequest.steps, "updates to run")->check(wholeNumber(1));
  interpret->add_option("--mode", mode, "fp64, or exact: the bits of native code")->check(oneOf("fp64", "exact"));
  interpret
      ->add_option("--dump", interpretRequest.dumpFolder,
                   "folder that takes initial.safetensors, the first step's gradients.safetensors and "
                   "final.safetensors")
      ->check(notEmpty());
  interpret->callback([&] {
    interpretRequest.exact = mode == "exact";
    code = interpretCommand(interpretRequest);
  });

  InspectRequest inspectRequest;
  CLI::App *inspect = app.add_subcommand("inspect", "print what is in a compiled step");
  inspect->add_option("step", inspectRequest.step, "file that `recipec compile` wrote")->required();
  inspect->add_flag("--instructions", inspectRequest.instructions, "list every launch and its buffers");
  inspect->callback([&] { code = inspectCommand(inspectRequest); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &request) {
    std::ostringstream text;
    code = app.exit(request, text, text);
    llvm::outs() << text.str();
  } catch (const CLI::ParseError &error) {
    llvm::errs() << "recipec: error: " << rt::printable(parseProblem(app, error))
                 << "\nrecipec --help lists commands and options\n";
    return kUserError;
  }
  return code;
}

/// Results that did not arrive are an error, and who closed a pipe does not want to hear about it.
static int finishOutput(int code) {
  llvm::outs().flush();
  std::error_code error = llvm::outs().error();
  if (error && error != std::errc::broken_pipe)
    llvm::errs() << "recipec: error: standard output cannot be written: " << error.message() << "\n";
  // Left alone, LLVM's streams would end the process with messages of their own.
  llvm::outs().clear_error();
  llvm::errs().clear_error();
  return error && code == 0 ? kUserError : code;
}

int main(int argc, char **argv) {
  rt::reserveStandardStreams();
  rt::failWritesPastSizeLimit();
  llvm::CrashRecoveryContext::Enable();
  int code = kOurBug;
  try {
    code = run(argc, argv);
  } catch (const std::exception &exception) {
    llvm::errs() << "recipec: error: " << rt::printable(exception.what()) << "\nrecipec: this is a bug in recipec\n";
  }
  return finishOutput(code);
}
