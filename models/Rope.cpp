#include "models/Rope.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include <cmath>

using namespace llvm;
using namespace recipe::models;

// Wavelengths in units of the positions before scaling.
static constexpr NumberRange kBoundRange = {1e-6, 1e6};

static const ConfigKey keys[] = {
    {"rope_type", KeyUse::Used, "default, linear or llama3", nullptr, "scaling_type"},
    {"type", KeyUse::Used, "old name of rope_type"},
    {"rope_theta", KeyUse::Used, "base of the frequencies; only in rope_parameters", nullptr, "base", kThetaRange},
    {"factor", KeyUse::Used, "linear, llama3: how much longer wavelengths become", nullptr, nullptr, {1, 1e6}},
    {"low_freq_factor", KeyUse::Used, "llama3: bound of the wavelengths that become longer", nullptr, nullptr,
     kBoundRange},
    {"high_freq_factor", KeyUse::Used, "llama3: bound of the wavelengths that stay", nullptr, nullptr, kBoundRange},
    {"original_max_position_embeddings", KeyUse::Used, "llama3: positions before scaling"},
    {"partial_rotary_factor", KeyUse::Fixed, "whole heads are rotated", "[1, null]"},
};

ArrayRef<ConfigKey> recipe::models::ropeKeys() { return keys; }

static void readScaling(ConfigReader &rope, StringRef typeKey, RopeScaling &scaling) {
  std::string type = rope.text(typeKey, "default");
  bool known = type == "default" || type == "linear" || type == "llama3";
  if (!known) {
    rope.problem(typeKey, "must be \"default\", \"linear\" or \"llama3\", got \"" + type + "\"");
    return;
  }
  bool llama3 = type == "llama3";
  for (StringRef key : {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"})
    if (rope.has(key) && !(llama3 || (type == "linear" && key == "factor")))
      rope.problem(key, "does not apply to '" + rope.path(typeKey) + "' \"" + type + "\"");
  if (type == "default")
    return;
  scaling.type = llama3 ? RopeScaling::Type::Llama3 : RopeScaling::Type::Linear;
  scaling.factor = rope.number("factor");
  if (!llama3)
    return;
  scaling.lowFreqFactor = rope.number("low_freq_factor");
  scaling.highFreqFactor = rope.number("high_freq_factor");
  scaling.originalPositions = rope.size("original_max_position_embeddings", std::nullopt, kMostIds);
  if (rope.sound({"low_freq_factor", "high_freq_factor"}) && scaling.lowFreqFactor >= scaling.highFreqFactor)
    rope.problem("low_freq_factor", "must be less than high_freq_factor, got " + numberText(scaling.lowFreqFactor) +
                                        " and " + numberText(scaling.highFreqFactor));
}

RopeConfig recipe::models::readRope(ConfigReader &config, std::vector<ConfigProblem> &problems) {
  RopeConfig result;
  const json::Object *scaling = config.object("rope_scaling");
  const json::Object *parameters = config.object("rope_parameters");
  if (scaling && parameters) {
    config.problem("rope_parameters", "must not be given together with 'rope_scaling'");
    return result;
  }
  if (parameters && config.has("rope_theta"))
    config.problem("rope_theta", "must not be given together with 'rope_parameters'");
  result.theta = config.number("rope_theta", 10000);
  if (!scaling && !parameters)
    return result;
  ConfigReader rope(scaling ? *scaling : *parameters, {ropeKeys()}, scaling ? "rope_scaling" : "rope_parameters",
                    problems);
  if (scaling && rope.has("rope_theta"))
    rope.problem("rope_theta", "belongs outside 'rope_scaling'");
  if (parameters)
    result.theta = rope.number("rope_theta", 10000);
  if (rope.has("type") && rope.has("rope_type") && rope.text("type", "") != rope.text("rope_type", ""))
    rope.problem("type", "must equal 'rope_type', got \"" + rope.text("type", "") + "\" and \"" +
                             rope.text("rope_type", "") + "\"");
  readScaling(rope, rope.has("rope_type") || !rope.has("type") ? "rope_type" : "type", result.scaling);
  return result;
}

static double scaleLlama3(double frequency, const RopeScaling &scaling) {
  const double tau = 6.283185307179586;
  double positions = double(scaling.originalPositions);
  double wavelength = tau / frequency;
  if (wavelength < positions / scaling.highFreqFactor)
    return frequency;
  if (wavelength > positions / scaling.lowFreqFactor)
    return frequency / scaling.factor;
  double kept = (positions / wavelength - scaling.lowFreqFactor) / (scaling.highFreqFactor - scaling.lowFreqFactor);
  return (1 - kept) * (frequency / scaling.factor) + kept * frequency;
}

std::vector<double> recipe::models::inverseFrequencies(const RopeConfig &rope, int64_t headSize) {
  std::vector<double> frequencies;
  for (int64_t i = 0; i < headSize / 2; ++i) {
    double frequency = std::pow(rope.theta, -double(2 * i) / double(headSize));
    switch (rope.scaling.type) {
    case RopeScaling::Type::Default:
      break;
    case RopeScaling::Type::Linear:
      frequency /= rope.scaling.factor;
      break;
    case RopeScaling::Type::Llama3:
      frequency = scaleLlama3(frequency, rope.scaling);
      break;
    }
    frequencies.push_back(frequency);
  }
  return frequencies;
}
