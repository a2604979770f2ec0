#include "runtime/data/TextData.h"

#include "runtime/base/Printable.h"

#include "absl/strings/str_cat.h"

#include <vector>

namespace recipe::rt {

absl::StatusOr<TokenSplit> splitTokens(std::shared_ptr<const TokenFile> file, double evalFraction) {
  RCP_ASSIGN_OR_RETURN(CorpusSplit split, splitCorpus({file}, evalFraction));
  uint64_t cut = split.training.empty() ? 0 : split.training.front().end;
  return TokenSplit{{file, 0, cut}, {file, cut, file->tokenCount()}};
}

static absl::StatusOr<std::shared_ptr<const TokenFile>> openFor(const std::string &path,
                                                                const TextDataOptions &options) {
  RCP_ASSIGN_OR_RETURN(TokenFile file, TokenFile::open(path));
  if (file.vocabSize() > static_cast<uint64_t>(options.vocabSize))
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the token file's vocabulary must fit the model's, got ", file.vocabSize(),
                     " (tokenizer \"", printable(file.header().tokenizer), "\") and vocab_size ", options.vocabSize));
  return std::make_shared<const TokenFile>(std::move(file));
}

static bool sameTokenizer(const TokenFile &a, const TokenFile &b) {
  return a.header().tokenizer == b.header().tokenizer && a.header().tokenizerHash == b.header().tokenizerHash;
}

static std::string tokenizerText(const TokenFile &file) {
  return absl::StrCat("\"", printable(file.header().tokenizer), "\" ", toHex(file.header().tokenizerHash));
}

using Files = std::vector<std::shared_ptr<const TokenFile>>;

/// The files that `paths` stand for, opened; all have the tokenizer of `reference`, or of the first one.
static absl::StatusOr<Files> openAll(const std::vector<std::string> &paths, const TextDataOptions &options,
                                     const TokenFile *reference) {
  RCP_ASSIGN_OR_RETURN(std::vector<std::string> names, tokenFilePaths(paths));
  Files files;
  uint64_t bytes = 0;
  for (const std::string &name : names) {
    RCP_ASSIGN_OR_RETURN(std::shared_ptr<const TokenFile> file, openFor(name, options));
    const TokenFile &first = reference ? *reference : files.empty() ? *file : *files.front();
    if (!sameTokenizer(*file, first))
      return absl::InvalidArgumentError(absl::StrCat(name, ": must have the tokenizer of ", first.path(), ", got ",
                                                     tokenizerText(*file), " and ", tokenizerText(first)));
    bytes += file->payload().size();
    files.push_back(std::move(file));
  }
  for (const auto &file : files)
    if (bytes <= options.verifiedBytes)
      RCP_RETURN_IF_ERROR(file->verify());
  return files;
}

static absl::Status checkHeldOut(const CorpusSplit &split, const Files &files, double fraction) {
  uint64_t held = 0, all = 0;
  for (const TokenRange &range : split.heldOut)
    held += range.size();
  for (const auto &file : files)
    all += file->tokenCount();
  if (fraction == 0 || held >= 2)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(files.front()->path(),
                                                 ": data.eval_fraction must hold out at least 2 tokens, got ", fraction,
                                                 " of ", all, " tokens, that is ", held));
}

static std::string hashOf(const Files &files) {
  Sha256 hash;
  for (const auto &file : files)
    hash.update(file->header().payloadHash.data(), file->header().payloadHash.size());
  return toHex(hash.finish());
}

absl::StatusOr<TextData> openTextData(const TextDataOptions &options) {
  if (!options.evalPath.empty() && options.evalFraction != 0)
    return absl::InvalidArgumentError(absl::StrCat("data.eval_path and data.eval_fraction exclude each other, got ",
                                                   options.evalPath, " and ", options.evalFraction));
  RCP_ASSIGN_OR_RETURN(Files files, openAll(options.paths, options, nullptr));
  RCP_ASSIGN_OR_RETURN(CorpusSplit split, splitCorpus(files, options.evalFraction));
  RCP_RETURN_IF_ERROR(checkHeldOut(split, files, options.evalFraction));
  TextData data;
  data.trainingHash = hashOf(files);
  RCP_ASSIGN_OR_RETURN(SampleStream training, SampleStream::create(split.training, options.seqLength,
                                                                   options.globalBatch, options.seed, options.shuffle));
  data.training = std::make_unique<SampleStream>(std::move(training));
  if (options.evalPath.empty() && options.evalFraction == 0)
    return data;

  std::vector<TokenRange> ranges = std::move(split.heldOut);
  if (!options.evalPath.empty()) {
    RCP_ASSIGN_OR_RETURN(Files held, openAll({options.evalPath}, options, files.front().get()));
    data.evaluationHash = hashOf(held);
    ranges.clear();
    for (const auto &file : held)
      ranges.push_back({file, 0, file->tokenCount()});
  }
  RCP_ASSIGN_OR_RETURN(EvaluationSet evaluation, EvaluationSet::create(std::move(ranges), options.seqLength,
                                                                       options.batchSize, options.evalSteps));
  data.evaluation = std::make_unique<EvaluationSet>(std::move(evaluation));
  return data;
}

} // namespace recipe::rt
