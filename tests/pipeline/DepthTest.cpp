// Compile time follows depth: nothing in the pipeline looks through all layers for each layer.
#include "TinyRecipe.h"
#include <ctime>
#include <gtest/gtest.h>

using namespace recipe;
using namespace recipe::test;

// Seconds of this process on a CPU, which other processes do not add to, for all phases before code generation.
static double secondsFor(int layers) {
  std::string recipe = kTinyLlama;
  recipe.replace(recipe.find("num_hidden_layers: 2"), 20, "num_hidden_layers: " + std::to_string(layers));
  std::clock_t begin = std::clock();
  std::unique_ptr<Compiled> compiled = compileText(recipe, "budget");
  double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(compiled->outcome, Outcome::Done) << compiled->messages;
  return seconds;
}

TEST(Depth, TimePerLayerStaysFlat) {
  secondsFor(2); // what only the first compile pays
  double few = secondsFor(40), many = secondsFor(200);
  std::printf("40 layers %.2f s, 200 layers %.2f s\n", few, many);
  // 5 where everything is linear; one pass that is not makes it 12 and more.
  EXPECT_LT(many / few, 10);
}
