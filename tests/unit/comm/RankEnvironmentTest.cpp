#include "runtime/comm/RankEnvironment.h"
#include <gtest/gtest.h>
#include <map>

using namespace recipe::rt;

static std::optional<RankEnvironment> in(const std::map<std::string, std::string> &variables) {
  return rankEnvironment([&](const char *name) {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(RankEnvironmentTest, NoneOutsideOfAJob) {
  EXPECT_FALSE(in({}));
  EXPECT_FALSE(in({{"OMPI_COMM_WORLD_RANK", "many"}}));
}

TEST(RankEnvironmentTest, Mpirun) {
  auto found = in({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "2"}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 2);
  EXPECT_EQ(found->size, 4);
  EXPECT_EQ(found->starter, "mpirun");
}

TEST(RankEnvironmentTest, SrunButNotItsBatchScript) {
  EXPECT_FALSE(in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "7"}}));
  auto found =
      in({{"SLURM_PROCID", "3"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_NTASKS", "8"}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 3);
  EXPECT_EQ(found->size, 4);
  EXPECT_EQ(found->starter, "srun");
}

TEST(RankEnvironmentTest, OtherStarters) {
  auto found = in({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1);
  EXPECT_EQ(found->size, 2);
}
