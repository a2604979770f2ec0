#include "runtime/checkpoint/CheckpointManifest.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/Sha256.h"
#include "runtime/checkpoint/BoundedJson.h"

using namespace recipe::rt;
using Json = nlohmann::ordered_json;

static const char *const formatName = "recipec checkpoint";
static const char *const checksumKey = "manifest_sha256";
static const size_t hexDigits = 64;

static std::string hashOf(const std::string &text) {
  return toHex(Sha256::of({reinterpret_cast<const uint8_t *>(text.data()), text.size()}));
}

static Json numericsJson(const NumericsIdentity &numerics) {
  Json json = {{"version", numerics.version}};
  if (!numerics.bf16Order.empty())
    json["bf16_order"] = numerics.bf16Order;
  return json;
}

static Json filesJson(const CheckpointManifest &manifest) {
  Json files = Json::object();
  for (const CheckpointFile &file : manifest.files)
    files[file.name] = {{"bytes", file.bytes}, {"sha256", file.sha256}};
  return files;
}

static Json provenanceJson(const CheckpointProvenance &provenance) {
  return {{"run", provenance.run},
          {"producer", provenance.producer},
          {"compiler", provenance.compiler},
          {"target", provenance.target},
          {"nodes", provenance.nodes},
          {"threads", provenance.threads},
          {"written", provenance.written},
          // Of this text with zeros in its place.
          {checksumKey, std::string(hexDigits, '0')}};
}

std::string recipe::rt::encodeManifest(const CheckpointManifest &manifest) {
  Json json;
  json["format"] = formatName;
  json["version"] = CheckpointFormatVersion;
  json["step"] = manifest.step;
  json["samples"] = manifest.samples;
  json["model"] = {{"type", manifest.modelType},
                   {"parameters", manifest.parameters},
                   {"config", parseBoundedJson(manifest.modelConfig)}};
  json["settings"] = manifest.settings;
  if (manifest.numerics.version != 0)
    json["numerics"] = numericsJson(manifest.numerics);
  json["files"] = filesJson(manifest);
  json["provenance"] = provenanceJson(manifest.provenance);
  std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  std::string hash = hashOf(text);
  return text.replace(text.rfind(std::string(hexDigits, '0')), hexDigits, hash);
}

namespace {

/// Reads fields and keeps the first complaint.
class Fields {
public:
  template <typename T> T get(const Json &object, const char *name, const char *type, bool (Json::*is)() const) {
    auto found = object.find(name);
    if (found != object.end() && ((*found).*is)())
      return found->get<T>();
    complain(absl::StrCat("'", name, "' must be ", type));
    return T();
  }
  std::string text(const Json &object, const char *name) {
    return get<std::string>(object, name, "text", &Json::is_string);
  }
  /// 0 .. 2^63 - 1.
  int64_t count(const Json &object, const char *name) {
    uint64_t value = get<uint64_t>(object, name, "a whole number", &Json::is_number_unsigned);
    if (value > INT64_MAX)
      complain(absl::StrCat("'", name, "' must be at most ", INT64_MAX, ", got ", value));
    return int64_t(value);
  }
  Json section(const Json &object, const char *name) {
    Json value = get<Json>(object, name, "an object", &Json::is_object);
    return value.is_object() ? value : Json::object();
  }
  void complain(const std::string &text) {
    if (status.ok())
      status = absl::InvalidArgumentError(text);
  }
  absl::Status status;
};

} // namespace

static absl::Status checkVersion(const Json &json, Fields &fields) {
  if (json.value("format", Json()) != formatName)
    return absl::InvalidArgumentError(
        absl::StrCat("not a checkpoint's manifest: 'format' must be \"", formatName, "\""));
  int64_t version = fields.count(json, "version");
  RCP_RETURN_IF_ERROR(fields.status);
  if (version != CheckpointFormatVersion)
    return absl::FailedPreconditionError(absl::StrCat("the checkpoint format must be version ", CheckpointFormatVersion,
                                                      ", which this program reads, got ", version));
  return absl::OkStatus();
}

static absl::Status checkChecksum(const std::string &text, const std::string &stated) {
  size_t place = stated.size() == hexDigits ? text.rfind(stated) : std::string::npos;
  if (place == std::string::npos)
    return absl::DataLossError(absl::StrCat("'", checksumKey, "' must have ", hexDigits, " digits"));
  std::string zeroed = text;
  std::string found = hashOf(zeroed.replace(place, hexDigits, std::string(hexDigits, '0')));
  if (found != stated)
    return absl::DataLossError(absl::StrCat("damaged or changed, its SHA-256 must be ", stated, ", got ", found));
  return absl::OkStatus();
}

/// Absent in manifests from before it was recorded.
static void readNumerics(const Json &json, NumericsIdentity &numerics, Fields &fields) {
  if (!json.contains("numerics"))
    return;
  Json section = fields.section(json, "numerics");
  numerics.version = fields.count(section, "version");
  if (section.contains("bf16_order"))
    numerics.bf16Order = fields.text(section, "bf16_order");
}

static void readFiles(const Json &files, CheckpointManifest &manifest, Fields &fields) {
  for (const auto &[name, entry] : files.items()) {
    if (name.empty() || name.find('/') != std::string::npos || !entry.is_object())
      fields.complain(absl::StrCat("a file must have a name without folders and be described, got '", name, "'"));
    else
      manifest.files.push_back({name, uint64_t(fields.count(entry, "bytes")), fields.text(entry, "sha256")});
  }
}

static void readProvenance(const Json &json, CheckpointProvenance &provenance, Fields &fields) {
  provenance.run = fields.text(json, "run");
  provenance.producer = fields.text(json, "producer");
  provenance.compiler = fields.text(json, "compiler");
  provenance.target = fields.text(json, "target");
  provenance.nodes = fields.count(json, "nodes");
  provenance.threads = fields.count(json, "threads");
  provenance.written = fields.text(json, "written");
}

absl::StatusOr<CheckpointManifest> recipe::rt::decodeManifest(const std::string &text) {
  if (text.empty())
    return absl::DataLossError("damaged, it is empty");
  Json json = parseBoundedJson(text);
  if (!json.is_object())
    return absl::DataLossError(
        absl::StrCat("damaged, it must be one JSON object, nested at most ", MaxJsonDepth, " deep"));
  Fields fields;
  RCP_RETURN_IF_ERROR(checkVersion(json, fields));
  Json provenance = fields.section(json, "provenance"), model = fields.section(json, "model");
  std::string checksum = fields.text(provenance, checksumKey);
  RCP_RETURN_IF_ERROR(fields.status);
  RCP_RETURN_IF_ERROR(checkChecksum(text, checksum));

  CheckpointManifest manifest;
  manifest.step = fields.count(json, "step");
  manifest.samples = fields.count(json, "samples");
  manifest.modelType = fields.text(model, "type");
  manifest.parameters = fields.count(model, "parameters");
  manifest.modelConfig = fields.section(model, "config").dump(-1, ' ', false, Json::error_handler_t::replace);
  Json settings = fields.section(json, "settings");
  for (const auto &[key, value] : settings.items()) {
    if (value.is_string())
      manifest.settings[key] = value.get<std::string>();
    else
      fields.complain(absl::StrCat("the setting '", key, "' must be text"));
  }
  readNumerics(json, manifest.numerics, fields);
  readFiles(fields.section(json, "files"), manifest, fields);
  readProvenance(provenance, manifest.provenance, fields);
  RCP_RETURN_IF_ERROR(fields.status);
  return manifest;
}
