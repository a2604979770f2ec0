// A folder of its own in which the three programs run as a user runs them, with tiny recipes to run them on.
#ifndef TESTS_E2E_WORKSPACE_H
#define TESTS_E2E_WORKSPACE_H
#include "runtime/abi/step.pb.h"
#include "tests/unit/TempFolder.h"
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace recipe::test {

struct Outcome {
  int code = -1; // -1: ended by a signal
  std::string out, err;
};

class Workspace {
public:
  Workspace();

  /// A shell command in the folder; recipec, reciperun and recipedata are those of this build.
  Outcome run(const std::string &command) const;
  /// The same; a failure is a failure of the test.
  Outcome must(const std::string &command) const;

  const TempFolder &files() const { return folder; }
  abi::Step step(const std::string &name) const;
  /// Lines of OUTPUT_DIR/metrics.jsonl: `updates` of steps, or of evaluations.
  std::vector<nlohmann::json> steps(const std::string &outputDir) const { return metrics(outputDir, "loss"); }
  std::vector<nlohmann::json> evaluations(const std::string &outputDir) const {
    return metrics(outputDir, "eval_loss");
  }
  /// Relative names and contents' sizes of all files, to see what a command left behind.
  std::map<std::string, uint64_t> listing() const;

private:
  std::vector<nlohmann::json> metrics(const std::string &outputDir, const std::string &key) const;

  TempFolder folder;
};

/// Written by Workspace(): text.txt, text.tok (bytes, 8192 tokens), gpt2.recipe (2 layers, tied, dropout 0.1
/// everywhere, odd sizes) and llama.recipe (2 layers, 4 heads on 2 kv heads, odd sizes), both 4 updates of 16 samples.
inline constexpr int kUpdates = 4;

/// "gpt2.recipe" of "gpt2"; "gpt2-bf16" is the same in bf16, with an even number of positions, so that token sums are
/// in bf16, too; "gpt2-split" the same in fp32, multiplied by parts in bf16.
inline std::string recipeArguments(const std::string &name) {
  std::string model = name.substr(0, name.find('-')), variant = name.substr(model.size());
  std::string sets = variant == "-bf16"    ? " --set precision.compute=bf16 --set data.seq_length=14"
                     : variant == "-split" ? " --set precision.f32_products=bf16x6"
                                           : "";
  return model + ".recipe" + sets;
}
inline bool isSplit(const std::string &name) { return name.find("-split") != std::string::npos; }
/// Whether steps that need AMX run here.
bool hasTiles();
/// The name as part of a test's.
inline std::string testName(std::string name) {
  for (char &c : name)
    c = c == '-' ? '_' : c;
  return name;
}

} // namespace recipe::test
#endif
