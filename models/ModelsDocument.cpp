// docs/models.md, from the key tables that the config reader checks against.
#include "models/Models.h"
#include "llvm/Support/raw_ostream.h"

using namespace recipe::models;

static const char *useText(KeyUse use) {
  switch (use) {
  case KeyUse::Used:
    return "used";
  case KeyUse::Limit:
    return "checked";
  case KeyUse::Fixed:
    return "fixed";
  case KeyUse::Ignored:
    return "ignored";
  }
  llvm_unreachable("all uses are handled");
}

static void writeTable(llvm::raw_ostream &out, llvm::ArrayRef<ConfigKey> keys) {
  out << "| key | | meaning |\n| --- | --- | --- |\n";
  for (const ConfigKey &key : keys) {
    out << "| `" << key.name << "` | " << useText(key.use);
    if (key.range.most != 0)
      out << ": " << numberText(key.range.least) << " to " << numberText(key.range.most);
    if (key.accepted)
      out << ": `" << llvm::StringRef(key.accepted).drop_front().drop_back() << "`";
    out << " | " << key.text << " |\n";
  }
}

std::string recipe::models::modelsDocument() {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "<!-- Generated from the key tables in models/; do not edit. -->\n"
         "# Models\n\n"
         "A model is read from a Hugging Face `config.json`, unmodified. Each key is *used* (another value gives "
         "another step),\n"
         "*checked* (it limits what is accepted), *fixed* (only the values listed are accepted: others would change "
         "the mathematics)\n"
         "or *ignored* (it does not concern training). Any other key is an error. A value at the end of a meaning is "
         "the default.\n\n"
         "Weight decay applies to matrices, embeddings among them, and never to vectors. Weights start as N(0, "
         "initializer_range), gains\n"
         "as 1, biases as 0; GPT-2's projections onto the residual stream (`c_proj`) start as N(0, initializer_range / "
         "sqrt(2 n_layer)).\n"
         "Weights come and go under the names that `save_pretrained` gives them: [weights.md](weights.md).\n";
  for (const ModelFamily &family : modelFamilies()) {
    out << "\n## " << family.type << "\n\n" << family.text << "\n";
    for (const KeySection &section : family.keys()) {
      if (section.prefix[0])
        out << "\nIn " << section.prefix << ":\n";
      out << "\n";
      writeTable(out, section.keys);
    }
  }
  out << "\n## Keys of every family\n\n";
  writeTable(out, commonKeys());
  return text;
}
