#include "tests/numerics/NativeRun.h"
#include "runtime/checkpoint/HuggingFace.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace recipe::test {

constexpr int64_t kPositionSegments = 8;

std::unique_ptr<rt::Executor> openStep(const std::string &path, const std::vector<std::string> &sets) {
  rt::LoadOptions options;
  options.overrides = sets;
  absl::StatusOr<rt::LoadedStep> loaded = rt::loadStepFile(path, options);
  if (!loaded.ok()) {
    ADD_FAILURE() << loaded.status();
    return nullptr;
  }
  rt::ExecutorOptions executorOptions;
  executorOptions.threads = 2;
  absl::StatusOr<std::unique_ptr<rt::Executor>> executor = rt::Executor::create(*std::move(loaded), executorOptions);
  if (!executor.ok()) {
    ADD_FAILURE() << executor.status();
    return nullptr;
  }
  return *std::move(executor);
}

rt::TextDataOptions dataOptions(const std::string &tokens, const abi::Manifest &manifest) {
  rt::TextDataOptions options;
  options.paths = {tokens};
  options.seqLength = manifest.seq_length();
  options.batchSize = manifest.batch_size();
  options.globalBatch = manifest.global_batch();
  options.vocabSize = manifest.vocab_size();
  return options;
}

rt::TextData openTraining(const std::string &tokens, const abi::Manifest &manifest) {
  rt::TextDataOptions options = dataOptions(tokens, manifest);
  options.shuffle = false;
  absl::StatusOr<rt::TextData> data = rt::openTextData(options);
  EXPECT_TRUE(data.ok()) << data.status();
  return data.ok() ? *std::move(data) : rt::TextData();
}

static std::vector<double> valuesOf(const rt::TensorView &tensor) {
  int64_t count = 1;
  for (int64_t size : tensor.shape)
    count *= size;
  std::vector<double> values(count);
  if (tensor.dtype == "F64") {
    std::memcpy(values.data(), tensor.data, size_t(count) * 8);
    return values;
  }
  EXPECT_EQ(tensor.dtype, "F32") << tensor.name;
  std::vector<float> singles(count);
  char *to = reinterpret_cast<char *>(singles.data());
  if (tensor.pieces.empty())
    std::memcpy(to, tensor.data, size_t(count) * 4);
  for (const rt::TensorPiece &piece : tensor.pieces) {
    std::memcpy(to, piece.data, piece.bytes);
    to += piece.bytes;
  }
  return {singles.begin(), singles.end()};
}

TensorMap readTensors(const std::string &path) {
  TensorMap tensors;
  absl::StatusOr<rt::SafetensorsFile> file = rt::readSafetensors(path);
  EXPECT_TRUE(file.ok()) << file.status();
  if (file.ok())
    for (const rt::TensorView &tensor : file->tensors())
      tensors[tensor.name] = valuesOf(tensor);
  return tensors;
}

/// One accumulator of a parameter of `count` elements: a vector's has a row for each position segment.
static std::vector<float> useGradient(const float *values, uint64_t bytes, int64_t count) {
  std::vector<float> rows(values, values + bytes / 4);
  if (int64_t(rows.size()) == count)
    return rows;
  EXPECT_EQ(int64_t(rows.size()), kPositionSegments * count);
  for (int64_t stride = 1; stride < kPositionSegments; stride *= 2)
    for (int64_t row = 0; row < kPositionSegments; row += 2 * stride)
      for (int64_t c = 0; c < count; ++c)
        rows[row * count + c] += rows[(row + stride) * count + c];
  rows.resize(count);
  return rows;
}

TensorMap nativeGradients(rt::Executor &executor) {
  std::map<uint32_t, std::vector<float>> sums; // by the parameter's buffer
  for (const abi::Parameter &parameter : executor.step().parameters()) {
    int64_t count = 1;
    for (int64_t size : parameter.shape())
      count *= size;
    std::vector<float> &sum = sums[parameter.buffer()];
    sum.resize(count);
    for (uint32_t index : parameter.gradient_buffers()) {
      const auto *values = reinterpret_cast<const float *>(executor.bufferData(index));
      std::vector<float> use = useGradient(values, executor.step().buffers(int(index)).bytes(), count);
      for (int64_t i = 0; i < count; ++i)
        sum[i] += use[i];
    }
  }
  auto address = [&](uint32_t buffer) { return reinterpret_cast<const std::byte *>(sums.at(buffer).data()); };
  absl::StatusOr<std::vector<rt::TensorView>> views = rt::huggingFaceTensors(executor.step(), address);
  EXPECT_TRUE(views.ok()) << views.status();
  TensorMap tensors;
  if (!views.ok())
    return tensors;
  double scale = 1.0 / double(executor.params().valid_tokens);
  for (const rt::TensorView &view : *views) {
    std::vector<double> &values = tensors[view.name] = valuesOf(view);
    for (double &value : values)
      value *= scale;
  }
  return tensors;
}

double norm(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += value * value;
  return std::sqrt(sum);
}

double distance(const std::vector<double> &a, const std::vector<double> &b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

double norm(const TensorMap &tensors) {
  double sum = 0;
  for (const auto &[name, values] : tensors)
    sum += norm(values) * norm(values);
  return std::sqrt(sum);
}

} // namespace recipe::test
