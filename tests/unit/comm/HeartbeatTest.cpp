#include "runtime/comm/Heartbeat.h"
#include "runtime/comm/Endpoint.h"
#include "tests/unit/comm/Ranks.h"
#include <atomic>
#include <gtest/gtest.h>

using namespace recipe::rt;

static std::unique_ptr<Heartbeat> beat(Communicator &comm, double timeout) {
  auto heartbeat = Heartbeat::create(comm, timeout);
  EXPECT_TRUE(heartbeat.ok()) << heartbeat.status();
  return std::move(*heartbeat);
}

static void sleepFor(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

TEST(EndpointTest, SurvivesEncoding) {
  Endpoint endpoint = ownEndpoint(4711);
  endpoint.token[3] = 200;
  endpoint.addresses = {1, 0xffffffff};
  auto again = decodeEndpoint(encode(endpoint));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->token, endpoint.token);
  EXPECT_EQ(again->host, endpoint.host);
  EXPECT_EQ(again->network, endpoint.network);
  EXPECT_EQ(again->process, endpoint.process);
  EXPECT_EQ(again->port, 4711);
  EXPECT_EQ(again->addresses, endpoint.addresses);
  EXPECT_FALSE(decodeEndpoint("x").ok());
  EXPECT_FALSE(decodeEndpoint("").ok());
}

TEST(HeartbeatTest, ASilentRankIsNamed) {
  onRanks(3, [](Communicator &comm) {
    auto heartbeat = beat(comm, 1.0);
    if (comm.rank() == 2)
      heartbeat.reset();
    sleepFor(1.5);
    if (comm.rank() == 2)
      return;
    std::string missing = heartbeat->describeMissing(0);
    EXPECT_NE(missing.find("missing: rank 2 (host "), std::string::npos) << missing;
    EXPECT_NE(missing.find("no sign of life for 1."), std::string::npos) << missing;
    EXPECT_EQ(missing.find(comm.rank() == 0 ? "rank 1" : "rank 0"), std::string::npos) << missing;
    sleepFor(0.3); // the others still look
  });
}

TEST(HeartbeatTest, ALateRankIsNamedWithItsStep) {
  onRanks(2, [](Communicator &comm) {
    auto heartbeat = beat(comm, 1.0);
    heartbeat->setStep(6);
    heartbeat->setCollective(comm.rank() == 0 ? 10 : 7);
    sleepFor(0.4);
    if (comm.rank() == 0) {
      std::string missing = heartbeat->describeMissing(10);
      EXPECT_NE(missing.find("alive, in step 7, 3 collectives behind"), std::string::npos) << missing;
    } else {
      EXPECT_EQ(heartbeat->describeMissing(7), "all ranks are alive");
    }
    sleepFor(0.3);
  });
}

// A slow disk is no reason to give a rank up, as long as it shows life.
TEST(HeartbeatTest, ARankThatWorksOnFilesIsWaitedFor) {
  for (bool lives : {true, false})
    onRanks(3, [&](Communicator &comm) {
      auto heartbeat = beat(comm, 0.5);
      WatchedCommunicator watched(comm, *heartbeat);
      if (comm.rank() == 0) {
        watched.workOnFiles(1);
        sleepFor(0.2);
        if (!lives)
          heartbeat.reset();
        sleepFor(1.3);
        if (!lives)
          return;
        watched.workOnFiles(-1);
      }
      absl::Status status = barrier(watched, 0.5);
      EXPECT_EQ(status.ok(), lives) << status;
      if (!lives)
        EXPECT_NE(status.message().find("rank 0 (host "), std::string::npos) << status;
      sleepFor(0.3);
    });
}

TEST(HeartbeatTest, OneRankReportsForAll) {
  std::atomic<int> reports{0}, byRankZero{0};
  onRanks(4, [&](Communicator &comm) {
    auto heartbeat = beat(comm, 5.0);
    // Rank 2 fails by itself; the others hear of it.
    absl::Status reason = absl::DataLossError("token file cut short");
    if (comm.rank() != 2) {
      for (int i = 0; i < 200 && heartbeat->failureElsewhere().ok(); ++i)
        sleepFor(0.01);
      reason = heartbeat->failureElsewhere();
      EXPECT_EQ(reason, absl::DataLossError("rank 2: token file cut short"));
    }
    if (heartbeat->giveUp(reason)) {
      ++reports;
      byRankZero += comm.rank() == 0;
      heartbeat->reported();
    }
  });
  EXPECT_EQ(reports, 1);
  EXPECT_EQ(byRankZero, 1);
}

TEST(HeartbeatTest, WithoutRankZeroTheNextOneReports) {
  std::atomic<int> reports{0}, byRankOne{0};
  onRanks(3, [&](Communicator &comm) {
    auto heartbeat = beat(comm, 1.0);
    if (comm.rank() == 0)
      return heartbeat.reset();
    sleepFor(1.2);
    if (heartbeat->giveUp(absl::DeadlineExceededError(heartbeat->describeMissing(0)))) {
      ++reports;
      byRankOne += comm.rank() == 1;
      heartbeat->reported();
    }
  });
  EXPECT_EQ(reports, 1);
  EXPECT_EQ(byRankOne, 1);
}

TEST(HeartbeatTest, TwoRunsDoNotHearEachOther) {
  std::thread other([] {
    onRanks(2, [](Communicator &comm) {
      auto heartbeat = beat(comm, 1.0);
      if (comm.rank() == 0)
        heartbeat->giveUp(absl::DataLossError("ours alone"));
      sleepFor(0.3);
    });
  });
  onRanks(2, [](Communicator &comm) {
    auto heartbeat = beat(comm, 1.0);
    sleepFor(0.5);
    EXPECT_TRUE(heartbeat->failureElsewhere().ok());
  });
  other.join();
}
