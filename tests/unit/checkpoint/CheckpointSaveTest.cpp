// Checkpoints to disk and back, and what must not come back.
#include "runtime/base/Clock.h"
#include "runtime/base/DiskSpace.h"
#include "runtime/base/File.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/checkpoint/CheckpointLoad.h"
#include "runtime/checkpoint/CheckpointWriter.h"
#include "tests/unit/TempFolder.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <sys/resource.h>
#include <sys/stat.h>

namespace recipe::rt {
namespace {

/// Two tensors of weights, one of them in pieces, and one of optimizer state.
struct State {
  explicit State(float first, size_t count = 6) : a(count), b1(2), b2(2), m(count) {
    for (std::vector<float> *values : {&a, &b1, &b2, &m}) {
      std::iota(values->begin(), values->end(), first);
      first += 100;
    }
  }
  std::vector<StateFile> files() {
    TensorView whole{"a", "F32", {int64_t(a.size()) / 2, 2}, a.data(), {}};
    TensorView cut{"b", "F32", {4}, nullptr, {{b1.data(), 8}, {b2.data(), 8}}};
    TensorView moment{"adam_m.a", "F32", {int64_t(m.size()) / 2, 2}, m.data(), {}};
    return {{WeightsFileName, WeightsMetadata, {whole, cut}}, {OptimizerFileName, {}, {moment}}};
  }
  bool operator==(const State &other) const { return a == other.a && b1 == other.b1 && b2 == other.b2 && m == other.m; }
  std::vector<float> a, b1, b2, m;
};

struct CheckpointSaveTest : testing::Test {
  CheckpointRequest request(State &state, int64_t step, int64_t keep = 0) {
    CheckpointRequest result;
    result.folder = temp.path("run/checkpoints");
    result.manifest.step = step;
    result.manifest.modelConfig = "{}";
    result.state = state.files();
    result.keepNewest = keep;
    return result;
  }
  void save(State &state, int64_t step, int64_t keep = 0) {
    auto save = CheckpointSave::begin(request(state, step, keep));
    ASSERT_TRUE(save.ok()) << save.status();
    ASSERT_TRUE(save->readState().ok());
    absl::Status finished = save->finish();
    ASSERT_TRUE(finished.ok()) << finished;
  }
  std::string path(int64_t step) { return temp.path("run/checkpoints/" + checkpointName(step)); }
  absl::Status load(int64_t step, State &state) {
    RCP_ASSIGN_OR_RETURN(CheckpointManifest manifest, readManifest(path(step)));
    return loadCheckpoint(path(step), manifest, state.files());
  }
  absl::Status verify(int64_t step) {
    RCP_ASSIGN_OR_RETURN(CheckpointManifest manifest, readManifest(path(step)));
    return verifyCheckpoint(path(step), manifest);
  }
  std::vector<std::string> names(const std::string &folder) {
    std::vector<std::string> result;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      result.push_back(entry.path().filename().string());
    std::sort(result.begin(), result.end());
    return result;
  }

