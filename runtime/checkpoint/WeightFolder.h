// A folder as `save_pretrained` writes it: model.safetensors, or its shards under model.safetensors.index.json, and
// perhaps config.json. Immutable once open, safe to use from any thread.
#ifndef RUNTIME_CHECKPOINT_WEIGHTFOLDER_H
#define RUNTIME_CHECKPOINT_WEIGHTFOLDER_H
#include "runtime/checkpoint/Safetensors.h"
#include <optional>

namespace recipe::rt {

class WeightFolder {
public:
  /// Checks the files as files: each is whole, and the index and its shards name the same tensors. All problems of the
  /// index at once, one a line.
  static absl::StatusOr<WeightFolder> open(const std::string &path);

  struct Tensor {
    const TensorView *view;
    const std::string *file; // path of it
  };
  /// By name.
  const std::map<std::string, Tensor> &tensors() const { return byName; }
  /// Text of config.json, if there is one.
  const std::optional<std::string> &config() const { return configText; }
  const std::string &path() const { return folder; }

private:
  absl::Status openIndex(const std::string &indexPath);

  std::string folder;
  std::optional<std::string> configText;
  std::map<std::string, SafetensorsFile> files; // by path
  std::map<std::string, Tensor> byName;
};

} // namespace recipe::rt
#endif
