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

std::string repeated(const std::string &text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i)
    all += text;
  return all;
}

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
  for (const char *none : {"", "// Pattern Mine {\n", "Rewrite Fuse(last: Op);\n"})
    expectError(none, "@bad.pdll:1:1: error: a file of rules must have a pattern, found none\n");
  expectError("Pattern Broken {", "--set fusion.rules=[\"bad.pdll\"]: error: 'fusion.rules': no PDLL: ");
  expectOneClearError(
      space, "recipec compile gpt2.recipe -o x.bin --fusion-rules missing.pdll",
      "--set fusion.rules=[\"missing.pdll\"]: error: 'fusion.rules': @missing.pdll: cannot be read: No such file");
}

TEST_F(FusionRulesTest, ThatCouldNeverMatchAreNamed) {
  expectError(rule("Operands", "op<train.gelu>(gemm.0, y: Value, z: Value)"),
              "@bad.pdll:4:14: error: 'train.gelu' has 1 operand, got 3\n");
  expectError(rule("OpenOperands", "op<train.gelu>(gemm.0, y: Value, others: ValueRange)"),
              "@bad.pdll:4:14: error: 'train.gelu' has 1 operand, got 2\n");
  expectError(rule("Fewer", "op<train.bias_add>(gemm.0)"),
              "@bad.pdll:4:14: error: 'train.bias_add' has 2 operands, got 1\n");
  expectError(rule("Result", "op<train.gelu>(gemm.7)"),
              "@bad.pdll:4:29: error: 'train.contract' has 1 result, counted from 0, got number 7\n");
  expectError("Constraint Elementwise(v: Value);\n" + rule("OfValue", bias + ";\n  Elementwise(bias)"),
              "@bad.pdll:6:3: error: a rule has no other constraint than Elementwise(op), got Elementwise of");
  expectError(rule("Typed", "op<train.gelu>(gemm.0) -> (type<\"i3\">)"),
              "@bad.pdll:4:41: error: a rule must leave types open\n");
}

TEST_F(FusionRulesTest, OfWhichAPartWouldBeDroppedAreNamed) {
  std::string behind = rule("Behind", bias + ";\n  let gelu = op<train.gelu>(last.0)");
  expectError(
      behind.replace(behind.find("rewrite last"), 12, "rewrite gelu"),
      "@bad.pdll:5:14: error: every op of a rule must lead to the one that Fuse names, but this one does not\n");
  expectError("Rewrite Fuse(last: Op);\nPattern One {\n  let a = op<train.gelu>;\n  rewrite a with { Fuse(a); };\n}\n",
              "@bad.pdll:2:1: error: a rule must name at least two ops\n");
}

TEST_F(FusionRulesTest, ThatNoParserSurvivesAreRefused) {
  struct {
    const char *name;
    std::string text, message;
  } cases[] = {
      {"deep.mlir", repeated("module {", 6000), "@deep.mlir: must be nested at most 64 levels deep, got 6000\n"},
      {"quoted.mlir", repeated("module attributes {a = \"}//\"} {", 6000),
       "@quoted.mlir: must be nested at most 64 levels deep, got 6000\n"},
      {"arrows.mlir", repeated("() -> (", 6000), "@arrows.mlir: must be nested at most 64 levels deep, got 6000\n"},
      {"affine.mlir", "module attributes {a = affine_map<(d) -> (" + repeated("-", 400000) + "d)>} {}",
       "@affine.mlir: must have no affine maps or sets, got affine_map\n"},
      {"nested.mlir", "module { module { } }", ""},
      {"deep.pdll", repeated("op<train.gelu>(", 20000),
       "@deep.pdll: must be nested at most 64 levels deep, got 20000\n"},
      {"attr.pdll", rule("A", "op<train.gelu>(gemm.0) { a = attr<\"" + repeated("[", 20000) + "\"> }"),
       "@attr.pdll: must be nested at most 64 levels deep, got 20003\n"},
      {"itself.pdll", "#include \"itself.pdll\"\n", "mlir-pdll could not read @itself.pdll: "},
      {"large.pdll", "//" + std::string(1 << 20, ' '), "@large.pdll: must have at most 1048576 bytes, got 1048578\n"},
  };
  for (const auto &[name, text, message] : cases) {
    space.files().write(name, text);
    std::string begin = message.empty() ? "@nested.mlir:1:10: error: a file of rules has patterns and nothing else"
                                        : "--set fusion.rules=[\"" + std::string(name) + "\"]: error: 'fusion.rules': ";
    expectOneClearError(space, std::string("recipec compile gpt2.recipe -o x.bin --fusion-rules ") + name,
                        begin + message);
  }
  space.must("mkfifo fifo.pdll");
  for (std::string name : {"/dev/zero", "/dev/null", "fifo.pdll"})
    expectOneClearError(space, "timeout 20 recipec compile gpt2.recipe -o x.bin --fusion-rules " + name,
                        "--set fusion.rules=[\"" + name + "\"]: error: 'fusion.rules': " + (name[0] == '/' ? "" : "@") +
                            name + ": cannot be read: not a regular file\n");
}

TEST_F(FusionRulesTest, MayUseManyBracketsInCommentsAndArrows) {
  space.files().write("mine.pdll", "// " + repeated("[", 100) + "\n" + rule("Mine", bias) + "// " + repeated("(", 100));
  EXPECT_TRUE(contains(compile("--fusion-rules mine.pdll", "mine"), "Mine"));
}

} // namespace recipe::test