  test::TempFolder temp;
};

TEST_F(CheckpointSaveTest, TheLogIsDurableBeforeTheCheckpointCounts) {
  State state(1);
  // A FIFO cannot be synced.
  std::string log = temp.path("log");
  ASSERT_EQ(mkfifo(log.c_str(), 0600), 0);
  for (bool fails : {true, false}) {
    CheckpointRequest wanted = request(state, 3);
    wanted.log = fails ? log : temp.write("file", "line\n");
    auto save = CheckpointSave::begin(std::move(wanted));
    ASSERT_TRUE(save.ok()) << save.status();
    ASSERT_TRUE(save->readState().ok());
    absl::Status finished = save->finish();
    EXPECT_EQ(finished.ok(), !fails) << finished;
    if (fails)
      EXPECT_EQ(finished.message().find(log + ": cannot be made durable"), 0u) << finished;
    EXPECT_EQ(std::filesystem::exists(path(3)), !fails);
  }
}

TEST_F(CheckpointSaveTest, ComesBackBitEqual) {
  State state(1);
  save(state, 7);
  EXPECT_EQ(names(path(7)), (std::vector<std::string>{"manifest.json", "model.safetensors", "optimizer.safetensors"}));
  State back(0);
  absl::Status status = load(7, back);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(back == state);
  EXPECT_TRUE(verify(7).ok());
  auto weights = readSafetensors(path(7) + "/model.safetensors");
  ASSERT_TRUE(weights.ok());
  EXPECT_EQ(weights->metadata().at("format"), "pt");
  EXPECT_EQ(readManifest(path(7))->files[1].bytes, std::filesystem::file_size(path(7) + "/optimizer.safetensors"));
}

TEST_F(CheckpointSaveTest, UnfinishedLeavesNothing) {
  State state(1);
  {
    auto save = CheckpointSave::begin(request(state, 7));
    ASSERT_TRUE(save.ok());
    ASSERT_TRUE(save->readState().ok());
    EXPECT_EQ(names(temp.path("run/checkpoints")), (std::vector<std::string>{"step-00000007.partial"}));
    EXPECT_TRUE(listCheckpoints(temp.path("run/checkpoints"))->empty());
  }
  EXPECT_TRUE(names(temp.path("run/checkpoints")).empty());
}

TEST_F(CheckpointSaveTest, NothingOfAKilledRunGetsIn) {
  std::filesystem::create_directories(path(7) + ".partial");
  temp.write("run/checkpoints/step-00000007.partial/model.safetensors.tmp-1-0", "half");
  State state(1);
  save(state, 7);
  EXPECT_EQ(names(path(7)).size(), 3u);
}

TEST_F(CheckpointSaveTest, RetentionComesLast) {
  State state(1);
  save(state, 2);
  save(state, 4);
  {
    auto third = CheckpointSave::begin(request(state, 6, 1));
    ASSERT_TRUE(third->readState().ok());
    EXPECT_EQ(listCheckpoints(temp.path("run/checkpoints"))->size(), 2u)
        << "nothing goes before the new one is durable";
    ASSERT_TRUE(third->finish().ok());
  }
  EXPECT_EQ(*listCheckpoints(temp.path("run/checkpoints")), std::vector<int64_t>{6});
}

TEST_F(CheckpointSaveTest, EveryFlippedByteIsNamed) {
  State state(1);
  save(state, 7);
  for (const std::string &name : names(path(7))) {
    std::string file = "run/checkpoints/" + checkpointName(7) + "/" + name, good = temp.read(file);
    auto expectRefusal = [&](const std::string &contents, const std::string &what) {
      temp.write(file, contents);
      State back(0);
      for (const absl::Status &status : {load(7, back), verify(7)}) {
        EXPECT_FALSE(status.ok()) << name << ": " << what;
        EXPECT_EQ(status.message().find(path(7) + "/" + name + ": "), 0u) << status;
      }
    };
    for (size_t i = 0; i < good.size(); ++i) {
      std::string bad = good;
      bad[i] = char(bad[i] ^ (1 << (i % 8)));
      expectRefusal(bad, "byte " + std::to_string(i));
    }
    expectRefusal(good.substr(0, good.size() - 1), "cut");
    expectRefusal(good + " ", "longer");
    expectRefusal("", "empty");
    std::filesystem::remove(path(7) + "/" + name);
    State back(0);
    EXPECT_EQ(load(7, back).message(), path(7) + "/" + name + ": cannot be opened: No such file or directory");
    temp.write(file, good);
  }
  EXPECT_TRUE(verify(7).ok());
}

TEST_F(CheckpointSaveTest, OtherTensorsAreListed) {
  State state(1);
  save(state, 7);
  auto manifest = readManifest(path(7));
  std::vector<StateFile> other = state.files();
  other[0].tensors[0].shape = {2, 3};
  other[0].tensors[1].name = "c";
  absl::Status status = loadCheckpoint(path(7), *manifest, other);
  std::string file = path(7) + "/model.safetensors: ";
  EXPECT_EQ(status.message(), file + "tensor 'a' must be the step's F32 [2, 3], got F32 [3, 2]\n" + file +
                                  "no tensor 'c', which the step has\n" + file + "tensor 'b' is none of the step's");
  manifest->files.erase(manifest->files.begin());
  EXPECT_EQ(loadCheckpoint(path(7), *manifest, state.files()).message(),
            path(7) + ": the checkpoint must have a file 'model.safetensors'");
}

TEST_F(CheckpointSaveTest, StateMayChangeOnceItHasBeenRead) {
  State state(1, 1 << 22), expected(1, 1 << 22);
  CheckpointWriter writer({0});
  double begin = nowSeconds();
  ASSERT_TRUE(writer.start(request(state, 1)).ok());
  ASSERT_TRUE(writer.waitUntilRead().ok());
  std::fill(state.m.begin(), state.m.end(), -1.0f);
  std::fill(state.a.begin(), state.a.end(), -1.0f);
  ASSERT_TRUE(writer.waitUntilDurable().ok());
  std::optional<SavedCheckpoint> saved = writer.takeSaved();
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->path, path(1));
  EXPECT_EQ(saved->step, 1);
  EXPECT_GT(saved->seconds, 0);
  EXPECT_LE(saved->exposedSeconds, nowSeconds() - begin);
  EXPECT_FALSE(writer.takeSaved()) << "told once";
  State back(0, 1 << 22);
  ASSERT_TRUE(load(1, back).ok());
  EXPECT_TRUE(back == expected);

