// Inverse frequencies of rotary positions, in fp64.
#ifndef MODELS_ROPE_H
#define MODELS_ROPE_H

#include "models/ConfigReader.h"

namespace recipe::models {

struct RopeScaling {
  enum class Type { Default, Linear, Llama3 };
  Type type = Type::Default;
  double factor = 1;
  // Llama3: wavelengths above originalPositions / lowFreqFactor are stretched by the factor, those below
  // originalPositions / highFreqFactor are kept, those between are blended.
  double lowFreqFactor = 1, highFreqFactor = 4;
  int64_t originalPositions = 8192;
};

struct RopeConfig {
  double theta = 10000;
  RopeScaling scaling;
};

// Below 1 frequencies would grow from pair to pair; beyond the most, all positions of the slow pairs look the same.
inline constexpr NumberRange kThetaRange = {1, 1e15};

// Keys inside `rope_scaling` or `rope_parameters`.
llvm::ArrayRef<ConfigKey> ropeKeys();

// Reads `rope_theta` with `rope_scaling`, or `rope_parameters`, of a config.
RopeConfig readRope(ConfigReader &config, std::vector<ConfigProblem> &problems);

// headSize / 2 values.
std::vector<double> inverseFrequencies(const RopeConfig &rope, int64_t headSize);

} // namespace recipe::models
#endif
