#include "runtime/monitor/Monitor.h"
#include "tests/unit/TempFolder.h"
#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace recipe::test {

TEST(Monitor, Durations) {
  EXPECT_EQ(rt::formatDuration(0.2), "0s");
  EXPECT_EQ(rt::formatDuration(185), "3m05s");
  EXPECT_EQ(rt::formatDuration(7620), "2h07m");
  EXPECT_EQ(rt::formatDuration(4 * 86400 + 3 * 3600), "4d03h");
  EXPECT_EQ(rt::formatDuration(INFINITY), rt::formatDuration(1e12));
  EXPECT_EQ(rt::formatBytes(12897485), "12.3 MiB");
  EXPECT_EQ(rt::formatBytes(uint64_t(20) << 30), "20.0 GiB");
}

namespace {

/// Runs `steps` steps through a monitor; `terminal` as its terminal.
struct Watched {
  Watched(int64_t steps, int64_t interval, bool withTerminal) {
    rt::MonitorOptions options;
    options.metricsPath = folder.path("metrics.jsonl");
    options.lastStep = steps;
    options.logInterval = interval;
    options.tokensPerStep = 100;
    options.out = std::fopen(folder.path("out").c_str(), "w");
    options.terminal = withTerminal ? std::fopen(folder.path("terminal").c_str(), "w") : nullptr;
    {
      auto monitor = rt::Monitor::create(options);
      EXPECT_TRUE(monitor.ok());
      for (int64_t step = 0; step < steps; ++step) {
        rt::StepResult result;
        result.step = step;
        result.loss = 1.0 / 3.0 + double(step);
        result.gradNorm = 0.1;
        result.learningRate = 1e-3;
        result.dataWaitMs = double(step);
        (*monitor)->afterStep(result);
      }
      (*monitor)->afterEvaluation(steps, {2.5, 77}, 0.25);
      EXPECT_TRUE((*monitor)->status().ok());
    }
    std::fclose(options.out);
    if (options.terminal)
      std::fclose(options.terminal);
  }
  TempFolder folder;
};

} // namespace

TEST(Monitor, LinesEveryIntervalAndAtTheEnd) {
  Watched watched(7, 3, false);
  std::istringstream lines(watched.folder.read("metrics.jsonl"));
  std::vector<nlohmann::json> records;
  for (std::string line; std::getline(lines, line);)
    records.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0]["step"], 3);
  EXPECT_EQ(records[1]["step"], 6);
  EXPECT_EQ(records[2]["step"], 7);
  EXPECT_EQ(records[2]["loss"].get<double>(), 1.0 / 3.0 + 6.0) << "the same bits";
  EXPECT_EQ(records[1]["data_wait_ms"], 4.0) << "mean of steps 3, 4, 5";
  for (const char *key : {"grad_norm", "learning_rate", "tokens_per_second", "peak_memory_bytes", "eta_seconds"})
    EXPECT_TRUE(records[0].contains(key)) << key;
  EXPECT_EQ(records[3]["eval_loss"], 2.5);
  EXPECT_EQ(records[3]["eval_tokens"], 77);
  std::string out = watched.folder.read("out");
  EXPECT_EQ(out.find("step 3/7  loss 2.3333  grad_norm 0.1000  learning_rate 1.000e-03  tokens_per_second "), 0u)
      << out;
  EXPECT_NE(out.find("\neval 7/7  eval_loss 2.5000  eval_tokens 77"), std::string::npos) << out;
}

TEST(Monitor, ProgressOnlyOnATerminal) {
  Watched watched(3, 100, true);
  EXPECT_EQ(watched.folder.read("terminal"), "\r\033[Kstep 1/3  loss 0.3333\r\033[K");
  EXPECT_EQ(watched.folder.read("out").find('\r'), std::string::npos);
}

TEST(Monitor, TellsThatMetricsCannotBeWritten) {
  rt::MonitorOptions options;
  options.metricsPath = "/dev/full";
  options.out = std::fopen("/dev/null", "w");
  auto monitor = rt::Monitor::create(options);
  ASSERT_TRUE(monitor.ok()) << monitor.status();
  (*monitor)->afterEvaluation(0, {2.5, 77}, 0.25);
  EXPECT_EQ((*monitor)->status().message(), "/dev/full: cannot be written: No space left on device");
  std::fclose(options.out);
}

TEST(Monitor, RefusesAFolderThatIsNotThere) {
  rt::MonitorOptions options;
  options.metricsPath = "/no/such/folder/metrics.jsonl";
  EXPECT_NE(rt::Monitor::create(options).status().message().find("/no/such/folder"), absl::string_view::npos);
}

} // namespace recipe::test
