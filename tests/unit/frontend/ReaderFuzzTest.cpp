// Whatever the text, reading ends with a recipe or with sorted diagnostics that have a place in it.
#include "compiler/frontend/Describe.h"
#include "tests/unit/frontend/Load.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <tuple>

namespace recipe::frontend {
namespace {

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// One small change: a byte, a piece that YAML finds interesting, a cut, a repetition or a move.
std::string mutate(std::string text, std::mt19937_64 &random) {
  static const std::string pieces[] = {":",
                                       "- ",
                                       "[",
                                       "]",
                                       "{",
                                       "}",
                                       "&a ",
                                       "*a",
                                       "!x ",
                                       "|\n",
                                       ">\n",
                                       "'",
                                       "\"",
                                       "#",
                                       "\n",
                                       "\t",
                                       "  ",
                                       "?",
                                       "---\n",
                                       "...\n",
                                       "%YAML 1.2\n",
                                       "<<: *a\n",
                                       "~",
                                       ",",
                                       "@",
                                       "-1",
                                       "1e999",
                                       ".inf",
                                       "null",
                                       "\xc3\xa9",
                                       "\xff",
                                       std::string(1, '\0'),
                                       "tensor_parallel_size: 2\n",
                                       "optim:\n",
                                       "config: {a: [b, {c: d}]}\n"};
  size_t at = random() % (text.size() + 1), length = random() % 24;
  switch (random() % 6) {
  case 0:
    if (at < text.size())
      text[at] = static_cast<char>(random());
    break;
  case 1:
    text.insert(at, pieces[random() % std::size(pieces)]);
    break;
  case 2:
    text.erase(at, length);
    break;
  case 3:
    text.insert(at, text.substr(random() % (text.size() + 1), length * 4));
    break;
  case 4:
    text.insert(at, std::string(1 + random() % 80, "[{-: "[random() % 5]));
    break;
  default:
    if (at < text.size())
      std::swap(text[at], text[random() % text.size()]);
    break;
  }
  return text;
}

void checkDiagnostics(const std::string &text, const LoadedRecipe &loaded) {
  ASSERT_FALSE(loaded.diagnostics.empty()) << text;
  size_t lines = std::count(text.begin(), text.end(), '\n') + 2;
  std::tuple<unsigned, unsigned> last{0, 0};
  for (const Diagnostic &d : loaded.diagnostics) {
    EXPECT_FALSE(d.message.empty());
    EXPECT_LE(d.at.line, lines) << toString(d) << "\n" << text;
    EXPECT_EQ(d.at.line == 0, d.at.column == 0);
    std::tuple<unsigned, unsigned> place{d.at.line, d.at.column};
    EXPECT_LE(last, place) << text;
    last = place;
  }
}

TEST(ReaderFuzz, EndsWithARecipeOrWithDiagnostics) {
  std::vector<std::string> seeds = {validRecipe, readFile(RECIPEC_SOURCE_DIR "/recipes/quickstart.recipe"),
                                    readFile(RECIPEC_SOURCE_DIR "/tests/unit/frontend/data/llama7b-32ranks.yaml")};
  std::mt19937_64 random(20240229);
  size_t valids = 0, total = 4000;
  for (size_t i = 0; i < total; ++i) {
    std::string text = seeds[i % seeds.size()];
    for (size_t changes = 1 + random() % 4; changes > 0; --changes)
      text = mutate(text, random);
    LoadedRecipe loaded = loadRecipeText(text, "/nowhere/r.recipe", {});
    if (!loaded.recipe) {
      checkDiagnostics(text, loaded);
      continue;
    }
    ++valids;
    EXPECT_TRUE(loaded.diagnostics.empty());
    LoadedRecipe again = loadRecipeText(renderResolved(*loaded.recipe), "/nowhere/r.recipe", {});
    ASSERT_TRUE(again.recipe) << text;
    EXPECT_EQ(again.recipe->recipe.SerializeAsString(), loaded.recipe->recipe.SerializeAsString()) << text;
  }
  // Both outcomes must really occur, or the test says nothing.
  EXPECT_GT(valids, total / 50);
  EXPECT_LT(valids, total / 2);
}

TEST(ReaderFuzz, AliasesDoNotExplode) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    std::string alias = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + alias;
    for (int k = 0; k < 7; ++k)
      text += ", " + alias;
    text += "]\n";
  }
  std::vector<std::string> found = messages(loadRecipeText(text, "r.recipe", {}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("more than 100000 values, aliases expanded"), std::string::npos) << found[0];
}

TEST(ReaderFuzz, AnAliasInsideItsAnchor) {
  EXPECT_EQ(messages(loadRecipeText("model: &m {config: *m}\n", "r.recipe", {})),
            std::vector<std::string>{"r.recipe:1:20: error: an alias may not stand inside its own anchor"});
}

TEST(ReaderFuzz, DeepNesting) {
  for (size_t depth : {65, 1000, 100000}) {
    std::vector<std::string> found = messages(loadRecipeText("model: " + std::string(depth, '['), "r.recipe", {}));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NE(found[0].find("nested deeper than 64 levels"), std::string::npos) << found[0];
  }
}

} // namespace
} // namespace recipe::frontend
