// Token files and batches for the tests of runtime/data.
#ifndef TESTS_UNIT_DATA_TOKENS_H
#define TESTS_UNIT_DATA_TOKENS_H

#include "runtime/data/TokenFile.h"
#include "runtime/data/TokenFileWriter.h"
#include "runtime/executor/BatchSource.h"

#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <vector>

namespace recipe::test {

inline void writeTokens(const std::string &path, const std::vector<int32_t> &ids, uint64_t vocabSize,
                        const std::string &tokenizer = "bytes") {
  absl::StatusOr<rt::TokenFileWriter> writer = rt::TokenFileWriter::create(path, tokenizer, vocabSize);
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE(writer->append(ids).ok());
  absl::Status status = writer->finish();
  ASSERT_TRUE(status.ok()) << status;
}

/// The successor sequence first, first + 1, ...: a token tells where it lies.
inline std::vector<int32_t> successors(int32_t count, int32_t first = 0) {
  std::vector<int32_t> ids(count);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

inline std::shared_ptr<const rt::TokenFile> openTokens(const std::string &path) {
  absl::StatusOr<rt::TokenFile> file = rt::TokenFile::open(path);
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? std::make_shared<const rt::TokenFile>(*std::move(file)) : nullptr;
}

inline rt::TokenRange whole(std::shared_ptr<const rt::TokenFile> file) {
  uint64_t count = file->tokenCount();
  return {std::move(file), 0, count};
}

/// Storage for one micro-batch, filled with a value that no loader writes.
struct Batch {
  Batch(int64_t samples, int64_t length)
      : samples(samples), length(length), tokens(samples * length, -7), labels(tokens), positions(tokens) {}

  rt::MicroBatch view() { return {tokens.data(), labels.data(), positions.data(), samples, length}; }
  std::vector<int32_t> row(const std::vector<int32_t> &values, int64_t index) const {
    return {values.begin() + index * length, values.begin() + (index + 1) * length};
  }

  int64_t samples;
  int64_t length;
  std::vector<int32_t> tokens;
  std::vector<int32_t> labels;
  std::vector<int32_t> positions;
};

} // namespace recipe::test

#endif // TESTS_UNIT_DATA_TOKENS_H
