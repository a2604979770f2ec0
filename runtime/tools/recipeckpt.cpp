// recipeckpt: shows, checks and compares checkpoints. Results on stdout, diagnostics on stderr, exit code 1 on any
// error.
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/base/Printable.h"
#include "runtime/base/Process.h"
#include "runtime/checkpoint/CheckpointDiff.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/checkpoint/CheckpointLoad.h"
#include "runtime/checkpoint/ExportWeights.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>

using namespace recipe::rt;

namespace {

struct Arguments {
  std::string checkpoint, other, folder;
};

/// A checkpoint that was named on the command line.
struct Opened {
  std::string path;
  CheckpointManifest manifest;
};

} // namespace

/// Calls `read` with the checkpoint, perhaps more than once: a run may remove what it reads.
static absl::Status withCheckpoint(const std::string &name, const std::function<absl::Status(const Opened &)> &read) {
  return readCheckpoint(name, [&](const std::string &path) -> absl::Status {
    Opened opened{path, {}};
    RCP_ASSIGN_OR_RETURN(opened.manifest, readManifest(path));
    return read(opened);
  });
}

static absl::StatusOr<std::string> describe(const Opened &opened) {
  const CheckpointManifest &m = opened.manifest;
  const CheckpointProvenance &p = m.provenance;
  std::string text;
  absl::StrAppendFormat(&text, "checkpoint  %s\nstep        %d\nsamples     %d\nmodel       %s, %d parameters\n",
                        printable(opened.path), m.step, m.samples, printable(m.modelType), m.parameters);
  absl::StrAppendFormat(&text, "run         %s\nwritten     %s by %s, nodes %d, threads %d\ncompiled    by %s for %s\n",
                        printable(p.run), printable(p.written), printable(p.producer), p.nodes, p.threads,
                        printable(p.compiler), printable(p.target));
  absl::StrAppendFormat(&text, "numerics    %s\n", printable(describeNumerics(m.numerics)));
  absl::StrAppendFormat(&text, "config      %s\nsettings\n", printable(m.modelConfig));
  for (const auto &[key, value] : m.settings)
    absl::StrAppendFormat(&text, "  %-24s%s\n", printable(key), printable(value));
  for (const CheckpointFile &file : m.files) {
    absl::StrAppendFormat(&text, "%s, %d bytes, SHA-256 %s\n", printable(file.name), file.bytes,
                          printable(file.sha256));
    RCP_ASSIGN_OR_RETURN(SafetensorsFile tensors, readSafetensors(opened.path + "/" + file.name));
    for (const TensorView &tensor : tensors.tensors())
      absl::StrAppendFormat(&text, "  %-48s %s [%s]\n", printable(tensor.name), tensor.dtype,
                            absl::StrJoin(tensor.shape, ", "));
  }
  return text;
}

static absl::Status inspect(const Arguments &arguments) {
  std::string text;
  RCP_RETURN_IF_ERROR(withCheckpoint(arguments.checkpoint, [&](const Opened &opened) -> absl::Status {
    RCP_ASSIGN_OR_RETURN(text, describe(opened));
    return absl::OkStatus();
  }));
  absl::PrintF("%s", text);
  return absl::OkStatus();
}

static absl::Status verify(const Arguments &arguments) {
  return withCheckpoint(arguments.checkpoint, [](const Opened &opened) -> absl::Status {
    RCP_RETURN_IF_ERROR(verifyCheckpoint(opened.path, opened.manifest));
    uint64_t bytes = 0;
    for (const CheckpointFile &file : opened.manifest.files)
      bytes += file.bytes;
    absl::PrintF("%s: good, step %d, %d bytes in %d files\n", printable(opened.path), opened.manifest.step, bytes,
                 opened.manifest.files.size());
    return absl::OkStatus();
  });
}

/// The lines that tell both apart; none: the same state of the same run.
static absl::StatusOr<std::vector<std::string>> differences(const Opened &first, const Opened &second) {
  std::vector<std::string> lines;
  if (first.manifest.step != second.manifest.step)
    lines.push_back(absl::StrFormat("step: %d and %d", first.manifest.step, second.manifest.step));
  if (first.manifest.samples != second.manifest.samples)
    lines.push_back(absl::StrFormat("samples: %d and %d", first.manifest.samples, second.manifest.samples));
  for (const Difference &one : compareManifests(first.manifest, second.manifest))
    lines.push_back(absl::StrFormat("%s: %s and %s", one.name, one.first, one.second));
  for (const CheckpointFile &file : first.manifest.files) {
    auto other = std::find_if(second.manifest.files.begin(), second.manifest.files.end(),
                              [&](const CheckpointFile &candidate) { return candidate.name == file.name; });
    if (other == second.manifest.files.end()) {
      lines.push_back(absl::StrFormat("%s: only in the first", file.name));
      continue;
    }
    RCP_ASSIGN_OR_RETURN(std::vector<std::string> tensors,
                         compareTensorFiles(first.path + "/" + file.name, second.path + "/" + file.name));
    for (const std::string &line : tensors)
      lines.push_back(absl::StrFormat("%s: %s", file.name, line));
  }
  return lines;
}

