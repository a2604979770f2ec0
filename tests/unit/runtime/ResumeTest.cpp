#include "runtime/tools/Resume.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/executor/Executor.h"
#include "runtime/loader/Loader.h"
#include "runtime/monitor/MetricsFile.h"
#include "runtime/tools/RunIdentity.h"
#include "tests/abi/HandWrittenStep.h"
#include "tests/unit/TempFolder.h"
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace recipe::test {

namespace {

rt::CheckpointManifest describe(const std::vector<std::string> &overrides, const LineShape &shape = {},
                                const std::string &config = R"({"a":{"b":[1,2]},"c":"x"})") {
  abi::Step step = makeLineStep(shape);
  step.mutable_manifest()->set_model_type("line");
  step.mutable_manifest()->set_model_config(config);
  auto keys = rt::RunTimeKeys::resolve(step, overrides);
  EXPECT_TRUE(keys.ok()) << keys.status();
  return rt::describeRun(step, *keys, "hash");
}

using Lines = std::vector<std::string>;

} // namespace

TEST(Executor, TheStateIsStillBeforeTheUpdate) {
  LineSource source{LineShape{}}; // outlives the executor, whose prefetcher reads ahead
  auto loaded = rt::loadStep(bytesOf(makeLineStep()), {});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  rt::ExecutorOptions options;
  options.threads = 2;
  auto executor = rt::Executor::create(std::move(*loaded), options);
  ASSERT_TRUE(executor.ok()) << executor.status();
  (*executor)->initialize();
  ASSERT_TRUE((*executor)->begin(source, 0).ok());
  auto line = [&] {
    const auto *values = reinterpret_cast<const float *>((*executor)->buffer("param:line")->data());
    return std::vector<float>{values[0], values[1]};
  };
  std::vector<float> before = line(), seen;
  absl::Status answer;
  (*executor)->beforeUpdate([&] {
    seen = line();
    return answer;
  });
  ASSERT_TRUE((*executor)->runStep().ok());
  EXPECT_EQ(seen, before);
  EXPECT_NE(line(), before);
  before = line();
  answer = absl::DataLossError("the disk is gone");
  EXPECT_EQ((*executor)->runStep().status(), answer);
  EXPECT_EQ(line(), before) << "the update must not begin";
}

TEST(RunIdentity, HasWhatShapesTrainingAndNothingElse) {
  std::map<std::string, std::string> settings = describe({}).settings;
  EXPECT_EQ(settings["optim.lr"], "0.125");
  EXPECT_EQ(settings["optim.scheduler"], "cosine");
  EXPECT_EQ(settings["experiment.seed"], "1");
  EXPECT_EQ(settings["global_batch"], "8");
  EXPECT_EQ(settings["data.sha256"], "hash");
  for (const char *key :
       {"data.path", "experiment.output_dir", "logging.log_interval", "data.batch_size", "optim.warmup_steps"})
    EXPECT_FALSE(settings.count(key)) << key;
}

TEST(RunIdentity, DifferencesByKey) {
  EXPECT_TRUE(rt::compareRuns(describe({}), describe({"optim.lr=1.25e-1", "data.path=p"})).deliberate.empty())
      << "one number in two spellings";
  rt::RunDifferences changed = rt::compareRuns(describe({}), describe({"optim.lr=1", "optim.warmup_steps=2"}));
  EXPECT_EQ(changed.deliberate,
            (Lines{"optim.lr: 0.125 in the checkpoint, 1 now", "optim.warmup_ratio: 0.5 in the checkpoint, not set now",
                   "optim.warmup_steps: not set in the checkpoint, 2 now"}));
  EXPECT_TRUE(changed.fatal.empty());
  LineShape wide;
  wide.globalBatch = 16;
  EXPECT_EQ(rt::compareRuns(describe({}), describe({}, wide)).fatal,
            Lines{"global_batch: 8 in the checkpoint, 16 now"});
  EXPECT_EQ(rt::compareRuns(describe({}), describe({}, {}, R"({"c":"x","a":{"b":[1,3]}})")).fatal,
            Lines{"model.config.a.b.1: 2 in the checkpoint, 3 now"});
  EXPECT_TRUE(rt::compareRuns(describe({}), describe({}, {}, R"({"c":"x","a":{"b":[1,2]}})")).fatal.empty())
      << "the order of keys means nothing";
}

TEST(RunIdentity, NothingHeldOutIsTheSameAsNotSet) {
  rt::CheckpointManifest zero = describe({"data.eval_fraction=0"}), absent = describe({}), some = zero;
  absent.settings.erase("data.eval_fraction");
  some.settings["data.eval_fraction"] = "0.5";
  EXPECT_EQ(zero.settings["data.eval_fraction"], "0");
  EXPECT_TRUE(rt::compareRuns(zero, absent).deliberate.empty());
  EXPECT_TRUE(rt::compareRuns(absent, zero).deliberate.empty());
  EXPECT_EQ(rt::compareRuns(some, absent).deliberate, Lines{"data.eval_fraction: 0.5 in the checkpoint, not set now"});
}

// A checkpoint of a step that knew no other products.
TEST(RunIdentity, ProductsByFmaAreTheSameAsNotSet) {
  rt::CheckpointManifest absent = describe({}), fma = absent, parts = absent;
  fma.settings["precision.f32_products"] = "fma";
  parts.settings["precision.f32_products"] = "bf16x6";
  EXPECT_TRUE(rt::compareRuns(absent, fma).deliberate.empty());
  EXPECT_EQ(rt::compareRuns(absent, parts).deliberate,
            Lines{"precision.f32_products: fma in the checkpoint, bf16x6 now"});
}

TEST(RunIdentity, NumericsAreThoseOfTheStep) {
  abi::Step step = makeLineStep();
  step.mutable_manifest()->set_numerics_version(4);
  step.mutable_manifest()->set_bf16_order("pairs");
  rt::CheckpointManifest run = rt::describeRun(step, *rt::RunTimeKeys::resolve(step, {}), "hash"), other = run;
  EXPECT_EQ(run.numerics.version, 4);
  EXPECT_EQ(run.numerics.bf16Order, "pairs");
  other.numerics.version = 5;
  rt::RunDifferences differences = rt::compareRuns(run, other);
  EXPECT_TRUE(differences.fatal.empty() && differences.deliberate.empty()) << "no setting is changed";
  EXPECT_EQ(differences.bits, rt::compareNumerics(run.numerics, other.numerics));
  EXPECT_EQ(rt::compareRuns(run, run).bits, "");
}

// The user has changed nothing: no flag is asked for, which would let real changes pass, too.
TEST(Resume, OtherNumericsAreToldOnceAndNotRefused) {
  TempFolder folder;
  rt::CheckpointManifest now = describe({}), manifest = now;
  manifest.step = 3;
  manifest.samples = 24;
  rt::ResumeOptions options;
  options.from = folder.path("");
  options.outputDir = folder.path("run");
  options.globalBatch = 8;
  now.numerics = {2, "pairs"};
  for (const rt::NumericsIdentity &numerics :
       {rt::NumericsIdentity{2, "pairs"}, {2, "blocks"}, {1, "pairs"}, {0, ""}}) {
    manifest.numerics = numerics;
    folder.write("manifest.json", rt::encodeManifest(manifest));
    options.err = std::fopen(folder.path("err").c_str(), "w");
    EXPECT_TRUE(rt::findResumePoint(options, now).ok());
    std::fclose(options.err);
    std::string told = rt::compareNumerics(numerics, now.numerics);
    EXPECT_EQ(folder.read("err"), told.empty() ? "" : "reciperun: " + options.from + ": " + told + "\n");
  }
}

TEST(Resume, TheSampleCursorMustBeWhereTheStepIs) {
  TempFolder folder;
  rt::CheckpointManifest manifest = describe({});
  manifest.step = 3;
  rt::ResumeOptions options;
  options.from = folder.path("");
  options.outputDir = folder.path("run");
  options.globalBatch = 8;
  for (int64_t samples : {24, 23, 25, 32}) {
    manifest.samples = samples;
    folder.write("manifest.json", rt::encodeManifest(manifest));
    absl::StatusOr<rt::ResumePoint> point = rt::findResumePoint(options, describe({}));
    EXPECT_EQ(point.ok(), samples == 24) << point.status();
  }
  EXPECT_EQ(rt::findResumePoint(options, describe({})).status().message(),
            options.from + ": its samples must be its step times the global batch, got 32, 3 and 8");
}

TEST(Resume, TheNewestCheckpointsAreForgottenFirst) {
  TempFolder folder;
  for (const char *name : {"step-00000001", "step-00000002", "step-00000003", "step-00000004"})
    std::filesystem::create_directories(folder.path(std::string("checkpoints/") + name));
  int events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  ASSERT_GE(inotify_add_watch(events, folder.path("checkpoints").c_str(), IN_MOVED_FROM), 0);
  ASSERT_TRUE(rt::forgetBeyond(folder.path(""), 1).ok());
  alignas(inotify_event) char bytes[4096];
  ssize_t size = read(events, bytes, sizeof bytes);
  close(events);
  std::vector<std::string> gone;
  for (ssize_t at = 0; at < size;) {
    const auto *event = reinterpret_cast<const inotify_event *>(bytes + at);
    gone.emplace_back(event->name);
    at += ssize_t(sizeof *event) + event->len;
  }
  EXPECT_EQ(gone, (std::vector<std::string>{"step-00000004", "step-00000003", "step-00000002"}));
  EXPECT_EQ(*rt::listCheckpoints(folder.path("checkpoints")), std::vector<int64_t>{1});
}

TEST(MetricsFile, KeepsLinesUpToAStep) {
  TempFolder folder;
  const std::string lines = "{\"step\":1,\"loss\":2}\n{\"step\":2,\"loss\":1}\n{\"step\":2,\"eval_loss\":1}\n";
  std::string path = folder.write("m", lines + "{\"step\":3,\"loss\":1}\n{\"step\":4,\"lo");
  EXPECT_EQ(*rt::keepMetricsUntil(path, 7), 3);
  path = folder.write("m", lines + "{\"step\":3,\"loss\":1}\n{\"step\":4,\"lo");
  EXPECT_EQ(*rt::keepMetricsUntil(path, 2), 2);
  EXPECT_EQ(folder.read("m"), lines);
  ASSERT_TRUE(rt::keepMetricsUntil(path, 2).ok());
  EXPECT_EQ(folder.read("m"), lines);
  EXPECT_EQ(*rt::keepMetricsUntil(path, 0), 0);
  EXPECT_EQ(folder.read("m"), "");
  EXPECT_TRUE(rt::keepMetricsUntil(folder.path("none"), 2).ok());
}

TEST(MetricsFile, RefusesLinesThatAreNotOurs) {
  TempFolder folder;
  for (const char *line : {"nonsense", "[1]", "{}", "{\"step\":\"1\"}", "{\"step\":1.5}", ""}) {
    std::string contents = std::string("{\"step\":1}\n") + line + "\n{\"step\":9}\n",
                path = folder.write("m", contents);
    EXPECT_EQ(rt::keepMetricsUntil(path, 2).status().message(),
              path + ":2: must be an object with a whole number 'step'; mend or remove the file");
    EXPECT_EQ(folder.read("m"), contents);
  }
}

} // namespace recipe::test
