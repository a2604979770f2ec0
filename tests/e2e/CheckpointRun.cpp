#include "tests/e2e/CheckpointRun.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include <cstdio>
#include <gtest/gtest.h>
#include <iterator>
#include <sstream>

namespace recipe::test {

CheckpointRun::CheckpointRun(int updates) : updates(updates) { space.must("recipec compile gpt2.recipe -o gpt2.bin"); }

std::string CheckpointRun::command(const std::string &options, const std::string &step) const {
  return "reciperun " + step + " --set optim.max_steps=" + std::to_string(updates) + " " + options;
}

std::vector<std::string> CheckpointRun::words(const std::string &options, const std::string &step) const {
  std::istringstream text(command(options, space.files().path(step)));
  std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
  words[0] = PROGRAMS_PATH "/reciperun";
  return words;
}

void CheckpointRun::runWhole(const std::string &options) { space.must(command("--output-dir whole " + options)); }

std::vector<int64_t> CheckpointRun::checkpoints(const std::string &outputDir) const {
  auto steps = rt::listCheckpoints(space.files().path(outputDir + "/checkpoints"));
  EXPECT_TRUE(steps.ok()) << steps.status();
  return *steps;
}

std::string CheckpointRun::checkpoint(const std::string &outputDir, int64_t step) {
  return outputDir + "/checkpoints/" + rt::checkpointName(step);
}

std::string CheckpointRun::course(const std::string &outputDir) const {
  std::string text;
  for (const nlohmann::json &record : space.steps(outputDir)) {
    char line[160];
    std::snprintf(line, sizeof line, "%d %a %a %a\n", int(record["step"]), double(record["loss"]),
                  double(record["grad_norm"]), double(record["learning_rate"]));
    text += line;
  }
  return text;
}

std::string CheckpointRun::manifest(const std::string &checkpoint) const {
  auto json = nlohmann::ordered_json::parse(space.files().read(checkpoint + "/manifest.json"), nullptr, false);
  EXPECT_TRUE(json.is_object() && json.contains("provenance")) << checkpoint;
  if (json.is_object())
    json.erase("provenance");
  return json.dump(1);
}

void CheckpointRun::expectSameCheckpoint(const std::string &a, const std::string &b) const {
  EXPECT_EQ(manifest(a), manifest(b));
  for (const char *file : {"/model.safetensors", "/optimizer.safetensors"}) {
    std::string bytes = space.files().read(a + file);
    EXPECT_GT(bytes.size(), 10000u) << a;
    EXPECT_TRUE(bytes == space.files().read(b + file)) << a << " and " << b << ": other bytes in " << file;
  }
}

void CheckpointRun::expectSameEnd(const std::string &outputDir) const {
  EXPECT_EQ(course(outputDir), course("whole"));
  EXPECT_TRUE(space.files().read(outputDir + "/model.safetensors") == space.files().read("whole/model.safetensors"))
      << outputDir << ": other weights";
  expectSameCheckpoint(checkpoint(outputDir, updates), checkpoint("whole", updates));
}

} // namespace recipe::test
