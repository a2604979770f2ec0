#include "runtime/monitor/Monitor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/Clock.h"
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <unistd.h>

using namespace recipe::rt;

std::string recipe::rt::formatDuration(double seconds) {
  int64_t s = int64_t(std::llround(std::clamp(seconds, 0.0, 1e12)));
  if (s < 60)
    return absl::StrFormat("%ds", s);
  if (s < 3600)
    return absl::StrFormat("%dm%02ds", s / 60, s % 60);
  if (s < 86400)
    return absl::StrFormat("%dh%02dm", s / 3600, s / 60 % 60);
  return absl::StrFormat("%dd%02dh", s / 86400, s / 3600 % 24);
}

std::string recipe::rt::formatBytes(uint64_t bytes) {
  if (bytes >= uint64_t(10) << 30)
    return absl::StrFormat("%.1f GiB", double(bytes) / (1 << 30));
  return absl::StrFormat("%.1f MiB", double(bytes) / (1 << 20));
}

/// Shortest text that reads back to the same bits; JSON has no way to say what is not finite.
static std::string jsonNumber(double value) {
  if (!std::isfinite(value))
    return "null";
  for (int digits : {6, 15, 16}) {
    std::string text = absl::StrFormat("%.*g", digits, value);
    if (std::strtod(text.c_str(), nullptr) == value)
      return text;
  }
  return absl::StrFormat("%.17g", value);
}

absl::StatusOr<std::unique_ptr<Monitor>> Monitor::create(const MonitorOptions &options) {
  int metrics = open(options.metricsPath.c_str(),
                     O_WRONLY | O_CREAT | (options.append ? 0 : O_TRUNC) | O_APPEND | O_CLOEXEC, 0666);
  if (metrics < 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(options.metricsPath, ": cannot be created"));
  return std::unique_ptr<Monitor>(new Monitor(options, metrics));
}

Monitor::Monitor(const MonitorOptions &options, int metrics)
    : options(options), metrics(metrics), lineBegin(nowSeconds()) {}

Monitor::~Monitor() {
  clearProgress();
  close(metrics);
}

void Monitor::writeMetrics(const std::string &line) {
  if (!failure.ok())
    return;
  // Whole lines as they come, for whoever watches the file.
  std::string bytes = line + "\n";
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t n = write(metrics, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      failure = absl::ErrnoToStatus(errno, absl::StrCat(options.metricsPath, ": cannot be written"));
      // Appending left the position at the end of the half line.
      if (done > 0)
        (void)!ftruncate(metrics, lseek(metrics, 0, SEEK_CUR) - off_t(done));
      return;
    }
    done += size_t(n);
  }
}

void Monitor::afterStep(const StepResult &result) {
  memory.sample();
  ++stepsInLine;
  waitInLine += result.dataWaitMs;
  communicationInLine += result.commWaitMs;
  int64_t updates = result.step + 1;
  if (updates % options.logInterval != 0 && updates != options.lastStep) {
    showProgress(updates, result.loss);
    return;
  }
  double now = nowSeconds(), secondsPerStep = std::max(now - lineBegin, 1e-9) / double(stepsInLine);
  double rate = double(options.tokensPerStep) / secondsPerStep, wait = waitInLine / double(stepsInLine);
  double eta = secondsPerStep * double(options.lastStep - updates);
  double communication = communicationInLine / double(stepsInLine);
  lineBegin = now;
  stepsInLine = 0;
  waitInLine = communicationInLine = 0;
  clearProgress();
  absl::FPrintF(options.out,
                "step %d/%d  loss %.4f  grad_norm %.4f  learning_rate %.3e  tokens_per_second %.0f  data_wait_ms %.2f  "
                "%speak_memory %s  eta %s\n",
                updates, options.lastStep, result.loss, result.gradNorm, result.learningRate, rate, wait,
                options.communicates ? absl::StrFormat("comm_wait_ms %.2f  ", communication) : "",
                formatBytes(memory.peakBytes()), formatDuration(eta));
  std::fflush(options.out);
  writeMetrics(absl::StrCat(
      "{\"step\":", updates, ",\"loss\":", jsonNumber(result.loss), ",\"grad_norm\":", jsonNumber(result.gradNorm),
      ",\"learning_rate\":", jsonNumber(result.learningRate), ",\"tokens_per_second\":",
      jsonNumber(std::round(rate * 10) / 10), ",\"data_wait_ms\":", jsonNumber(std::round(wait * 1000) / 1000),
      options.communicates ? absl::StrCat(",\"comm_wait_ms\":", jsonNumber(std::round(communication * 1000) / 1000))
                           : "",
      ",\"peak_memory_bytes\":", memory.peakBytes(), ",\"eta_seconds\":", jsonNumber(std::round(eta * 10) / 10), "}"));
}

void Monitor::afterEvaluation(int64_t updates, const EvaluationResult &result, double seconds) {
  memory.sample();
  lineBegin += seconds;
  clearProgress();
  absl::FPrintF(options.out, "eval %d/%d  eval_loss %.4f  eval_tokens %d  seconds %.1f\n", updates, options.lastStep,
                result.loss, result.validTokens, seconds);
  std::fflush(options.out);
  writeMetrics(absl::StrCat("{\"step\":", updates, ",\"eval_loss\":", jsonNumber(result.loss),
                            ",\"eval_tokens\":", result.validTokens,
                            ",\"eval_seconds\":", jsonNumber(std::round(seconds * 1000) / 1000), "}"));
}

void Monitor::showProgress(int64_t updates, double loss) {
  double now = nowSeconds();
  if (!options.terminal || now - lastProgress < 0.1)
    return;
  lastProgress = now;
  progressShown = true;
  absl::FPrintF(options.terminal, "\r\033[Kstep %d/%d  loss %.4f", updates, options.lastStep, loss);
  std::fflush(options.terminal);
}

void Monitor::clearProgress() {
  if (!progressShown)
    return;
  progressShown = false;
  std::fputs("\r\033[K", options.terminal);
  std::fflush(options.terminal);
}
