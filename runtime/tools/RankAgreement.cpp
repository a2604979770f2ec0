#include "runtime/tools/RankAgreement.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/File.h"
#include "runtime/base/Printable.h"
#include "runtime/base/Sha256.h"
#include "runtime/tools/RunIdentity.h"
#include <nlohmann/json.hpp>
#include <set>

using namespace recipe::rt;

SharedParts recipe::rt::sharedKeys(const abi::Step &step, const RunTimeKeys &keys) {
  static const std::set<std::string> ownMatter = {
      "experiment.name",   "experiment.output_dir",   "data.path",           "data.eval_path",
      "model.init_from",   "data.num_workers",        "data.prefetch_depth", "logging.log_interval",
      "logging.keep_last", "distributed.max_restarts"};
  SharedParts parts;
  for (const abi::RunTimeKey &key : step.run_time_keys()) {
    if (ownMatter.count(key.key()))
      continue;
    std::string value = keys.text(key.key(), "");
    parts.push_back({absl::StrCat("'", key.key(), "'"),
                     value.empty() ? std::string("not set") : canonicalValue(key.kind(), value)});
  }
  return parts;
}

/// Enough to tell two apart by eye.
static std::string shortHash(Sha256 &hash) { return absl::StrCat("SHA-256 ", toHex(hash.finish()).substr(0, 16)); }

absl::StatusOr<std::string> recipe::rt::digestOfFile(const std::string &path) {
  RCP_ASSIGN_OR_RETURN(std::string bytes, readFile(path));
  Sha256 hash;
  hash.update(bytes.data(), bytes.size());
  return shortHash(hash);
}

std::string recipe::rt::digestOfCheckpoint(const CheckpointManifest &manifest) {
  Sha256 hash;
  for (const CheckpointFile &file : manifest.files)
    hash.update(file.sha256.data(), file.sha256.size());
  return absl::StrCat("step ", manifest.step, ", ", shortHash(hash));
}

absl::StatusOr<std::string> recipe::rt::digestOfTensors(const StateFile &state) {
  Sha256 hash;
  for (const TensorView &tensor : state.tensors) {
    RCP_ASSIGN_OR_RETURN(uint64_t bytes, tensorBytes(tensor));
    if (tensor.pieces.empty())
      hash.update(tensor.data, bytes);
    for (const TensorPiece &piece : tensor.pieces)
      hash.update(piece.data, piece.bytes);
  }
  return shortHash(hash);
}

absl::Status recipe::rt::requireSame(Communicator &comm, const SharedParts &own, double timeoutSeconds) {
  nlohmann::json mine = nlohmann::json::array();
  for (const SharedPart &part : own)
    mine.push_back({printable(part.name), printable(part.value)});
  RCP_ASSIGN_OR_RETURN(std::vector<std::string> all, allGather(comm, mine.dump(), timeoutSeconds));
  nlohmann::json first = nlohmann::json::parse(all[0]);
  for (size_t rank = 1; rank < all.size(); ++rank) {
    nlohmann::json other = nlohmann::json::parse(all[rank]);
    for (size_t i = 0; i < first.size() && i < other.size() && other[i][0] == first[i][0]; ++i)
      if (other[i][1] != first[i][1])
        return absl::InvalidArgumentError(
            absl::StrCat("rank ", rank, ": ", first[i][0].get<std::string>(), " must be the same on all ranks, got ",
                         other[i][1].get<std::string>(), " and ", first[i][1].get<std::string>(), " on rank 0"));
    if (other.size() != first.size())
      return absl::InvalidArgumentError(
          absl::StrCat("rank ", rank, ": the step must have the same run-time keys on all ranks"));
  }
  return absl::OkStatus();
}
