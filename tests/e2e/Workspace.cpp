#include "tests/e2e/Workspace.h"
#include "runtime/loader/CpuFeatures.h"
#include "runtime/loader/Loader.h"
#include <filesystem>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>

namespace recipe::test {

bool hasTiles() { return rt::missingCpuFeatures({"amx-bf16", "amx-tile"}).empty(); }

static const char *const gpt2Recipe = R"(experiment:
  name: tiny-gpt2
  output_dir: output
model:
  type: gpt2
  config:
    model_type: gpt2
    vocab_size: 256
    n_embd: 24
    n_layer: 2
    n_head: 3
    n_positions: 16
    activation_function: gelu_new
    resid_pdrop: 0.1
    embd_pdrop: 0.1
    attn_pdrop: 0.1
data:
  path: text.tok
  seq_length: 13
  batch_size: 16
optim:
  lr: 1.0e-3
  max_steps: 4
logging:
  log_interval: 1
)";

static const char *const llamaRecipe = R"(experiment:
  name: tiny-llama
  output_dir: output
model:
  type: llama
  config:
    model_type: llama
    vocab_size: 256
    hidden_size: 40
    intermediate_size: 52
    num_hidden_layers: 2
    num_attention_heads: 4
    num_key_value_heads: 2
    head_dim: 10
    max_position_embeddings: 32
    hidden_act: silu
    rms_norm_eps: 1.0e-5
    rope_theta: 10000.0
    tie_word_embeddings: false
data:
  path: text.tok
  seq_length: 19
  batch_size: 16
optim:
  lr: 1.0e-3
  max_steps: 4
logging:
  log_interval: 1
)";

/// Words in an order that no compressor would guess, the same in every run.
static std::string text(size_t bytes) {
  const char *words[] = {"in ", "the ", "beginning ", "was ", "a ", "word ", "and ", "light;\n"};
  std::string result;
  for (uint32_t state = 1; result.size() < bytes; state = state * 1664525 + 1013904223)
    result += words[state >> 29];
  result.resize(bytes);
  return result;
}

Workspace::Workspace() {
  folder.write("gpt2.recipe", gpt2Recipe);
  folder.write("llama.recipe", llamaRecipe);
  folder.write("text.txt", text(8192));
  must("recipedata tokenize text.txt -o text.tok");
}

Outcome Workspace::run(const std::string &command) const {
  // Its own folder for the streams: a listing shows only what the command itself wrote.
  TempFolder streams;
  std::string shell = "cd '" + folder.path("") + "' && PATH='" PROGRAMS_PATH "':\"$PATH\" && { " + command + "\n} >'" +
                      streams.path("out") + "' 2>'" + streams.path("err") + "'";
  int status = std::system(shell.c_str()); // NOLINT(bugprone-command-processor): a user has a shell, too
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, streams.read("out"), streams.read("err")};
}

Outcome Workspace::must(const std::string &command) const {
  Outcome outcome = run(command);
  EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.err;
  EXPECT_EQ(outcome.err, "") << command;
  return outcome;
}

abi::Step Workspace::step(const std::string &name) const {
  auto step = rt::readStepFile(folder.path(name));
  EXPECT_TRUE(step.ok()) << step.status();
  return step.ok() ? **step : abi::Step();
}

std::vector<nlohmann::json> Workspace::metrics(const std::string &outputDir, const std::string &key) const {
  std::istringstream lines(folder.read(outputDir + "/metrics.jsonl"));
  std::vector<nlohmann::json> records;
  for (std::string line; std::getline(lines, line);)
    if (nlohmann::json record = nlohmann::json::parse(line); record.contains(key))
      records.push_back(record);
  return records;
}

std::map<std::string, uint64_t> Workspace::listing() const {
  std::map<std::string, uint64_t> files;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder.path("")))
    files[entry.path().string()] = entry.is_regular_file() ? entry.file_size() : 0;
  return files;
}

} // namespace recipe::test
