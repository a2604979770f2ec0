// Whole training runs of tiny models: the reference interpreter and native code against an independent implementation,
// and native code against the interpreter's mode `exact`.
#include "runtime/base/Sha256.h"
#include "runtime/checkpoint/Safetensors.h"
#include "tests/e2e/Workspace.h"
#include "tests/numerics/NativeRun.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

namespace recipe::test {
namespace {

constexpr size_t kSteps = 20;
#define ORACLE_FOLDER "tests/numerics/oracle/"

struct Course {
  std::vector<double> loss, gradNorm;
};

struct Gpt2 {
  static constexpr const char *kName = "gpt2-tiny";
};
struct Llama {
  static constexpr const char *kName = "llama-tiny";
};

/// The compiled recipe and its token file; results of the interpreter, by mode.
struct Artefacts {
  Workspace workspace;
  std::map<std::string, Course> interpreted;
};

/// Lines of `recipec interpret`.
Course parseCourse(const std::string &text) {
  Course course;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    double loss = 0, gradNorm = 0;
    if (std::sscanf(line.c_str(), "step %*d loss %lf grad_norm %lf", &loss, &gradNorm) != 2)
      continue;
    course.loss.push_back(loss);
    course.gradNorm.push_back(gradNorm);
  }
  return course;
}

Course courseOf(const std::vector<nlohmann::json> &steps) {
  Course course;
  for (const nlohmann::json &step : steps) {
    course.loss.push_back(step["loss"].get<double>());
    course.gradNorm.push_back(step["grad_norm"].get<double>());
  }
  return course;
}

double worstRelative(const std::vector<double> &got, const std::vector<double> &expected) {
  EXPECT_EQ(got.size(), expected.size());
  double worst = 0;
  for (size_t i = 0; i < std::min(got.size(), expected.size()); ++i)
    worst = std::max(worst, std::abs(got[i] - expected[i]) / std::abs(expected[i]));
  return worst;
}

template <typename Model> class OracleTest : public testing::Test {
public:
  static void SetUpTestSuite() {
    artefacts = std::make_unique<Artefacts>();
    const Workspace &workspace = artefacts->workspace;
    std::string source = "'" RECIPEC_SOURCE_DIR "/" ORACLE_FOLDER;
    workspace.must("recipedata tokenize " + source + "text.txt' -o text.tok");
    workspace.must("recipec compile " + source + Model::kName + ".recipe' --set target.max_threads=2 -o step.bin");
    for (const char *mode : {"fp64", "exact"}) {
      Outcome outcome = workspace.must("recipec interpret step.bin --set data.path=text.tok --steps " +
                                       std::to_string(kSteps) + " --mode " + mode + " --dump " + mode);
      artefacts->interpreted[mode] = parseCourse(outcome.out);
    }
  }
  static void TearDownTestSuite() { artefacts.reset(); }

  void SetUp() override {
    std::string file = std::string(RECIPEC_SOURCE_DIR "/" ORACLE_FOLDER) + Model::kName + "-expected.safetensors";
    for (auto &[name, values] : readTensors(file))
      if (name.rfind("grad:", 0) == 0)
        gradients[name.substr(5)] = values;
      else
        (name == "loss" ? expected.loss : expected.gradNorm) = values;
    ASSERT_EQ(expected.loss.size(), kSteps);
    ASSERT_FALSE(gradients.empty());
    absl::StatusOr<rt::SafetensorsFile> opened = rt::readSafetensors(file);
    ASSERT_TRUE(opened.ok());
    initialHash = opened->metadata().at("initial_sha256");
  }

  static std::string path(const std::string &name) { return artefacts->workspace.files().path(name); }
  static const Workspace &workspace() { return artefacts->workspace; }
  static const Course &interpreted(const char *mode) { return artefacts->interpreted[mode]; }
  /// One line of docs/numerics-results.md.
  static void report(const char *what, double worst, double limit) {
    std::printf("| %s | %s | %.2g | %.0g |\n", Model::kName, what, worst, limit);
  }

  Course expected;
  TensorMap gradients;
  std::string initialHash;

private:
  static inline std::unique_ptr<Artefacts> artefacts;
};

using Models = testing::Types<Gpt2, Llama>;
TYPED_TEST_SUITE(OracleTest, Models);

} // namespace

