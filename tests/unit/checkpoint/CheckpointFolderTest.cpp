#include "runtime/checkpoint/CheckpointFolder.h"
#include "tests/unit/TempFolder.h"
#include <gtest/gtest.h>

namespace recipe::rt {
namespace {

struct CheckpointFolderTest : testing::Test {
  void make(const std::string &name) {
    std::filesystem::create_directories(temp.path("c/" + name));
    temp.write("c/" + name + "/file", "contents");
  }
  std::vector<int64_t> steps() { return listCheckpoints(temp.path("c")).value(); }
  size_t entries() {
    return size_t(
        std::distance(std::filesystem::directory_iterator(temp.path("c")), std::filesystem::directory_iterator()));
  }

  test::TempFolder temp;
};

TEST_F(CheckpointFolderTest, NamesAreOrderedByStep) {
  EXPECT_EQ(checkpointName(123), "step-00000123");
  EXPECT_EQ(checkpointName(1234567890), "step-1234567890");
  EXPECT_TRUE(steps().empty()) << "no folder at all";
  for (int64_t step : {1234567890, 4, 99999999, 0})
    make(checkpointName(step));
  for (const char *other : {"step-4", "step-00000005.partial", "step-00000006.removed", "step--0000007",
                            "step-0000000x", "step-000000008", "latest"})
    make(other);
  EXPECT_EQ(steps(), (std::vector<int64_t>{0, 4, 99999999, 1234567890}));
}

TEST_F(CheckpointFolderTest, LeftoversOfAKilledRunGoAndNothingElse) {
  for (const char *name : {"step-00000004", "step-00000005.partial", "step-00000006.removed", "mine.partial",
                           "step-5.partial", "step-00000007.backup"})
    make(name);
  ASSERT_TRUE(removeLeftovers(temp.path("c")).ok());
  EXPECT_EQ(entries(), 4u);
  EXPECT_FALSE(std::filesystem::exists(temp.path("c/step-00000005.partial")));
  EXPECT_FALSE(std::filesystem::exists(temp.path("c/step-00000006.removed")));
  EXPECT_TRUE(removeLeftovers(temp.path("none")).ok());
}

TEST_F(CheckpointFolderTest, TheNewestStay) {
  for (int64_t step : {2, 10, 4, 8, 6})
    make(checkpointName(step));
  ASSERT_TRUE(keepNewest(temp.path("c"), 0).ok());
  EXPECT_EQ(steps().size(), 5u);
  ASSERT_TRUE(keepNewest(temp.path("c"), 7).ok());
  EXPECT_EQ(steps().size(), 5u);
  ASSERT_TRUE(keepNewest(temp.path("c"), 2).ok());
  EXPECT_EQ(steps(), (std::vector<int64_t>{8, 10}));
  ASSERT_TRUE(removeCheckpoint(temp.path("c"), 8).ok());
  EXPECT_EQ(entries(), 1u);
  EXPECT_NE(removeCheckpoint(temp.path("c"), 8).message().find("step-00000008: cannot be removed"), std::string::npos);
}

TEST_F(CheckpointFolderTest, APathMeansACheckpointOrTheNewestOfARun) {
  EXPECT_EQ(newestCheckpoint(temp.path("run")).status().message(),
            temp.path("run/checkpoints") + ": no checkpoint found");
  for (const char *name : {"run/checkpoints/best", "run/checkpoints/step-00000001.partial"}) {
    std::filesystem::create_directories(temp.path(name));
    temp.write(std::string(name) + "/manifest.json", "");
  }
  EXPECT_EQ(newestCheckpoint(temp.path("run")).status().message(),
            temp.path("run/checkpoints") +
                ": no checkpoint found that has its step's name; best is to be named by its path");
  EXPECT_EQ(*checkpointAt(temp.path("run/checkpoints/best")), temp.path("run/checkpoints/best"));
  for (const char *name : {"run/checkpoints/step-00000003", "run/checkpoints/step-00000012"}) {
    std::filesystem::create_directories(temp.path(name));
    temp.write(std::string(name) + "/manifest.json", "");
  }
  EXPECT_EQ(*newestCheckpoint(temp.path("run")), temp.path("run/checkpoints/step-00000012"));
  EXPECT_EQ(*checkpointAt(temp.path("run")), temp.path("run/checkpoints/step-00000012"));
  EXPECT_EQ(*checkpointAt(temp.path("run/checkpoints/step-00000003")), temp.path("run/checkpoints/step-00000003"));
  EXPECT_EQ(checkpointAt(temp.path("run/checkpoints/step-4")).status().message(),
            temp.path("run/checkpoints/step-4") +
                ": must be a checkpoint or the output folder of a run, found neither manifest.json nor checkpoints");
}

TEST_F(CheckpointFolderTest, WhoReadsARunBesideItReadsWhatIsThere) {
  auto makeCheckpoint = [&](int64_t step) {
    make(checkpointName(step));
    temp.write("c/" + checkpointName(step) + "/manifest.json", "");
  };
  std::filesystem::create_directories(temp.path("run"));
  std::filesystem::create_directory_symlink(temp.path("c"), temp.path("run/checkpoints"));
  makeCheckpoint(1);
  int64_t newest = 1;
  std::vector<std::string> read;
  auto replacedBy = [&](int64_t last) {
    return [&, last](const std::string &path) -> absl::Status {
      read.push_back(path);
      if (newest >= last)
        return absl::OkStatus();
      makeCheckpoint(++newest);
      EXPECT_TRUE(removeCheckpoint(temp.path("c"), newest - 1).ok());
      return absl::NotFoundError("gone");
    };
  };
  ASSERT_TRUE(readCheckpoint(temp.path("run"), replacedBy(3)).ok());
  const std::string folder = temp.path("run/checkpoints/");
  EXPECT_EQ(read,
            std::vector<std::string>({folder + "step-00000001", folder + "step-00000002", folder + "step-00000003"}));
  EXPECT_EQ(readCheckpoint(folder + "step-00000003", replacedBy(4)).message(),
            folder + "step-00000003: was removed while it was read");
  read.clear();
  EXPECT_EQ(readCheckpoint(temp.path("run"), replacedBy(100)).message(),
            temp.path("run") + ": its newest checkpoint was removed while it was read, 10 times in a row; a larger "
                               "logging.keep_last keeps it longer");
  EXPECT_EQ(read.size(), 10u);
  // What is still there is what is wrong.
  auto damaged = [](const std::string &) { return absl::DataLossError("damaged"); };
  EXPECT_EQ(readCheckpoint(temp.path("run"), damaged).message(), "damaged");
}

} // namespace
} // namespace recipe::rt
