#include "runtime/loader/RunTimeKeys.h"
#include "tests/abi/HandWrittenStep.h"
#include <gtest/gtest.h>

namespace recipe::test {

static std::string refusal(const std::vector<std::string> &overrides) {
  absl::StatusOr<rt::RunTimeKeys> keys = rt::RunTimeKeys::resolve(makeLineStep(), overrides);
  return keys.ok() ? "" : std::string(keys.status().message());
}

static rt::RunTimeKeys resolve(const std::vector<std::string> &overrides) {
  absl::StatusOr<rt::RunTimeKeys> keys = rt::RunTimeKeys::resolve(makeLineStep(), overrides);
  EXPECT_TRUE(keys.ok()) << keys.status().message();
  return *keys;
}

TEST(RunTimeKeys, CompiledValues) {
  rt::RunTimeKeys keys = resolve({});
  EXPECT_EQ(keys.runValues()[0], 0.125);
  EXPECT_EQ(keys.runValues()[2], 2); // cosine
  EXPECT_EQ(keys.runValues()[5], -1) << "not set";
  EXPECT_EQ(keys.text("experiment.output_dir", ""), "output");
  EXPECT_EQ(keys.integer("optim.max_steps", 0), 10);
  EXPECT_TRUE(keys.boolean("data.shuffle", false));
  EXPECT_EQ(keys.integer("not.there", 17), 17);
}

TEST(RunTimeKeys, Overrides) {
  rt::RunTimeKeys keys =
      resolve({"optim.lr=1e-2", "optim.scheduler=linear", "data.shuffle=false", "optim.lr=0.5", "data.path=a=b.tok"});
  EXPECT_EQ(keys.runValues()[0], 0.5);
  EXPECT_EQ(keys.number("optim.lr", 0), 0.5);
  EXPECT_EQ(keys.runValues()[2], 1);
  EXPECT_FALSE(keys.boolean("data.shuffle", true));
  EXPECT_EQ(keys.text("data.path", ""), "a=b.tok");
}

TEST(RunTimeKeys, NumbersAndBooleansAreThoseOfRecipec) {
  for (const char *text : {"0x10", "0x1p-3", " 1", "1 ", "+-1", "nan", "inf", "1e999", ""})
    EXPECT_EQ(refusal({std::string("optim.lr=") + text}),
              std::string("'optim.lr' must be a number, got '") + text + "'");
  for (const char *text : {"0x10", " 3", "3 ", "3.0", "+-3", ""})
    EXPECT_EQ(refusal({std::string("optim.max_steps=") + text}),
              std::string("'optim.max_steps' must be a whole number, got '") + text + "'");
  EXPECT_EQ(resolve({"optim.lr=+.5"}).number("optim.lr", 0), 0.5);
  EXPECT_EQ(resolve({"optim.max_steps=+30"}).integer("optim.max_steps", 0), 30);
  for (const char *text : {"true", "True", "TRUE"}) {
    EXPECT_TRUE(resolve({std::string("data.shuffle=") + text}).boolean("data.shuffle", false));
    EXPECT_EQ(resolve({std::string("data.shuffle=") + text}).text("data.shuffle", ""), "true");
  }
  for (const char *text : {"false", "False", "FALSE"})
    EXPECT_FALSE(resolve({std::string("data.shuffle=") + text}).boolean("data.shuffle", true));
  for (const char *text : {"tRUE", "yes", "1", ""})
    EXPECT_EQ(refusal({std::string("data.shuffle=") + text}),
              std::string("'data.shuffle' must be true or false, got '") + text + "'");
}

TEST(RunTimeKeys, OneTextOrAList) {
  using List = std::vector<std::string>;
  EXPECT_EQ(resolve({}).list("data.path"), List{});
  EXPECT_EQ(resolve({"data.path="}).list("data.path"), List{});
  EXPECT_EQ(resolve({"data.path=a b,c.tok"}).list("data.path"), List{"a b,c.tok"});
  EXPECT_EQ(resolve({"data.path=[a.tok]"}).list("data.path"), List{"a.tok"});
  EXPECT_EQ(resolve({"data.path=[a.tok,  b/c d.tok ]"}).list("data.path"), (List{"a.tok", "b/c d.tok"}));
  EXPECT_EQ(resolve({R"(data.path=["a, b.tok", "[c]"])"}).list("data.path"), (List{"a, b.tok", "[c]"}));
  EXPECT_EQ(refusal({"data.path=[a.tok"}),
            "'data.path' must be text or a list of text, a list must end with ], got '[a.tok'");
  for (std::string empty : {"[]", "[a.tok,]", "[\"\"]"})
    EXPECT_EQ(refusal({"data.path=" + empty}),
              "'data.path' must be text or a list of text, no element of a list may be empty, got '" + empty + "'");
}

TEST(RunTimeKeys, OneReplacesItsRival) {
  rt::RunTimeKeys keys = resolve({"optim.warmup_steps=3"});
  EXPECT_EQ(keys.runValues()[5], 3);
  EXPECT_EQ(keys.runValues()[4], -1);
  EXPECT_EQ(keys.text("optim.warmup_ratio", "x"), "");
  EXPECT_EQ(refusal({"optim.warmup_steps=3", "optim.warmup_ratio=0.5"}),
            "only one of 'optim.warmup_steps' and 'optim.warmup_ratio' may be set");
}

TEST(RunTimeKeys, Refusals) {
  EXPECT_EQ(refusal({"optim.lr"}), "--set must have the form key=value, got 'optim.lr'");
  EXPECT_EQ(refusal({"optim.lr=fast"}), "'optim.lr' must be a number, got 'fast'");
  EXPECT_EQ(refusal({"optim.lr="}), "'optim.lr' must be a number, got ''");
  EXPECT_EQ(refusal({"optim.lr=nan"}), "'optim.lr' must be a number, got 'nan'");
  EXPECT_EQ(refusal({"optim.lr=0"}), "'optim.lr' must be > 0, got 0");
  EXPECT_EQ(refusal({"optim.decay=1.5"}), "'optim.decay' must be <= 1, got 1.5");
  EXPECT_EQ(refusal({"optim.max_steps=1.5"}), "'optim.max_steps' must be a whole number, got '1.5'");
  EXPECT_EQ(refusal({"data.shuffle=maybe"}), "'data.shuffle' must be true or false, got 'maybe'");
  EXPECT_EQ(refusal({"optim.scheduler=step"}), "'optim.scheduler' must be one of constant, linear, cosine, got 'step'");
  EXPECT_EQ(refusal({"optim.lrr=1"}), "unknown key 'optim.lrr'; did you mean 'optim.lr'?");
  EXPECT_EQ(refusal({"lr=1"}), "unknown key 'lr'; did you mean 'optim.lr'?");
  EXPECT_NE(refusal({"zzzzzzzzzz=1"}).find("Keys that a run may change: experiment.seed, "), std::string::npos);
  EXPECT_EQ(refusal({"data.batch_size=4"}).find("'data.batch_size' is compiled in with the value 2; change the recipe"),
            0u);
}

TEST(RunTimeKeys, ReportsAllProblems) {
  EXPECT_EQ(refusal({"lr=1", "optim.decay=2", "optim.max_steps=7"}),
            "unknown key 'lr'; did you mean 'optim.lr'?\n'optim.decay' must be <= 1, got 2");
}

} // namespace recipe::test
