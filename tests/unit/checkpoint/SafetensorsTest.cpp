#include "runtime/checkpoint/Safetensors.h"

#include "tests/unit/TempFolder.h"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace recipe;
using namespace recipe::rt;

namespace {

// A file with the given header and as many bytes after it.
std::string makeFile(const std::string &header, size_t dataBytes) {
  uint64_t length = header.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(&bytes[0], &length, sizeof(length));
  return bytes + header + std::string(dataBytes, '\5');
}

std::string tensor(const std::string &name, const std::string &dtype, const std::string &shape,
                   const std::string &offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

TEST(Safetensors, BytesAreThoseOfTheFormat) {
  test::TempFolder folder;
  float values[2] = {1, -2};
  uint8_t flag = 7;
  absl::Status status =
      writeSafetensors(folder.path("t"), {{"b", "F32", {2, 1}, values}, {"a", "U8", {}, &flag}}, {{"format", "pt"}});
  ASSERT_TRUE(status.ok()) << status;
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"},"
                       "\"b\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[0,8]},"
                       "\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[8,9]}}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string expected = makeFile(header, 0);
  expected.append(reinterpret_cast<const char *>(values), 8);
  expected += '\7';
  EXPECT_EQ(folder.read("t"), expected);
  EXPECT_EQ(folder.fileCount(), 1u);
}

TEST(Safetensors, RoundTrip) {
  test::TempFolder folder;
  std::vector<double> doubles(24);
  std::iota(doubles.begin(), doubles.end(), -3.5);
  std::vector<int16_t> shorts = {1, -1, 300};
  std::vector<TensorView> tensors = {
      {"model.layers.0.mlp.down_proj.weight", "F64", {2, 3, 4}, doubles.data()},
      {"empty", "BF16", {0, 5}, nullptr},
      {"odd \"name\" \\ \n \xc3\xa9", "I16", {3}, shorts.data()},
      {"scalar", "F64", {}, doubles.data()},
      {"also empty", "F32", {3, 0}, nullptr},
  };
  std::map<std::string, std::string> metadata = {{"format", "pt"}, {"step", "17 \"x\""}};
  ASSERT_TRUE(writeSafetensors(folder.path("t"), tensors, metadata).ok());
  EXPECT_EQ(safetensorsBytes(tensors, metadata).value(), std::filesystem::file_size(folder.path("t")));
  absl::StatusOr<SafetensorsFile> file = readSafetensors(folder.path("t"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->metadata(), metadata);
  ASSERT_EQ(file->tensors().size(), tensors.size());
  for (const TensorView &written : tensors) {
    const TensorView *read = file->find(written.name);
    ASSERT_TRUE(read) << written.name;
    EXPECT_EQ(read->dtype, written.dtype);
    EXPECT_EQ(read->shape, written.shape);
    size_t size = tensorBytes(written).value();
    EXPECT_TRUE(size == 0 || std::memcmp(read->data, written.data, size) == 0) << written.name;
  }
  EXPECT_EQ(file->tensors()[0].name, tensors[0].name);
  EXPECT_EQ(file->find("absent"), nullptr);
}

TEST(Safetensors, NoTensorsAreAFileToo) {
  test::TempFolder folder;
  ASSERT_TRUE(writeSafetensors(folder.path("t"), {}).ok());
  absl::StatusOr<SafetensorsFile> file = readSafetensors(folder.path("t"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(file->tensors().empty());
}

TEST(Safetensors, ReadsTensorsInTheOrderOfTheirPlaces) {
  test::TempFolder folder;
  std::string header = "{" + tensor("a", "U8", "[2]", "[4,6]") + "," + tensor("b", "F32", "[]", "[0,4]") + "}   ";
  absl::StatusOr<SafetensorsFile> file = readSafetensors(folder.write("t", makeFile(header, 6)));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->tensors()[0].name, "b");
  EXPECT_EQ(file->tensors()[1].name, "a");
}

TEST(Safetensors, TheWriterRefusesWhatTheFormatCannotSay) {
  test::TempFolder folder;
  float value = 0;
  struct {
    std::vector<TensorView> tensors;
    const char *says;
  } cases[] = {
      {{{"a", "F32", {}, &value}, {"a", "F32", {}, &value}}, "distinct and not \"__metadata__\", got \"a\""},
      {{{"__metadata__", "F32", {}, &value}}, "got \"__metadata__\""},
      {{{"a", "FP32", {}, &value}}, "tensor \"a\": unknown dtype \"FP32\""},
      {{{"a", "F32", {2, -1}, &value}}, "dimensions must be at least 0, got -1"},
      {{{"a", "F32", {INT64_MAX, 2}, &value}}, "must have at most"},
      {{{"\xff", "F32", {}, &value}}, "UTF-8"},
  };
  for (const auto &bad : cases) {
    absl::Status status = writeSafetensors(folder.path("t"), bad.tensors);
    EXPECT_NE(status.message().find(bad.says), absl::string_view::npos) << status;
    EXPECT_EQ(status.message().find(folder.path("t")), 0u) << status;
  }
  EXPECT_EQ(folder.fileCount(), 0u);
}

TEST(Safetensors, RefusesBadFilesWithTheReason) {
  const std::string good = tensor("a", "F32", "[2]", "[0,8]");
  std::string deep(200000, '[');
  struct {
    const char *name;
    std::string bytes;
    const char *says;
  } cases[] = {
      {"empty", "", "at least 8 bytes, found 0"},
      {"length cut short", std::string(7, '\1'), "at least 8 bytes, found 7"},
      {"text", "In the beginning God created the heaven and the earth.", "its header must have 1..100000000 bytes"},
      {"no header", makeFile("", 8), "1..100000000 bytes, got 0"},
      {"header cut short", makeFile("{" + good + "}", 0).substr(0, 30), "the header takes"},
      {"no JSON", makeFile("{" + good, 8), "one JSON object"},
      {"array", makeFile("[1]", 0), "one JSON object"},
      {"space before", makeFile(" {" + good + "}", 8), "one JSON object"},
      {"JSON and more", makeFile("{" + good + "}{}", 8), "one JSON object"},
      {"deep nesting", makeFile("{\"a\":" + deep, 0), "one JSON object"},
      {"invalid UTF-8", makeFile("{" + tensor("\xff", "F32", "[2]", "[0,8]") + "}", 8), "one JSON object"},
      {"equal names", makeFile("{" + good + "," + good + "}", 8), "names \"a\" twice"},
      {"equal keys", makeFile("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8),
       "names \"dtype\" twice"},
      {"no dtype", makeFile("{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8), "dtype, shape and data_offsets"},
      {"another key", makeFile("{\"a\":{\"x\":1,\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8),
       "dtype, shape and data_offsets"},
      {"no object", makeFile("{\"a\":3}", 0), "dtype, shape and data_offsets"},
      {"dtype a number", makeFile("{\"a\":{\"dtype\":1,\"shape\":[2],\"data_offsets\":[0,8]}}", 8), "must be a string"},
      {"unknown dtype", makeFile("{" + tensor("a", "F33", "[2]", "[0,8]") + "}", 8), "unknown dtype \"F33\""},
      {"negative dimension", makeFile("{" + tensor("a", "F32", "[-2]", "[0,8]") + "}", 8), "shape must be"},
      {"dimension with a point", makeFile("{" + tensor("a", "F32", "[2.0]", "[0,8]") + "}", 8), "shape must be"},
      {"shape a number", makeFile("{" + tensor("a", "F32", "2", "[0,8]") + "}", 8), "shape must be"},
      {"huge shape", makeFile("{" + tensor("a", "F32", "[9223372036854775807,4]", "[0,8]") + "}", 8), "at most"},
      {"shape beyond 64 bits", makeFile("{" + tensor("a", "F32", "[36893488147419103232]", "[0,8]") + "}", 8),
       "shape must be"},
      {"one offset", makeFile("{" + tensor("a", "F32", "[2]", "[8]") + "}", 8), "two whole numbers"},
      {"three offsets", makeFile("{" + tensor("a", "F32", "[2]", "[0,8,8]") + "}", 8), "two whole numbers"},
      {"offsets swapped", makeFile("{" + tensor("a", "F32", "[2]", "[8,0]") + "}", 8), "F32 [2] takes 8 bytes, got"},
      {"too long for its shape", makeFile("{" + tensor("a", "F32", "[2]", "[0,12]") + "}", 12), "takes 8 bytes"},
      {"hole at the start", makeFile("{" + tensor("a", "F32", "[2]", "[4,12]") + "}", 12), "must begin at byte 0"},
      {"hole", makeFile("{" + good + "," + tensor("b", "U8", "[1]", "[9,10]") + "}", 10), "must begin at byte 8"},
      {"overlap", makeFile("{" + good + "," + tensor("b", "F32", "[2]", "[4,12]") + "}", 12), "must begin at byte 8"},
      {"the same place twice", makeFile("{" + good + "," + tensor("b", "F32", "[2]", "[0,8]") + "}", 8), "byte 8"},
      {"data cut short", makeFile("{" + good + "}", 7), "truncated, the header announces 8 bytes of tensors, found 7"},
      {"bytes after the end", makeFile("{" + good + "}", 9), "bytes follow the last tensor"},
      {"metadata a number", makeFile("{\"__metadata__\":1," + good + "}", 8), "map strings to strings"},
      {"metadata of numbers", makeFile("{\"__metadata__\":{\"x\":1}," + good + "}", 8), "something else for \"x\""},
  };
  for (const auto &bad : cases) {
    SCOPED_TRACE(bad.name);
    test::TempFolder folder;
    absl::StatusOr<SafetensorsFile> file = readSafetensors(folder.write("bad", bad.bytes));
    ASSERT_FALSE(file.ok());
    std::string message(file.status().message());
    EXPECT_EQ(message.find(folder.path("bad")), 0u) << message;
    EXPECT_NE(message.find(bad.says), std::string::npos) << message << "\nmisses: " << bad.says;
  }
}

// Whatever the bytes, the reader answers with tensors inside the file or an error.
TEST(Safetensors, SurvivesMutations) {
  test::TempFolder folder;
  std::vector<float> values(8, 1);
  ASSERT_TRUE(writeSafetensors(folder.path("good"),
                               {{"first.weight", "F32", {2, 2}, values.data()}, {"second", "U8", {16}, values.data()}},
                               {{"format", "pt"}})
                  .ok());
  const std::string good = folder.read("good");
  std::mt19937_64 random(23);
  const std::string likely = "0123456789{}[]\",:-. eF";
  int opened = 0;
  for (int round = 0; round < 2500; ++round) {
    std::string bytes = good;
    for (uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
      size_t place = random() % bytes.size();
      switch (random() % 4) {
      case 0:
        bytes[place] = static_cast<char>(random());
        break;
      case 1:
        bytes[place] = likely[random() % likely.size()];
        break;
      case 2:
        bytes.erase(place, random() % 4);
        break;
      default:
        bytes.insert(place, 1, likely[random() % likely.size()]);
        break;
      }
    }
    // The length is right half of the time, so that the JSON is reached.
    if (bytes.size() > 40 && random() % 2 == 0) {
      uint64_t length = bytes.size() - 8 - 32;
      std::memcpy(&bytes[0], &length, sizeof(length));
    }
    absl::StatusOr<SafetensorsFile> file = readSafetensors(folder.write("bad", bytes));
    if (!file.ok()) {
      EXPECT_FALSE(file.status().message().empty());
      continue;
    }
    ++opened;
    size_t total = 0;
    for (const TensorView &tensor : file->tensors()) {
      std::string copy(static_cast<const char *>(tensor.data), tensorBytes(tensor).value());
      total += copy.size();
    }
    EXPECT_EQ(total, bytes.size() - 8 - (static_cast<uint64_t>(uint8_t(bytes[0])) | uint64_t(uint8_t(bytes[1])) << 8));
  }
  EXPECT_GT(opened, 100);
}

} // namespace
