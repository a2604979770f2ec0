// What the runtime does is accepted on every number of ranks; no mutant of it is.
#include "passes/plan/OrderProof.h"
#include <gtest/gtest.h>

using namespace recipe;
using namespace recipe::plan;
using recipe::abi::Transfer;

namespace {

// More than one chunk, odd sizes, fewer elements than ranks, one element.
std::vector<OrderedCollective> collectives() {
  return {{"long", 1000003, 4}, {"short", 3, 4}, {"odd", 100001, 4}, {"one", 1, 4}, {"doubles", 300000, 8}};
}

using Script = std::vector<Transfer>;

// Replaces the messages of one rank in one collective.
std::optional<std::string> withScript(const RankScripts &base, int rank, size_t collective, const Script &script) {
  RankScripts mutant = base;
  mutant.expand = [&, rank, collective](int otherRank, size_t other) {
    return otherRank == rank && other == collective ? script : base.expand(otherRank, other);
  };
  return findCounterExample(mutant);
}

TEST(OrderProof, AcceptsWhatTheRuntimeDoes) {
  for (int ranks : {1, 2, 4, 8, 16, 64}) {
    auto example = findCounterExample(scriptsOf(collectives(), ranks));
    EXPECT_FALSE(example) << ranks << ": " << *example;
  }
}

// Every message of every rank.
TEST(OrderProof, RejectsEveryChangedMessage) {
  std::vector<std::pair<const char *, std::function<void(Script &, size_t)>>> changes = {
      {"dropped", [](Script &s, size_t i) { s.erase(s.begin() + i); }},
      {"doubled", [](Script &s, size_t i) { s.insert(s.begin() + i, s[i]); }},
      {"to another rank", [](Script &s, size_t i) { s[i].partner ^= 3; }},
      {"shorter", [](Script &s, size_t i) { --s[i].elements; }},
      {"longer", [](Script &s, size_t i) { ++s[i].elements; }},
      {"elsewhere", [](Script &s, size_t i) { s[i].begin += s[i].begin ? -1 : 1; }},
      {"the other way",
       [](Script &s, size_t i) { s[i].kind = s[i].kind == Transfer::Send ? Transfer::Receive : Transfer::Send; }},
  };
  int mutants = 0;
  RankScripts base = scriptsOf(collectives(), 4);
  for (int rank = 0; rank < 4; ++rank)
    for (size_t collective : {0, 1, 2}) {
      Script script = base.expand(rank, collective);
      for (size_t i = 0; i < script.size(); ++i)
        for (auto &[name, change] : changes) {
          Script changed = script;
          change(changed, i);
          EXPECT_TRUE(withScript(base, rank, collective, changed))
              << "rank " << rank << " '" << base.collectives[collective].name << "' message " << i << " " << name;
          ++mutants;
        }
    }
  EXPECT_GT(mutants, 200);
  RecordProperty("mutants", mutants);
}

TEST(OrderProof, RejectsAnotherSum) {
  int mutants = 0;
  RankScripts base = scriptsOf(collectives(), 4);
  for (int rank = 0; rank < 4; ++rank) {
    Script script = base.expand(rank, 0);
    for (size_t i = 0; i < script.size(); ++i) {
      if (script[i].kind != Transfer::Receive)
        continue;
      Script changed = script;
      changed[i].combine = !changed[i].combine;
      EXPECT_TRUE(withScript(base, rank, 0, changed)) << rank << " " << i << " combined or not";
      ++mutants;
      if (!script[i].combine)
        continue;
      changed = script;
      changed[i].incomingIsLeft = !changed[i].incomingIsLeft;
      EXPECT_TRUE(withScript(base, rank, 0, changed)) << rank << " " << i << " from the other side";
      ++mutants;
    }
  }
  EXPECT_GT(mutants, 20);
  // Partners at distance 2 first: every rank gets a sum of all, but by another tree.
  RankScripts other = base;
  other.expand = [&](int rank, size_t collective) {
    auto swapped = [](int r) { return (r & 1) << 1 | r >> 1; };
    Script script = base.expand(swapped(rank), collective);
    for (Transfer &transfer : script) {
      transfer.partner = swapped(transfer.partner);
      transfer.incomingIsLeft = transfer.combine && transfer.partner < rank;
    }
    return script;
  };
  auto example = findCounterExample(other);
  ASSERT_TRUE(example);
  EXPECT_NE(example->find("adds parts of a sum that are no adjacent pair in 'long'"), std::string::npos) << *example;
}

// A whole collective on one rank.
TEST(OrderProof, RejectsAnotherOrderOfCollectives) {
  int mutants = 0;
  for (int ranks : {2, 4, 8}) {
    RankScripts base = scriptsOf(collectives(), ranks);
    size_t count = base.collectives.size();
    for (int rank = 0; rank < ranks; ++rank)
      for (size_t i = 0; i < count; ++i) {
        auto expectRejected = [&](const char *what, std::function<void(std::vector<size_t> &)> change) {
          RankScripts mutant = base;
          change(mutant.orders[rank]);
          EXPECT_TRUE(findCounterExample(mutant)) << ranks << " ranks, rank " << rank << ", " << i << " " << what;
          ++mutants;
        };
        expectRejected("dropped", [&](auto &order) { order.erase(order.begin() + i); });
        expectRejected("doubled", [&](auto &order) { order.insert(order.begin() + i, i); });
        if (i + 1 < count)
          expectRejected("later", [&](auto &order) { std::swap(order[i], order[i + 1]); });
      }
  }
  EXPECT_GT(mutants, 150);
}

TEST(OrderProof, CounterExamplesNameWhoWaitsWhereAndForWhat) {
  RankScripts scripts = scriptsOf({{"all_reduce grad:wte", 64, 4}, {"all_reduce grad:wpe", 64, 4}}, 2);
  scripts.orders[1].pop_back();
  EXPECT_EQ(*findCounterExample(scripts),
            "rank 0 waits in 'all_reduce grad:wpe' for rank 1 to receive 128 bytes, which has ended");
  scripts.orders[1] = {1, 0};
  scripts.collectives[1].elements = 128;
  scripts.expand = [](int rank, size_t collective) {
    return recipe::abi::expandAllReduce(rank, 2, collective ? 128 : 64, 1024);
  };
  EXPECT_EQ(*findCounterExample(scripts),
            "rank 1 takes 256 bytes from rank 0, which sends 128 in 'all_reduce grad:wpe'");
}

// Both ranks send first and receive then: without buffers neither ever ends.
TEST(OrderProof, DoesNotRelyOnBuffers) {
  RankScripts scripts = scriptsOf({{"sum", 64, 4}}, 2);
  auto good = scripts.expand;
  scripts.expand = [good](int rank, size_t collective) {
    Script script = good(rank, collective);
    std::sort(script.begin(), script.end(), [](const Transfer &a, const Transfer &b) {
      return std::pair(a.phase, int(a.kind)) < std::pair(b.phase, int(b.kind)); // sends before receives
    });
    for (size_t i = 0; i < script.size(); ++i)
      script[i].exchange = int(i);
    return script;
  };
  auto example = findCounterExample(scripts);
  ASSERT_TRUE(example);
  EXPECT_EQ(*example, "rank 0 waits in 'sum' for rank 1 to receive 128 bytes, which is in 'sum'");
}

} // namespace
