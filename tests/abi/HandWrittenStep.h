// A whole training step made by hand: kernels.c and a Step message around it.
#ifndef TESTS_ABI_HANDWRITTENSTEP_H
#define TESTS_ABI_HANDWRITTENSTEP_H
#include "runtime/abi/Container.h"
#include "runtime/abi/step.pb.h"
#include "runtime/executor/BatchSource.h"
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace recipe::test {

struct LineShape {
  int64_t batch = 2, length = 8, globalBatch = 8, segments = 4; // B, T, G, S
  std::vector<int64_t> ranks = {1};                             // legal ones
};

/// Programs init, prologue, forward, backward, update, eval; run-time keys optim.lr (0), optim.decay (1) and others.
abi::Step makeLineStep(const LineShape &shape = {});

/// The container around it.
std::string bytesOf(const abi::Step &step);
/// The same around any payload, with a valid checksum.
std::string container(const std::string &payload, uint32_t version = abi::kStepFormatVersion);

/// kernels.c as a shared object.
const std::string &kernelObject();

/// Token and label of a sample's position: a pure function, points near y = x / 2 + 1.
int32_t lineToken(int64_t sample, int64_t position);
int32_t lineLabel(int64_t sample, int64_t position);

/// Endless samples of those; optionally notes its calls.
class LineSource : public rt::BatchSource {
public:
  explicit LineSource(const LineShape &shape) : shape(shape) {}
  absl::Status fill(int64_t step, int64_t microbatch, const rt::MicroBatch &out) override;
  std::vector<std::pair<int64_t, int64_t>> calls; // to read when no prefetcher is at work
  int64_t failAtStep = -1;

  size_t callCount() {
    std::lock_guard<std::mutex> lock(mutex);
    return calls.size();
  }
  size_t threadCount() {
    std::lock_guard<std::mutex> lock(mutex);
    return threads.size();
  }
  bool onThread(std::thread::id id) {
    std::lock_guard<std::mutex> lock(mutex);
    return threads.count(id) != 0;
  }

private:
  LineShape shape;
  std::mutex mutex;
  std::set<std::thread::id> threads; // that asked
};

/// The fitted line after `steps` updates by plain C++, in the same order of operations.
struct LineReference {
  float line[2];
  double loss, gradNorm;
};
LineReference lineReference(const LineShape &shape, int64_t steps, double learningRate, double decay, uint64_t seed);

} // namespace recipe::test
#endif