/// True if they differ.
static absl::StatusOr<bool> diff(const Arguments &arguments) {
  std::vector<std::string> lines;
  RCP_RETURN_IF_ERROR(withCheckpoint(arguments.checkpoint, [&](const Opened &first) {
    return withCheckpoint(arguments.other, [&](const Opened &second) -> absl::Status {
      RCP_ASSIGN_OR_RETURN(lines, differences(first, second));
      return absl::OkStatus();
    });
  }));
  for (const std::string &line : lines)
    absl::PrintF("%s\n", printable(line));
  return !lines.empty();
}

static absl::Status exportTo(const Arguments &arguments) {
  return withCheckpoint(arguments.checkpoint, [&](const Opened &opened) -> absl::Status {
    RCP_RETURN_IF_ERROR(exportWeights(opened.path, opened.manifest, arguments.folder));
    absl::PrintF("%s: config.json and model.safetensors of step %d\n", printable(arguments.folder),
                 opened.manifest.step);
    return absl::OkStatus();
  });
}

static int report(const std::string &text) {
  absl::FPrintF(stderr, "recipeckpt: error: %s\n", printable(text));
  return 1;
}

/// What is wrong with the command line. CLI11 says only that a command is missing, whatever stands in its place.
static std::string parseProblem(const CLI::App &app, const CLI::ParseError &error) {
  std::vector<std::string> rest = app.remaining();
  if (!app.get_subcommands().empty() || rest.empty())
    return error.what();
  return absl::StrFormat("unknown %s '%s': a command is required: %s", rest[0].find('-') == 0 ? "option" : "command",
                         rest[0], "inspect, verify, diff or export");
}

static int run(int argc, char **argv) {
  CLI::App app("Shows, checks and compares checkpoints.", "recipeckpt");
  app.set_version_flag(
      "--version", absl::StrFormat("recipeckpt %s\ncheckpoint format %d", RECIPEC_VERSION, CheckpointFormatVersion));
  app.require_subcommand(1);
  Arguments arguments;
  const char *what = "a checkpoint, or the output folder of a run: its newest one";
  CLI::App *inspectApp = app.add_subcommand("inspect", "Print what a checkpoint says of itself, and its tensors");
  CLI::App *verifyApp = app.add_subcommand("verify", "Check the length and hash of every file");
  CLI::App *diffApp = app.add_subcommand("diff", "Compare settings and tensors; exit code 1 if they differ");
  CLI::App *exportApp = app.add_subcommand("export", "Write the weights as a folder that transformers loads");
  for (CLI::App *command : {inspectApp, verifyApp, diffApp, exportApp})
    command->add_option("CHECKPOINT", arguments.checkpoint, what)->required();
  diffApp->add_option("OTHER", arguments.other, what)->required();
  exportApp->add_option("FOLDER", arguments.folder, "a new folder, beside others that exist")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &request) {
    return app.exit(request);
  } catch (const CLI::ParseError &error) {
    report(parseProblem(app, error));
    absl::FPrintF(stderr, "recipeckpt --help lists the options\n");
    return 1;
  }
  absl::StatusOr<bool> differ = false;
  if (diffApp->parsed()) {
    differ = diff(arguments);
  } else {
    absl::Status status = inspectApp->parsed()  ? inspect(arguments)
                          : verifyApp->parsed() ? verify(arguments)
                                                : exportTo(arguments);
    if (!status.ok())
      differ = status;
  }
  if (!differ.ok())
    return report(std::string(differ.status().message()));
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return report("standard output: cannot be written");
  return *differ ? 1 : 0;
}

int main(int argc, char **argv) {
  reserveStandardStreams();
  failWritesToClosedPipes();
  try {
    return run(argc, argv);
  } catch (const std::exception &exception) {
    report(exception.what());
    return 70; // EX_SOFTWARE
  }
}
