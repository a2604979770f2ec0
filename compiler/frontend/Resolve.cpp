#include "compiler/frontend/Resolve.h"

#include "compiler/frontend/Values.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cassert>
#include <filesystem>
#include <set>

namespace recipe::frontend {
namespace {

bool given(const Draft &draft, const std::string &key) { return draft.given.count(key) != 0; }

bool choiceIsGiven(const Schema &schema, const Draft &draft, const Key &key) {
  return given(draft, key.name) ||
         llvm::any_of(schema.rivals(key), [&](const Key *rival) { return given(draft, rival->name); });
}

std::string absolutePath(const std::filesystem::path &folder, const std::string &path) {
  std::error_code error;
  std::filesystem::path whole = std::filesystem::absolute(folder / path, error);
  return whole.lexically_normal().string();
}

int64_t sizeOr1(bool has, int64_t value) { return has ? value : 1; }

} // namespace

void checkRequired(const Schema &schema, const Draft &draft, Diagnostics &diagnostics) {
  auto placeOf = [&](const Key &key) {
    auto section = draft.sections.find(key.section);
    return section == draft.sections.end() ? Place{} : section->second;
  };
  std::set<const google::protobuf::OneofDescriptor *> reported;
  for (const Key &key : schema.keys()) {
    if (draft.refused.count(key.name) || choiceIsGiven(schema, draft, key))
      continue;
    if (key.options->required()) {
      diagnostics.error(placeOf(key), "'" + key.name + "' is missing: it must be " + typePhrase(key));
    } else if (key.choice() && key.choice()->options().GetExtension(choice).required() &&
               reported.insert(key.choice()).second) {
      std::string names = "'" + key.name + "'";
      for (const Key *rival : schema.rivals(key))
        names += " or '" + rival->name + "'";
      diagnostics.error(placeOf(key), names + " is missing");
    }
  }
}

Filled fillDefaults(const Schema &schema, const std::string &recipePath, Draft &draft) {
  Filled filled;
  Report broken = [](Place, std::string) { assert(false && "a default in recipe.proto breaks its own rules"); };
  for (const Key &key : schema.keys()) {
    if (!key.options->has_default_value() || choiceIsGiven(schema, draft, key))
      continue;
    std::variant<YamlNode, YamlError> value = parseYaml(key.options->default_value(), 0);
    readValue(key, std::get<YamlNode>(value), {}, sectionOf(draft.recipe, key), broken);
    filled[key.name] = "default";
  }
  if (!given(draft, "experiment.name")) {
    draft.recipe.mutable_experiment()->set_name(std::filesystem::path(recipePath).stem().string());
    filled["experiment.name"] = "derived";
  }

  // Two names of one thing.
  Model &model = *draft.recipe.mutable_model();
  Precision &precision = *draft.recipe.mutable_precision();
  if (!given(draft, "model.precision")) {
    model.set_precision(precision.compute());
    filled["model.precision"] = "derived";
  }
  if (!given(draft, "precision.compute")) {
    precision.set_compute(model.precision());
    filled["precision.compute"] = "derived";
  }

  Distributed &d = *draft.recipe.mutable_distributed();
  int64_t others = sizeOr1(d.has_tensor_parallel_size(), d.tensor_parallel_size()) *
                   sizeOr1(d.has_pipeline_parallel_size(), d.pipeline_parallel_size()) *
                   sizeOr1(d.has_context_parallel_size(), d.context_parallel_size());
  if (!given(draft, "distributed.data_parallel_size")) {
    // A world that the others do not divide is caught by the rule on their product.
    d.set_data_parallel_size(d.has_world_size() ? std::max<int64_t>(1, d.world_size() / others) : 1);
    filled["distributed.data_parallel_size"] = "derived";
  }
  if (!given(draft, "distributed.world_size")) {
    d.set_world_size(d.data_parallel_size() * others);
    filled["distributed.world_size"] = "derived";
  }
  return filled;
}

void resolvePaths(const Schema &schema, const std::string &recipePath, Draft &draft) {
  std::filesystem::path folder = std::filesystem::path(recipePath).parent_path();
  for (const Key &key : schema.keys()) {
    if (!key.options->is_path() || !hasValue(draft.recipe, key))
      continue;
    auto place = draft.given.find(key.name);
    bool fromSet = place != draft.given.end() && place->second.source != 0;
    google::protobuf::Message &section = sectionOf(draft.recipe, key);
    const google::protobuf::Reflection &reflection = *section.GetReflection();
    auto whole = [&](const std::string &path) { return absolutePath(fromSet ? "" : folder, path); };
    if (!key.field->is_repeated())
      reflection.SetString(&section, key.field, whole(reflection.GetString(section, key.field)));
    else
      for (int i = 0, e = reflection.FieldSize(section, key.field); i < e; ++i)
        reflection.SetRepeatedString(&section, key.field, i,
                                     whole(reflection.GetRepeatedString(section, key.field, i)));
  }
}

} // namespace recipe::frontend