  // The same bytes as from one thread.
  save(expected, 2);
  for (const char *name : {"/model.safetensors", "/optimizer.safetensors"})
    EXPECT_TRUE(*readFile(path(1) + name) == *readFile(path(2) + name)) << name;
}

TEST_F(CheckpointSaveTest, WriterEndsWhatItBegan) {
  State state(1, 1 << 20);
  {
    CheckpointWriter writer({0});
    EXPECT_TRUE(writer.waitUntilRead().ok()) << "nothing to wait for";
    EXPECT_TRUE(writer.waitUntilDurable().ok());
    ASSERT_TRUE(writer.start(request(state, 1)).ok());
    ASSERT_TRUE(writer.start(request(state, 2, 1)).ok()) << "waits for the first";
  }
  EXPECT_EQ(*listCheckpoints(temp.path("run/checkpoints")), std::vector<int64_t>{2});
  EXPECT_TRUE(verify(2).ok());
}

TEST_F(CheckpointSaveTest, RefusesAPlaceThatCannotBeWritten) {
  State state(1);
  temp.write("run", "a file");
  CheckpointWriter writer({0});
  EXPECT_EQ(writer.start(request(state, 1)).message(),
            temp.path("run/checkpoints") + ": the folder cannot be created: Not a directory");
}

TEST_F(CheckpointSaveTest, RefusesWhatTheFileSizeLimitCutsOff) {
  State state(1);
  struct rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit low = before;
  low.rlim_cur = 100;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  absl::Status status = CheckpointSave::begin(request(state, 1)).status();
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(status.message().find(path(1) + ": the limit on the size of files (ulimit -f) must be at least its "), 0u)
      << status;
  EXPECT_FALSE(std::filesystem::exists(temp.path("run")));
}

TEST(DiskSpace, RefusesWhatNoDiskHas) {
  test::TempFolder temp;
  EXPECT_TRUE(checkDiskSpace("w", temp.path(""), 1).ok());
  absl::Status status = checkDiskSpace("w", temp.path(""), UINT64_MAX);
  EXPECT_EQ(status.message().find("w: the disk must have room for its 18446744073709551615 bytes, got "), 0u) << status;
  EXPECT_FALSE(checkDiskSpace("w", temp.path("none"), 1).ok());
}

} // namespace
} // namespace recipe::rt
