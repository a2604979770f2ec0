// Rules of the user: found, tried first, explained, required, refused when they are wrong.
#include "tests/e2e/OneClearError.h"
#include <gtest/gtest.h>

namespace recipe::test {

namespace {

std::string rule(const std::string &name, const std::string &last, const std::string &call = "Fuse") {
  return "Rewrite " + call + "(last: Op);\nPattern " + name +
         " {\n  let gemm = op<train.contract>;\n  let last = " + last + ";\n  rewrite last with { " + call +
         "(last); };\n}\n";
}

const std::string bias = "op<train.bias_add>(gemm.0, bias: Value)";

struct FusionRulesTest : testing::Test {
  std::string compile(const std::string &options, const std::string &name) {
    space.must("recipec compile gpt2.recipe " + options + " --dump-dir " + name + " --dump-after fuse -o " + name +
               ".bin");
    return space.must("cat " + name + "/*-fuse.txt").out; // its number is that of the phase
  }
  std::string weights(const std::string &name) {
    space.must("reciperun " + name + ".bin --output-dir run-" + name);
    return space.files().read("run-" + name + "/model.safetensors");
  }
  void expectError(const std::string &text, const std::string &message) {
    space.files().write("bad.pdll", text);
    expectOneClearError(space, "recipec compile gpt2.recipe -o x.bin --fusion-rules bad.pdll", message);
  }

  Workspace space;
};

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_F(FusionRulesTest, AreTriedBeforeTheDefaultOnesAndKeepTheBits) {
  space.files().write("mine.pdll", rule("Mine", bias));
  std::string report = compile("--fusion-rules mine.pdll", "mine");
  EXPECT_TRUE(contains(report, "mlp.c_fc+bias_add+gelu: Mine, GemmBiasGelu\n")) << report;
  EXPECT_EQ(compile("--set 'fusion.rules=[mine.pdll]'", "set"), report);
  EXPECT_FALSE(contains(compile("", "default"), "Mine"));
  EXPECT_EQ(compile("--set fusion.enabled=false", "off").find("region"), std::string::npos);
  std::string expected = weights("off");
  EXPECT_TRUE(weights("mine") == expected);
  EXPECT_TRUE(weights("default") == expected);
}

TEST_F(FusionRulesTest, ThatAreRequiredMustMatch) {
  space.files().write("met.pdll", rule("Met", bias, "Require"));
  compile("--fusion-rules met.pdll", "met");
  expectError(rule("Unmet", "op<train.rope>(gemm.0, others: ValueRange)", "Require"),
              "--set fusion.rules=[\"bad.pdll\"]: error: rule Unmet requires a match, but there is none\n");
  expectError(
      rule("Unmet", "op<train.gelu>(gemm.0)", "Require"),
      "--set fusion.rules=[\"bad.pdll\"]: error: rule Unmet requires a match, but there is none; nearest at "
      "'train.gelu' "
      "transformer.h.0.mlp.act: operand 0 of 'train.gelu' comes from 'train.bias_add', not from 'train.contract'\n");
  // Two products in one region.
  expectError(rule("Refused", "op<train.contract>(gemm.0, rhs: Value)", "Require"), "--set");
}

TEST_F(FusionRulesTest, ThatAreWrongAreNamed) {
  expectError(rule("Misspelt", "op<train.bias_ad>(gemm.0, bias: Value)"),
              "@bad.pdll:4:14: error: a rule names ops of the train dialect that compute, got train.bias_ad\n");
  expectError(rule("Attribute", "op<train.dropout>(gemm.0) { q = attr<\"1.0 : f64\"> }"),
              "@bad.pdll:4:14: error: 'train.dropout' has no attribute \"q\"\n");
  expectError(rule("Rewrites", bias, "Replace"),
              "@bad.pdll:2:1: error: the rewrite of a rule must be Fuse(op) or Require(op) and nothing else\n");
  expectError("Constraint OneUse(v: Value);\n" + rule("Constrained", bias + ";\n  OneUse(gemm.0)"),
              "@bad.pdll:6:3: error: a rule has no other constraint than Elementwise(op), got OneUse\n");
  expectError("Pattern Broken {", "--set fusion.rules=[\"bad.pdll\"]: error: 'fusion.rules' are no PDLL: ");
  expectOneClearError(
      space, "recipec compile gpt2.recipe -o x.bin --fusion-rules missing.pdll",
      "--set fusion.rules=[\"missing.pdll\"]: error: 'fusion.rules' cannot be read: @missing.pdll: No such file");
}

} // namespace recipe::test
