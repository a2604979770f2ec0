#include "runtime/comm/Communicator.h"
#include "runtime/comm/ThreadCommunicator.h"
#include "tests/unit/comm/Ranks.h"
#include <gtest/gtest.h>

using namespace recipe::rt;

TEST(CommunicatorTest, AllGatherKeepsTheOrderOfRanks) {
  for (int size : {1, 2, 3, 4, 7, 8})
    onRanks(size, [&](Communicator &comm) {
      // Lengths 0, 1, 2, ...: rank r says r times its own letter.
      auto all = allGather(comm, std::string(size_t(comm.rank()), char('a' + comm.rank())), 10);
      ASSERT_TRUE(all.ok()) << all.status();
      ASSERT_EQ(all->size(), size_t(size));
      for (int rank = 0; rank < size; ++rank)
        EXPECT_EQ((*all)[size_t(rank)], std::string(size_t(rank), char('a' + rank)));
    });
}

TEST(CommunicatorTest, BroadcastIsRankZeros) {
  for (int size : {1, 2, 5, 8})
    onRanks(size, [&](Communicator &comm) {
      std::string bytes = comm.rank() == 0 ? std::string("from zero\0!", 11) : std::string("other");
      ASSERT_TRUE(broadcast(comm, bytes, 10).ok());
      EXPECT_EQ(bytes, std::string("from zero\0!", 11));
    });
}

TEST(CommunicatorTest, OneRankIsEnough) {
  for (int size : {1, 2, 5, 8})
    onRanks(size, [&](Communicator &comm) {
      EXPECT_EQ(*anyRank(comm, comm.rank() == size - 1, 10), true);
      EXPECT_EQ(*anyRank(comm, false, 10), false);
    });
}

TEST(CommunicatorTest, BarrierWaitsForTheLast) {
  std::atomic<int> arrived{0};
  onRanks(8, [&](Communicator &comm) {
    if (comm.rank() == 5)
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    ++arrived;
    ASSERT_TRUE(barrier(comm, 10).ok());
    EXPECT_EQ(arrived, 8);
  });
}

TEST(CommunicatorTest, MessagesOfOneTagArriveInOrderAndOfAnotherByTheirTag) {
  onRanks(2, [&](Communicator &comm) {
    int values[3] = {10, 20, 30}, got[3] = {};
    std::vector<Communicator::Request> requests;
    if (comm.rank() == 0) {
      for (int i = 0; i < 3; ++i)
        requests.push_back(comm.send(1, i == 2 ? 9 : 4, &values[i], sizeof(int)));
    } else {
      requests.push_back(comm.receive(0, 9, &got[0], sizeof(int)));
      requests.push_back(comm.receive(0, 4, &got[1], sizeof(int)));
      requests.push_back(comm.receive(0, 4, &got[2], sizeof(int)));
    }
    ASSERT_TRUE(waitFor(comm, requests, 10).ok());
    if (comm.rank() == 1) {
      EXPECT_EQ(got[0], 30);
      EXPECT_EQ(got[1], 10);
      EXPECT_EQ(got[2], 20);
    }
  });
}

TEST(CommunicatorTest, ASendNeedsItsReceive) {
  onRanks(2, [&](Communicator &comm) {
    if (comm.rank() != 0)
      return;
    int value = 1;
    Communicator::Request request = comm.send(1, 0, &value, sizeof value);
    EXPECT_EQ(waitFor(comm, {&request, 1}, 0.05).code(), absl::StatusCode::kDeadlineExceeded);
  });
}

TEST(CommunicatorTest, LengthsMustAgree) {
  onRanks(2, [&](Communicator &comm) {
    int values[2] = {};
    Communicator::Request request = comm.rank() == 0 ? comm.send(1, 0, values, 4) : comm.receive(0, 0, values, 8);
    EXPECT_FALSE(waitFor(comm, {&request, 1}, 10).ok());
  });
}

TEST(CommunicatorTest, AnAbortEndsWhoWaits) {
  onRanks(2, [&](Communicator &comm) {
    if (comm.rank() == 0)
      return comm.abort(1);
    EXPECT_EQ(barrier(comm, 10).code(), absl::StatusCode::kAborted);
  });
}

TEST(CommunicatorTest, OneErrorIsEverybodys) {
  onRanks(4, [&](Communicator &comm) {
    EXPECT_TRUE(agree(comm, absl::OkStatus(), 10).ok());
    absl::Status own = comm.rank() == 2 ? absl::NotFoundError("no such file") : absl::OkStatus();
    absl::Status all = agree(comm, own, 10);
    EXPECT_EQ(all, comm.rank() == 2 ? own : absl::NotFoundError("rank 2: no such file"));
  });
}
