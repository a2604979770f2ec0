// recipec: a recipe in, a step.bin out.
#include "CLI/CLI.hpp"
#include "compiler/Version.h"
#include "compiler/tools/Commands.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include <cstdio>
#include <limits>

using namespace recipe;

/// What is wrong with the command line. CLI11 says only that a command is missing, whatever stands in its place.
static std::string parseProblem(const CLI::App &app, const CLI::ParseError &error) {
  if (!app.get_subcommands().empty())
    return error.what();
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
  compile->add_option("-o,--output", compileRequest.output, "file to write; default: the recipe's name with .bin");
  compile->add_option("--set", compileRequest.sets, "override a key: key=value; may be repeated")
      ->allow_extra_args(false);
  compile->add_option("--stop-after", compileRequest.stopAfter, "the last phase to run; nothing is written");
  compile->add_option("--dump-dir", compileRequest.dumpFolder, "folder that takes the IR after each phase");
  compile->add_option("--dump-after", compileRequest.dumpAfter, "dump only after this phase; may be repeated")
      ->allow_extra_args(false);
  compile->add_flag("--timing", compileRequest.timing, "print the time of each phase");
  compile->add_option("--threads", compileRequest.threads, "threads of the compiler; default: all cores")
      ->check(CLI::Range(1u, 1024u).description(""));
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
  interpret->add_option("--steps", interpretRequest.steps, "updates to run")
      ->check(CLI::Range(int64_t(1), std::numeric_limits<int64_t>::max()).description(""));
  interpret->add_option("--mode", mode, "fp64, or exact: the bits of native code")
      ->check(CLI::IsMember({"fp64", "exact"}));
  interpret->add_option(
      "--dump", interpretRequest.dumpFolder,
      "folder that takes initial.safetensors, the first step's gradients.safetensors and final.safetensors");
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
    return app.exit(request);
  } catch (const CLI::ParseError &error) {
    std::fprintf(stderr, "recipec: error: %s\nrecipec --help lists commands and options\n",
                 parseProblem(app, error).c_str());
    return kUserError;
  }
  return code;
}

int main(int argc, char **argv) {
  llvm::CrashRecoveryContext::Enable();
  try {
    return run(argc, argv);
  } catch (const std::exception &exception) {
    std::fprintf(stderr, "recipec: error: %s\nrecipec: this is a bug in recipec\n", exception.what());
    return kOurBug;
  }
}
