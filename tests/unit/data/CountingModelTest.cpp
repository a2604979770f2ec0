#include "runtime/data/CountingModel.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <string>

using namespace recipe::rt;

namespace {

absl::Span<const uint8_t> bytes(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

// The same definition written from the textbook, with maps of strings and by recursion.
class Textbook {
public:
  Textbook(const std::string &training, size_t context) : longest(context) {
    for (size_t i = 0; i + context < training.size(); ++i)
      ++counts[context][training.substr(i, context + 1)];
    for (size_t length = context; length-- > 0;) {
      std::map<std::string, std::set<char>> before;
      for (const auto &[gram, count] : counts[length + 1])
        before[gram.substr(1)].insert(gram[0]);
      for (const auto &[gram, set] : before)
        counts[length][gram] = set.size();
    }
  }

  double probability(const std::string &before, char next) const {
    return at(before.substr(before.size() - std::min(longest, before.size())), next);
  }

private:
  double at(const std::string &context, char next) const {
    const std::map<std::string, size_t> &grams = counts.at(context.size());
    double lower = context.empty() ? 1.0 / 256 : at(context.substr(1), next);
    double total = 0, freed = 0, kept = 0;
    for (const auto &[gram, count] : grams) {
      if (gram.substr(0, context.size()) != context)
        continue;
      total += double(count);
      freed += discount(grams, count);
      if (gram.back() == next)
        kept = double(count) - discount(grams, count);
    }
    return total == 0 ? lower : kept / total + freed / total * lower;
  }

  static double discount(const std::map<std::string, size_t> &grams, size_t count) {
    double n[5] = {};
    for (const auto &[gram, times] : grams)
      if (times <= 4)
        ++n[times];
    int capped = int(std::min<size_t>(count, 3));
    double estimate = capped - (capped + 1) * (n[1] / (n[1] + 2 * n[2])) * n[capped + 1] / n[capped];
    return estimate >= 0.1 && estimate <= capped ? estimate : 0.5;
  }

  size_t longest;
  std::map<size_t, std::map<std::string, size_t>> counts;
};

std::string randomText(size_t size, int letters, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text;
  for (size_t i = 0; i < size; ++i)
    text.push_back(char('a' + std::min(random() % letters, random() % letters)));
  return text;
}

TEST(CountingModel, AgreesWithTheTextbook) {
  std::string heldOut = randomText(60, 8, 2);
  // The second text has a first discount of 1/5, the third one of 1/11, too little to be used.
  for (const std::string &training :
       {randomText(400, 6, 1) + "zzyzx", std::string("abbcc"), std::string("abbccddeeff")})
    for (int context : {0, 1, 2, 3}) {
      CountingModel model(bytes(training), context);
      Textbook textbook(training, size_t(context));
      for (size_t i = 0; i < heldOut.size(); ++i) {
        std::string before = heldOut.substr(0, i);
        EXPECT_NEAR(model.probability(bytes(before), uint8_t(heldOut[i])), textbook.probability(before, heldOut[i]),
                    1e-13);
      }
    }
}

TEST(CountingModel, IsADistributionAfterEveryContext) {
  std::string training = randomText(3000, 5, 3);
  for (int context = 0; context <= CountingModel::MaxContext; ++context) {
    CountingModel model(bytes(training), context);
    for (const std::string &before : {std::string(), std::string("a"), std::string("never seen"), training,
                                      training.substr(0, 100), std::string("abababab")}) {
      double sum = 0;
      for (int next = 0; next < 256; ++next) {
        double probability = model.probability(bytes(before), uint8_t(next));
        EXPECT_GT(probability, 0);
        sum += probability;
      }
      EXPECT_NEAR(sum, 1, 1e-12) << "context " << context << " after " << before.substr(0, 10);
    }
  }
}

TEST(CountingModel, WorksByHand) {
  // Counts a 2, b 1; n1 = n2 = 1, so the discounts are 1 - 2/3 and 2 - 0.
  CountingModel model(bytes("aab"), 0);
  EXPECT_DOUBLE_EQ(model.probability({}, 'a'), 7.0 / 3 / 256 / 3);
  EXPECT_DOUBLE_EQ(model.probability({}, 'b'), (2.0 / 3 + 7.0 / 3 / 256) / 3);
}

TEST(CountingModel, UsesOnlyTheLastBytes) {
  CountingModel model(bytes(randomText(2000, 4, 5)), 2);
  EXPECT_EQ(model.probability(bytes("xyzab"), 'c'), model.probability(bytes("ab"), 'c'));
  EXPECT_NE(model.probability(bytes("ab"), 'c'), model.probability(bytes("bb"), 'c'));
}

TEST(CountingModel, LearnsWhatItsContextCanHold) {
  std::string cycle;
  for (int i = 0; i < 2000; ++i)
    cycle += "abac"; // the byte after an a needs two bytes of context
  double one = crossEntropy(CountingModel(bytes(cycle), 1), bytes(cycle));
  double two = crossEntropy(CountingModel(bytes(cycle), 2), bytes(cycle));
  EXPECT_NEAR(one, std::log(2) / 2, 0.01);
  EXPECT_LT(two, 0.01);
}

TEST(CountingModel, CrossEntropyPredictsEachByteButTheFirst) {
  CountingModel model(bytes("abcabcabd"), 2);
  std::string heldOut = "qab";
  double expected = -(std::log(model.probability(bytes("q"), 'a')) + std::log(model.probability(bytes("qa"), 'b'))) / 2;
  EXPECT_DOUBLE_EQ(crossEntropy(model, bytes(heldOut)), expected);
}

TEST(CountingModel, UnigramByHand) {
  // a: (3 + 1) of 4 + 256, q: 1 of 260; the first byte is not predicted.
  EXPECT_DOUBLE_EQ(unigramCrossEntropy(bytes("aaab"), bytes("baq")), -(std::log(4.0 / 260) + std::log(1.0 / 260)) / 2);
}

} // namespace
