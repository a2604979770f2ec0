#include "runtime/data/TextData.h"

#include "runtime/base/Printable.h"

#include "absl/strings/str_cat.h"

#include <cmath>

namespace recipe::rt {

absl::StatusOr<TokenSplit> splitTokens(std::shared_ptr<const TokenFile> file, double evalFraction) {
  // Written so that a NaN is refused as well.
  if (!(evalFraction >= 0 && evalFraction < 1))
    return absl::InvalidArgumentError(absl::StrCat("eval_fraction must be at least 0 and below 1, got ", evalFraction));
  uint64_t count = file->tokenCount();
  uint64_t heldOut = static_cast<uint64_t>(std::floor(evalFraction * static_cast<double>(count)));
  return TokenSplit{{file, 0, count - heldOut}, {file, count - heldOut, count}};
}

static absl::StatusOr<std::shared_ptr<const TokenFile>> openFor(const std::string &path,
                                                                const TextDataOptions &options) {
  RCP_ASSIGN_OR_RETURN(TokenFile file, TokenFile::open(path));
  if (file.vocabSize() > static_cast<uint64_t>(options.vocabSize))
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the token file's vocabulary must fit the model's, got ", file.vocabSize(),
                     " (tokenizer \"", printable(file.header().tokenizer), "\") and vocab_size ", options.vocabSize));
  if (file.payload().size() <= options.verifiedBytes)
    RCP_RETURN_IF_ERROR(file.verify());
  return std::make_shared<const TokenFile>(std::move(file));
}

absl::StatusOr<TextData> openTextData(const TextDataOptions &options) {
  if (!options.evalPath.empty() && options.evalFraction != 0)
    return absl::InvalidArgumentError(absl::StrCat("data.eval_path and data.eval_fraction exclude each other, got ",
                                                   options.evalPath, " and ", options.evalFraction));
  RCP_ASSIGN_OR_RETURN(std::shared_ptr<const TokenFile> file, openFor(options.path, options));
  RCP_ASSIGN_OR_RETURN(TokenSplit split, splitTokens(file, options.evalFraction));
  if (options.evalFraction != 0 && split.heldOut.size() < 2)
    return absl::InvalidArgumentError(
        absl::StrCat(options.path, ": data.eval_fraction must hold out at least 2 tokens, ", "got ",
                     options.evalFraction, " of ", file->tokenCount(), " tokens, that is ", split.heldOut.size()));
  TextData data;
  data.trainingHash = toHex(Sha256::of(file->header().payloadHash));
  RCP_ASSIGN_OR_RETURN(SampleStream training, SampleStream::create(split.training, options.seqLength,
                                                                   options.globalBatch, options.seed, options.shuffle));
  data.training = std::make_unique<SampleStream>(std::move(training));
  if (options.evalPath.empty() && options.evalFraction == 0)
    return data;

  TokenRange range = split.heldOut;
  if (!options.evalPath.empty()) {
    RCP_ASSIGN_OR_RETURN(std::shared_ptr<const TokenFile> held, openFor(options.evalPath, options));
    if (held->header().tokenizer != file->header().tokenizer ||
        held->header().tokenizerHash != file->header().tokenizerHash)
      return absl::InvalidArgumentError(
          absl::StrCat(options.evalPath, ": data.eval_path must have the tokenizer of data.path, got \"",
                       printable(held->header().tokenizer), "\" ", toHex(held->header().tokenizerHash), " and \"",
                       printable(file->header().tokenizer), "\" ", toHex(file->header().tokenizerHash)));
    range = TokenRange{held, 0, held->tokenCount()};
  }
  RCP_ASSIGN_OR_RETURN(EvaluationSet evaluation, EvaluationSet::create(std::move(range), options.seqLength,
                                                                       options.batchSize, options.evalSteps));
  data.evaluation = std::make_unique<EvaluationSet>(std::move(evaluation));
  return data;
}

} // namespace recipe::rt
