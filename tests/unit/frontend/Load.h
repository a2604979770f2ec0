// A small valid recipe and short ways to load variants of it.
#ifndef TESTS_UNIT_FRONTEND_LOAD_H
#define TESTS_UNIT_FRONTEND_LOAD_H

#include "compiler/frontend/ResolvedRecipe.h"

#include "gtest/gtest.h"

#include <sstream>
#include <string>
#include <vector>

namespace recipe::frontend {

inline const char *const validRecipe = "model:\n"                     // 1
                                       "  type: llama\n"              // 2
                                       "  config: {hidden_size: 8}\n" // 3
                                       "data:\n"                      // 4
                                       "  path: train.tok\n"          // 5
                                       "  seq_length: 16\n"           // 6
                                       "  batch_size: 8\n"            // 7
                                       "optim:\n"                     // 8
                                       "  lr: 1e-3\n"                 // 9
                                       "  max_steps: 100\n";          // 10

// The valid recipe with one line in place of another; line 11 appends.
inline std::string withLine(unsigned number, const std::string &line) {
  std::istringstream in(validRecipe);
  std::string text, result;
  for (unsigned i = 1; std::getline(in, text); ++i)
    result += (i == number ? line : text) + "\n";
  return number == 11 ? result + line + "\n" : result;
}

inline std::vector<std::string> messages(const LoadedRecipe &loaded) {
  std::vector<std::string> texts;
  for (const Diagnostic &diagnostic : loaded.diagnostics)
    texts.push_back(toString(diagnostic));
  return texts;
}

// The recipe, which must have no problem.
inline ResolvedRecipe valid(const std::string &text, const std::vector<std::string> &sets = {},
                            const std::string &path = "/work/r.recipe") {
  LoadedRecipe loaded = loadRecipeText(text, path, sets);
  EXPECT_EQ(messages(loaded), std::vector<std::string>());
  return loaded.recipe.value_or(ResolvedRecipe{});
}

inline std::string valueOf(const ResolvedRecipe &resolved, const std::string &key) {
  for (const Entry &entry : resolved.entries)
    if (entry.key == key)
      return entry.value;
  return "(not there)";
}

inline std::string originOf(const ResolvedRecipe &resolved, const std::string &key) {
  for (const Entry &entry : resolved.entries)
    if (entry.key == key)
      return entry.origin;
  return "(not there)";
}

} // namespace recipe::frontend

#endif // TESTS_UNIT_FRONTEND_LOAD_H
