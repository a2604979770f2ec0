// The training stream and the evaluation set that a run's data keys describe.
#ifndef RUNTIME_DATA_TEXTDATA_H
#define RUNTIME_DATA_TEXTDATA_H

#include "runtime/data/Corpus.h"
#include "runtime/data/EvaluationSet.h"
#include "runtime/data/SampleStream.h"

#include <memory>
#include <string>

namespace recipe::rt {

/// Up to this size a payload's checksum is checked before training: about a quarter of a second.
inline constexpr uint64_t VerifiedPayloadBytes = uint64_t(256) << 20;

struct TextDataOptions {
  std::vector<std::string> paths;                // data.path
  std::string evalPath;                          // data.eval_path, empty: none
  double evalFraction = 0;                       // data.eval_fraction, see splitCorpus()
  bool shuffle = true;                           // data.shuffle
  uint64_t seed = 0;                             // experiment.seed
  int64_t evalSteps = 0;                         // logging.eval_steps, 0: the whole set
  int64_t seqLength = 0;                         // of the step
  int64_t batchSize = 0;                         // of the step
  int64_t globalBatch = 0;                       // of the step
  int64_t vocabSize = 0;                         // of the step: a token file's vocabulary must fit in
  uint64_t verifiedBytes = VerifiedPayloadBytes; // more of data.path is trusted; ids are checked as they are read
};

struct TextData {
  std::string trainingHash;   // of data.path's tokens in their order, wherever the files lie: SHA-256 of payload hashes
  std::string evaluationHash; // likewise of data.eval_path; empty: not set
  std::unique_ptr<SampleStream> training;
  std::unique_ptr<EvaluationSet> evaluation; // null: neither evalPath nor evalFraction
};

absl::StatusOr<TextData> openTextData(const TextDataOptions &options);

/// The part of the file that training sees and the part held out. Refuses a fraction outside [0, 1).
struct TokenSplit {
  TokenRange training;
  TokenRange heldOut;
};
absl::StatusOr<TokenSplit> splitTokens(std::shared_ptr<const TokenFile> file, double evalFraction);

} // namespace recipe::rt

#endif // RUNTIME_DATA_TEXTDATA_H
