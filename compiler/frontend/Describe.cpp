#include "compiler/frontend/Describe.h"

#include "compiler/frontend/Draft.h"
#include "compiler/frontend/RunValues.h"
#include "compiler/frontend/Values.h"
#include "runtime/abi/kernel_abi.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace recipe::frontend {

using google::protobuf::FieldDescriptor;

namespace {

struct Slot {
  const char *key;
  RunValue value;
};
constexpr Slot slots[] = {
    {"optim.lr", RunValue::lr},
    {"optim.min_lr_ratio", RunValue::minLrRatio},
    {"optim.scheduler", RunValue::scheduler},
    {"optim.warmup_steps", RunValue::warmupSteps},
    {"optim.warmup_ratio", RunValue::warmupRatio},
    {"optim.max_steps", RunValue::maxSteps},
};
static_assert(std::size(slots) <= RCP_RUN_VALUES, "a slot for every value that the prologue reads");

std::string commaList(const std::vector<int64_t> &numbers) {
  std::vector<std::string> texts;
  for (int64_t number : numbers)
    texts.push_back(std::to_string(number));
  return llvm::join(texts, ", ");
}

abi::RunTimeKey::Kind kindOf(const Key &key) {
  switch (key.field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT64:
    return abi::RunTimeKey::INTEGER;
  case FieldDescriptor::CPPTYPE_DOUBLE:
    return abi::RunTimeKey::NUMBER;
  case FieldDescriptor::CPPTYPE_BOOL:
    return abi::RunTimeKey::BOOLEAN;
  case FieldDescriptor::CPPTYPE_ENUM:
    return abi::RunTimeKey::ENUMERATION;
  case FieldDescriptor::CPPTYPE_STRING:
    return key.field->is_repeated() ? abi::RunTimeKey::STRINGS : abi::RunTimeKey::STRING;
  default:
    llvm_unreachable("recipe.proto uses a type that the reader does not know");
  }
}

// The value as the runtime takes it: text is not quoted.
std::string runTimeText(const Key &key, const Recipe &recipe) {
  const google::protobuf::Message &section = sectionOf(recipe, key);
  if (!hasValue(recipe, key))
    return "";
  if (key.field->is_repeated()) {
    llvm::json::Array texts;
    for (int i = 0, e = section.GetReflection()->FieldSize(section, key.field); i < e; ++i)
      texts.push_back(llvm::json::fixUTF8(section.GetReflection()->GetRepeatedString(section, key.field, i)));
    return llvm::formatv("{0}", llvm::json::Value(std::move(texts))).str();
  }
  if (key.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
    return section.GetReflection()->GetString(section, key.field);
  return valueText(key, section);
}

void describeRunTimeKey(const Schema &schema, const Key &key, const Recipe &recipe, abi::RunTimeKey &out) {
  const KeyOptions &options = *key.options;
  out.set_key(key.name);
  out.set_kind(kindOf(key));
  out.set_slot(runValueSlot(key.name));
  out.set_value(runTimeText(key, recipe));
  if (key.isEnum())
    for (const std::string &value : enumValues(key))
      out.add_enum_values(value);
  out.set_has_minimum(options.has_min());
  out.set_minimum(options.min());
  out.set_minimum_exclusive(options.min_exclusive());
  out.set_has_maximum(options.has_max());
  out.set_maximum(options.max());
  out.set_maximum_exclusive(options.max_exclusive());
  for (const Key *rival : schema.rivals(key))
    out.add_excludes(rival->name);
}

// JSON on one line with the keys of every object sorted: the same text for the same configuration. 4.0 stays 4.0, which
// readers of exported configurations tell from 4.
std::string sortedJson(const std::string &json) {
  nlohmann::json parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  // The reader accepted it, but for a number beyond the range of doubles.
  return parsed.is_discarded() ? json : parsed.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace

int32_t runValueSlot(const std::string &key) {
  for (const Slot &slot : slots)
    if (key == slot.key)
      return static_cast<int32_t>(slot.value);
  return -1;
}

std::string renderResolved(const ResolvedRecipe &resolved) {
  size_t width = 0;
  for (const Entry &entry : resolved.entries)
    width = std::max(width, std::min<size_t>(56, entry.key.size() + entry.value.size()));

  std::string text = "# global batch: " + std::to_string(resolved.globalBatch) + " samples\n" +
                     "# micro-batches per update and rank: " + std::to_string(resolved.accumulation) + "\n" +
                     "# batch segments: " + std::to_string(resolved.batchSegments) + "\n" +
                     "# legal numbers of ranks: " + commaList(resolved.legalRanks) + "\n";
  std::string section;
  for (const Entry &entry : resolved.entries) {
    auto [name, key] = llvm::StringRef(entry.key).split('.');
    if (name != section) {
      section = name.str();
      text += section + ":\n";
    }
    std::string line = "  " + key.str() + ": " + entry.value;
    line.resize(std::max(line.size(), width), ' ');
    text += line + "  # " + entry.origin + (entry.runTime ? ", run-time" : "") + "\n";
  }
  return text;
}

void describeRecipe(const ResolvedRecipe &resolved, abi::Step &step) {
  for (const Entry &entry : resolved.entries) {
    abi::ResolvedRecipe::Entry &out = *step.mutable_recipe()->add_entries();
    out.set_key(entry.key);
    out.set_value(entry.value);
    out.set_origin(entry.origin);
    out.set_run_time(entry.runTime);
  }
  Schema schema;
  for (const Key &key : schema.keys())
    if (key.options->run_time())
      describeRunTimeKey(schema, key, resolved.recipe, *step.add_run_time_keys());

  abi::Manifest &manifest = *step.mutable_manifest();
  manifest.set_name(resolved.recipe.experiment().name());
  manifest.set_max_threads(resolved.recipe.target().max_threads());
  manifest.set_seq_length(resolved.recipe.data().seq_length());
  manifest.set_batch_size(resolved.recipe.data().batch_size());
  manifest.set_global_batch(resolved.globalBatch);
  manifest.set_batch_segments(resolved.batchSegments);
  manifest.mutable_legal_ranks()->Assign(resolved.legalRanks.begin(), resolved.legalRanks.end());
  manifest.set_model_type(Model::Type_Name(resolved.recipe.model().type()));
  manifest.set_model_config(sortedJson(resolved.modelConfig.json));
}

} // namespace recipe::frontend
