#include "runtime/checkpoint/WeightFolder.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/File.h"
#include "runtime/checkpoint/BoundedJson.h"
#include <filesystem>

using namespace recipe::rt;
using Json = nlohmann::ordered_json;

static bool exists(const std::string &path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

/// What weights in other formats are called.
static const char *const foreignNames[] = {"pytorch_model.bin", "pytorch_model.bin.index.json", "tf_model.h5",
                                           "flax_model.msgpack", "consolidated.00.pth"};

static absl::Status noWeights(const std::string &folder) {
  std::string text = absl::StrCat(folder, ": must have model.safetensors or model.safetensors.index.json, found ");
  for (const char *name : foreignNames)
    if (exists(folder + "/" + name))
      return absl::NotFoundError(absl::StrCat(text, name, ", which is not read"));
  return absl::NotFoundError(absl::StrCat(text, "neither"));
}

/// Tensor to file name. A shard lies beside its index, under any name that is not a path.
static absl::StatusOr<std::map<std::string, std::string>> readIndex(const std::string &path) {
  RCP_ASSIGN_OR_RETURN(std::string text, readFile(path));
  Json index = parseBoundedJson(text);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
    return absl::InvalidArgumentError(absl::StrCat(path, ": must be a JSON object with weight_map, an object"));
  std::map<std::string, std::string> map;
  for (const auto &[tensor, file] : index["weight_map"].items()) {
    std::string name = file.is_string() ? file.get<std::string>() : "";
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
        name.find('\0') != std::string::npos)
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": weight_map must give the name of a file in this folder for \"", tensor, "\", got ",
                       file.dump(-1, ' ', false, Json::error_handler_t::replace)));
    map.emplace(tensor, name);
  }
  if (map.empty())
    return absl::InvalidArgumentError(absl::StrCat(path, ": weight_map must name tensors, got none"));
  return map;
}

absl::Status WeightFolder::openIndex(const std::string &indexPath) {
  RCP_ASSIGN_OR_RETURN(auto map, readIndex(indexPath));
  std::vector<std::string> problems;
  for (const auto &[tensor, name] : map) {
    std::string path = folder + "/" + name;
    if (files.count(path))
      continue;
    absl::StatusOr<SafetensorsFile> file = readSafetensors(path);
    if (!file.ok())
      return file.status(); // what else is wrong cannot be told
    files.emplace(path, std::move(*file));
  }
  for (const auto &[path, file] : files)
    for (const TensorView &view : file.tensors()) {
      auto found = map.find(view.name);
      if (found == map.end() || folder + "/" + found->second != path)
        problems.push_back(absl::StrCat(path, ": tensor \"", view.name, "\" must be in the index, which has it ",
                                        found == map.end() ? "nowhere" : "in " + found->second));
      else
        byName.emplace(view.name, Tensor{&view, &path});
    }
  for (const auto &[tensor, name] : map)
    if (!byName.count(tensor))
      problems.push_back(
          absl::StrCat(indexPath, ": tensor \"", tensor, "\" must be in ", name, ", which does not have it"));
  return problems.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

absl::StatusOr<WeightFolder> WeightFolder::open(const std::string &path) {
  WeightFolder result;
  result.folder = path;
  std::error_code error;
  if (!std::filesystem::is_directory(path, error))
    return absl::NotFoundError(
        absl::StrCat(path, ": must be a folder with weights, found ", exists(path) ? "something else" : "nothing"));
  if (std::string config = path + "/config.json"; exists(config)) {
    RCP_ASSIGN_OR_RETURN(result.configText, readFile(config));
  }
  // As transformers has it: the single file comes first.
  if (std::string single = path + "/model.safetensors"; exists(single)) {
    RCP_ASSIGN_OR_RETURN(SafetensorsFile file, readSafetensors(single));
    auto place = result.files.emplace(single, std::move(file)).first;
    for (const TensorView &view : place->second.tensors())
      result.byName.emplace(view.name, Tensor{&view, &place->first});
    return result;
  }
  std::string index = path + "/model.safetensors.index.json";
  if (!exists(index))
    return noWeights(path);
  RCP_RETURN_IF_ERROR(result.openIndex(index));
  return result;
}
