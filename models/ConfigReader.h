// Reads a Hugging Face config.json against a table of its keys.
//
// Every key of a config is in the table of its family: it is used, or limits what is accepted, or may have only certain
// values because others change the mathematics, or does not concern training. Anything else is a problem. All problems
// are collected.
#ifndef MODELS_CONFIGREADER_H
#define MODELS_CONFIGREADER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace recipe::models {

enum class KeyUse {
  Used,    // changes the step
  Limit,   // is checked, but changes nothing
  Fixed,   // must have one of the values in `accepted`
  Ignored, // does not concern training
};

// From least to most; bounds that keep a number, and what a step makes of it, within fp32.
struct NumberRange {
  double least = 0, most = 0;
};

struct ConfigKey {
  const char *name;
  KeyUse use;
  const char *text;               // for docs/models.md
  const char *accepted = nullptr; // Fixed: a JSON list
  const char *alias = nullptr;    // what others call it, for did-you-mean
  NumberRange range = {};         // of a real number
};

struct ConfigProblem {
  std::string key;  // dotted path in the config; empty: the config as a whole
  std::string text; // "'n_head' must divide 'n_embd', got 5 and 768"
};

// The shortest decimal that reads back as `value`.
std::string numberText(double value);

// Keys that every Hugging Face config may have (PretrainedConfig), none of which concerns training here.
llvm::ArrayRef<ConfigKey> commonKeys();

// Bounds that keep what follows from a config within 64 bits and a compile within memory.
inline constexpr int64_t kMostChannels = int64_t(1) << 24;
inline constexpr int64_t kMostLayers = int64_t(1) << 12;
inline constexpr int64_t kMostIds = (int64_t(1) << 31) - 1;

// Added to a variance: where that is 0, 1 / sqrt(eps) is left, whose cube still fits fp32.
inline constexpr NumberRange kEpsilonRange = {1e-20, 1};
// Of weights: their squares fit fp32, above the smallest normal number and below the largest with sums over channels.
inline constexpr NumberRange kDeviationRange = {1e-15, 1e4};
// What is kept is scaled by 1 / (1 - p); closer to 1 next to nothing is kept.
inline constexpr NumberRange kDropoutRange = {0, 0.9999};

class ConfigReader {
public:
  // Checks the keys of `object` against the tables; `prefix` is "" or "rope_scaling".
  ConfigReader(const llvm::json::Object &object, std::vector<llvm::ArrayRef<ConfigKey>> tables, std::string prefix,
               std::vector<ConfigProblem> &problems);

  // A key that is absent or null has no value.
  bool has(llvm::StringRef key) const;
  // An integer from 1 to `most`. Without value and fallback: a problem. After a problem: 1, and sound() is false.
  int64_t size(llvm::StringRef key, std::optional<int64_t> fallback = std::nullopt, int64_t most = kMostChannels);
  // A number in the range of its table entry; after a problem the least.
  double number(llvm::StringRef key, std::optional<double> fallback = std::nullopt);
  bool flag(llvm::StringRef key, bool fallback);
  std::string text(llvm::StringRef key, llvm::StringRef fallback);
  const llvm::json::Object *object(llvm::StringRef key);

  // Whether none of the keys had a problem so far. A rule between keys is only checked then: a stand-in must not show
  // up in a message.
  bool sound(std::initializer_list<llvm::StringRef> names) const;

  // "'<key>' <rule>"
  void problem(llvm::StringRef key, const llvm::Twine &rule);
  // The dotted path of a key.
  std::string path(llvm::StringRef key) const;

private:
  const ConfigKey *find(llvm::StringRef key) const;
  const llvm::json::Value *value(llvm::StringRef key) const;
  void checkUnknown(llvm::StringRef key);
  void checkFixed(const ConfigKey &key, const llvm::json::Value &value);

  const llvm::json::Object &config;
  std::vector<llvm::ArrayRef<ConfigKey>> tables;
  std::string prefix;
  std::vector<ConfigProblem> &problems;
  llvm::StringSet<> unsound; // keys with a problem
};

} // namespace recipe::models
#endif