TYPED_TEST(OracleTest, StartsFromTheWeightsThatTheOracleStartedFrom) {
  rt::Sha256 hash;
  for (const auto &[name, values] : readTensors(this->path("fp64/initial.safetensors")))
    hash.update(values.data(), values.size() * 8);
  EXPECT_EQ(rt::toHex(hash.finish()), this->initialHash)
      << "initial weights have changed: run tests/numerics/oracle/make-expected";
  // In mode fp64 initial weights are in f32, too.
  EXPECT_EQ(readTensors(this->path("fp64/initial.safetensors")), readTensors(this->path("exact/initial.safetensors")));
}

TYPED_TEST(OracleTest, InterpreterInFp64) {
  TensorMap found = readTensors(this->path("fp64/gradients.safetensors"));
  ASSERT_EQ(found.size(), this->gradients.size());
  double worst = 0;
  for (const auto &[name, expected] : this->gradients) {
    double relative = distance(found[name], expected) / norm(expected);
    EXPECT_LE(relative, 1e-10) << name;
    worst = std::max(worst, relative);
  }
  double loss = worstRelative(this->interpreted("fp64").loss, this->expected.loss);
  double gradNorm = worstRelative(this->interpreted("fp64").gradNorm, this->expected.gradNorm);
  EXPECT_LE(loss, 1e-10);
  EXPECT_LE(gradNorm, 1e-10);
  this->report("interpreter fp64: gradient of a tensor, step 1", worst, 1e-10);
  this->report("interpreter fp64: loss, steps 1 to 20", loss, 1e-10);
  this->report("interpreter fp64: grad_norm, steps 1 to 20", gradNorm, 1e-10);
}

TYPED_TEST(OracleTest, ClippingIsActive) {
  EXPECT_GT(*std::min_element(this->expected.gradNorm.begin(), this->expected.gradNorm.end()), 1.0);
}

TYPED_TEST(OracleTest, NativeGradients) {
  rt::TextData data; // outlives the executor, whose prefetch thread reads it
  std::unique_ptr<rt::Executor> executor = openStep(this->path("step.bin"));
  ASSERT_NE(executor, nullptr);
  data = openTraining(this->path("text.tok"), executor->step().manifest());
  executor->initialize();
  ASSERT_TRUE(executor->begin(*data.training, 0).ok());
  ASSERT_TRUE(executor->runStep().ok());
  TensorMap found = nativeGradients(*executor);
  ASSERT_EQ(found.size(), this->gradients.size());

  double floor = 1e-3 * norm(this->gradients), worst = 0;
  for (const auto &[name, expected] : this->gradients) {
    double relative = distance(found[name], expected) / std::max(norm(expected), floor);
    EXPECT_LE(relative, 1e-5) << name;
    worst = std::max(worst, relative);
  }
  this->report("native: gradient of a tensor, step 1", worst, 1e-5);
  EXPECT_EQ(found, readTensors(this->path("exact/gradients.safetensors")));
}

TYPED_TEST(OracleTest, NativeRun) {
  this->workspace().must("reciperun step.bin --set data.path=text.tok --set logging.log_interval=1 "
                         "--set experiment.output_dir=native");
  Course native = courseOf(this->workspace().steps("native"));
  ASSERT_EQ(native.loss.size(), kSteps);

  double first = std::abs(native.loss[0] / this->expected.loss[0] - 1);
  double loss = worstRelative(native.loss, this->expected.loss);
  EXPECT_LE(first, 1e-5);
  EXPECT_LE(loss, 5e-5);
  this->report("native: loss, step 1", first, 1e-5);
  this->report("native: loss, steps 1 to 20", loss, 5e-5);

  // Bit for bit.
  EXPECT_EQ(native.loss, this->interpreted("exact").loss);
  EXPECT_EQ(native.gradNorm, this->interpreted("exact").gradNorm);
  TensorMap weights = readTensors(this->path("native/model.safetensors"));
  EXPECT_EQ(weights, readTensors(this->path("exact/final.safetensors")));
  EXPECT_NE(weights, readTensors(this->path("exact/initial.safetensors")));
}

} // namespace recipe::test
