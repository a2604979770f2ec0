// reciperun on a step made by hand, in a folder of the test's own.
#ifndef TESTS_UNIT_RUNTIME_RECIPERUN_H
#define TESTS_UNIT_RUNTIME_RECIPERUN_H

#include "absl/strings/str_split.h"
#include "runtime/base/File.h"
#include "runtime/checkpoint/Safetensors.h"
#include "tests/abi/HandWrittenStep.h"
#include "tests/unit/ChildProcess.h"
#include "tests/unit/data/Tokens.h"
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace recipe::test {

/// The folder holds step.bin, 10 updates of it by default, and t.tok, 4000 tokens.
struct ReciperunTest : testing::Test {
  void SetUp() override {
    std::vector<int32_t> ids;
    for (int i = 0; i < 4000; ++i)
      ids.push_back((i * 31 + i / 7) % 64);
    writeTokens(folder.path("t.tok"), ids, 256);
    folder.write("step.bin", bytesOf(makeLineStep()));
  }

  /// Words of a command line; none holds a space, '' is an empty one.
  static std::vector<std::string> commandOf(const std::string &arguments) {
    std::vector<std::string> words = absl::StrSplit(arguments, ' ', absl::SkipEmpty());
    std::replace(words.begin(), words.end(), std::string("''"), std::string());
    words.insert(words.begin(), RECIPERUN_PATH);
    return words;
  }

  /// Runs to the end.
  void run(const std::string &arguments, const std::function<void()> &prepare = {}) {
    ChildProcess child(folder, commandOf(arguments), prepare);
    finish(child);
  }

  /// A run that goes on for hours; returns when its first steps are done.
  std::unique_ptr<ChildProcess> start(const std::string &arguments = "", const std::function<void()> &prepare = {}) {
    const std::string endless = "step.bin --set data.path=t.tok --set optim.max_steps=100000000 --set optim.lr=1e-4 "
                                "--set optim.decay=1 --set logging.log_interval=100 ";
    auto child = std::make_unique<ChildProcess>(folder, commandOf(endless + arguments), prepare);
    for (int i = 0; i < 1000 && folder.read("output/metrics.jsonl").empty(); ++i)
      usleep(10000);
    return child;
  }

  /// Waits for its end.
  void finish(ChildProcess &child) {
    code = child.wait();
    out = folder.read("stdout");
    err = folder.read("stderr");
  }

  /// Every line of the metrics.
  std::vector<nlohmann::json> metrics(const std::string &dir = "output") {
    std::istringstream lines(folder.read(dir + "/metrics.jsonl"));
    std::vector<nlohmann::json> records;
    for (std::string line; std::getline(lines, line);)
      records.push_back(nlohmann::json::parse(line));
    return records;
  }

  std::vector<float> weights(const std::string &dir = "output") {
    auto file = rt::readSafetensors(folder.path(dir + "/model.safetensors"));
    EXPECT_TRUE(file.ok()) << file.status();
    std::vector<float> values(2);
    if (!file.ok())
      return values;
    const rt::TensorView *tensor = file->find("model.line");
    std::memcpy(values.data(), tensor->data, 8);
    return values;
  }

  bool exists(const std::string &name) { return std::filesystem::exists(folder.path(name)); }

  void expectError(const std::string &arguments, const std::string &part) {
    run(arguments);
    EXPECT_EQ(code, 1) << arguments;
    EXPECT_NE(err.find(part), std::string::npos) << arguments << "\n" << err;
    EXPECT_FALSE(exists("output/model.safetensors"));
  }

  TempFolder folder;
  int code = -1;
  std::string out, err;
};

} // namespace recipe::test

#endif // TESTS_UNIT_RUNTIME_RECIPERUN_H
