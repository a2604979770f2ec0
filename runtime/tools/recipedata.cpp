// recipedata: makes, shows and checks token files. Results on stdout, diagnostics on stderr, exit code 1 on any error.
#include "runtime/base/Printable.h"
#include "runtime/base/Process.h"
#include "runtime/data/CountingModel.h"
#include "runtime/data/TextData.h"
#include "runtime/data/Tokenize.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

using namespace recipe::rt;

namespace {

struct Arguments {
  std::vector<std::string> inputs;
  std::string output;
  std::string tokenizer = "bytes";
  std::string file;
  double evalFraction = 0;
  int context = 5;
};

/// The signal that asked for a stop; 0: none.
volatile std::sig_atomic_t stopSignal = 0;

/// The first one lets tokenize remove what it has begun, a second one kills.
void installStopHandlers() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) // nohup
      continue;
    action = {};
    action.sa_handler = [](int which) { stopSignal = which; };
    action.sa_flags = SA_RESETHAND; // no SA_RESTART: opening a pipe that nobody writes to ends
    sigaction(signal, &action, nullptr);
  }
}

absl::Status tokenize(const Arguments &arguments) {
  installStopHandlers();
  RCP_ASSIGN_OR_RETURN(uint64_t tokens, tokenizeFiles(arguments.inputs, arguments.output, arguments.tokenizer,
                                                      [] { return stopSignal != 0; }));
  std::cout << arguments.output << ": " << tokens << " tokens, tokenizer " << arguments.tokenizer << "\n";
  return absl::OkStatus();
}

absl::Status inspect(const Arguments &arguments) {
  RCP_ASSIGN_OR_RETURN(TokenFile file, TokenFile::open(arguments.file));
  const TokenHeader &header = file.header();
  std::cout << "format          " << TokenFormatVersion << "\n"
            << "tokens          " << header.tokenCount << "\n"
            << "vocabulary      " << header.vocabSize << "\n"
            << "id width        " << header.idBytes << "\n"
            << "tokenizer       " << printable(header.tokenizer) << "\n"
            << "tokenizer hash  " << toHex(header.tokenizerHash) << "\n"
            << "tokens SHA-256  " << toHex(header.payloadHash) << "\n";
  return absl::OkStatus();
}

absl::Status verify(const Arguments &arguments) {
  RCP_ASSIGN_OR_RETURN(TokenFile file, TokenFile::open(arguments.file));
  RCP_RETURN_IF_ERROR(file.verify());
  std::cout << printable(arguments.file) << ": good, " << file.tokenCount() << " tokens below " << file.vocabSize()
            << ", SHA-256 " << toHex(file.header().payloadHash) << "\n";
  return absl::OkStatus();
}

absl::Status baseline(const Arguments &arguments) {
  RCP_ASSIGN_OR_RETURN(TokenFile opened, TokenFile::open(arguments.file));
  RCP_RETURN_IF_ERROR(opened.verify());
  if (opened.header().tokenizer != "bytes")
    return absl::InvalidArgumentError(absl::StrCat(arguments.file, ": baselines count bytes, the tokenizer must be ",
                                                   "\"bytes\", got \"", opened.header().tokenizer, "\""));
  auto file = std::make_shared<const TokenFile>(std::move(opened));
  RCP_ASSIGN_OR_RETURN(TokenSplit split, splitTokens(file, arguments.evalFraction));
  if (split.heldOut.size() < 2 || split.training.size() == 0)
    return absl::InvalidArgumentError(
        absl::StrCat(arguments.file, ": baselines take at least 1 token for training and ", "2 held out, found ",
                     split.training.size(), " and ", split.heldOut.size()));
  absl::Span<const uint8_t> training = file->payload().subspan(0, split.training.size());
  absl::Span<const uint8_t> heldOut = file->payload().subspan(split.heldOut.begin);
  CountingModel model(training, arguments.context);
  std::cout << absl::StrFormat("unigram                     %.4f nats/byte\n", unigramCrossEntropy(training, heldOut))
            << absl::StrFormat("counts of %d bytes' context  %.4f nats/byte\n", arguments.context,
                               crossEntropy(model, heldOut));
  return absl::OkStatus();
}

} // namespace

/// What is wrong with the command line. CLI11 says only that a command is missing, whatever stands in its place.
static std::string parseProblem(const CLI::App &app, const CLI::ParseError &error) {
  std::vector<std::string> rest = app.remaining();
  if (!app.get_subcommands().empty() || rest.empty())
    return error.what();
  return absl::StrFormat("unknown %s '%s': a command is required: %s", rest[0].find('-') == 0 ? "option" : "command",
                         rest[0], "tokenize, inspect, verify or baseline");
}

int main(int argc, char **argv) {
  reserveStandardStreams();
  failWritesPastSizeLimit();
  CLI::App app("Makes, shows and checks token files.", "recipedata");
  app.set_version_flag("--version", "recipedata " RECIPEC_VERSION);
  app.require_subcommand(1);
  Arguments arguments;

  CLI::App *tokenizeApp = app.add_subcommand("tokenize", "Write the tokens of text files, joined in order");
  tokenizeApp->add_option("INPUT", arguments.inputs, "text files")->required();
  tokenizeApp->add_option("-o,--output", arguments.output, "token file to write")
      ->required()
      ->check(
          CLI::Validator([](const std::string &path) { return path.empty() ? "must name a file, got \"\"" : ""; }, ""));
  tokenizeApp->add_option("--tokenizer", arguments.tokenizer, "bytes: one token for each byte")->capture_default_str();

  CLI::App *inspectApp = app.add_subcommand("inspect", "Print the header of a token file");
  inspectApp->add_option("FILE", arguments.file, "token file")->required();

  CLI::App *verifyApp = app.add_subcommand("verify", "Check every token of a token file and their checksum");
  verifyApp->add_option("FILE", arguments.file, "token file")->required();

  CLI::App *baselineApp =
      app.add_subcommand("baseline", "Print what counting models reach on the held-out part of a token file");
  baselineApp->add_option("FILE", arguments.file, "byte-level token file")->required();
  baselineApp->add_option("--eval-fraction", arguments.evalFraction, "part held out, at the end")->required();
  baselineApp->add_option("--context", arguments.context, "bytes of context")
      ->check(CLI::Range(0, CountingModel::MaxContext))
      ->capture_default_str();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // Help and version arrive here too, with code 0.
    if (error.get_exit_code() == 0)
      return app.exit(error);
    std::cerr << "recipedata: error: " << printable(parseProblem(app, error))
              << "\nrecipedata --help lists commands and options\n";
    return 1;
  }

  absl::Status status = tokenizeApp->parsed()  ? tokenize(arguments)
                        : inspectApp->parsed() ? inspect(arguments)
                        : verifyApp->parsed()  ? verify(arguments)
                                               : baseline(arguments);
  if (status.ok() && !std::cout.flush())
    status = absl::DataLossError("standard output: cannot be written");
  if (!status.ok() && stopSignal != 0) {
    std::cerr << "recipedata: stopped, as asked; nothing was written\n";
    return 128 + stopSignal;
  }
  if (!status.ok()) {
    std::cerr << "recipedata: error: " << printable(status.message()) << "\n";
    return 1;
  }
  return 0;
}
