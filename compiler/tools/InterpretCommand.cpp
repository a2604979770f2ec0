#include "absl/strings/numbers.h"
#include "compiler/Pipeline.h"
#include "compiler/emit/Semantic.h"
#include "compiler/interp/StepRun.h"
#include "compiler/tools/Commands.h"
#include "compiler/tools/DumpTensors.h"
#include "compiler/tools/Report.h"
#include "runtime/base/File.h"
#include "runtime/checkpoint/InitialWeights.h"
#include "runtime/data/TextData.h"
#include "runtime/loader/Loader.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace recipe {
namespace {

absl::StatusOr<rt::TextData> openData(const abi::Manifest &manifest, const rt::RunTimeKeys &keys) {
  rt::TextDataOptions options;
  options.paths = keys.list("data.path");
  // What training sees depends on what is held out; the rest of evaluation does not matter here.
  options.evalFraction = keys.number("data.eval_fraction", 0);
  options.shuffle = keys.boolean("data.shuffle", true);
  (void)absl::SimpleAtoi(keys.text("experiment.seed", "0"), &options.seed);
  options.seqLength = manifest.seq_length();
  options.batchSize = manifest.batch_size();
  options.globalBatch = manifest.global_batch();
  options.vocabSize = manifest.vocab_size();
  return rt::openTextData(options);
}

// One micro-batch of the runtime's stream as inputs of the interpreter.
class Batches {
public:
  Batches(const abi::Manifest &manifest, rt::SampleStream &stream, interp::Interpreter &interpreter)
      : stream(stream), interpreter(interpreter) {
    for (train::HostTensor *tensor : {&tokens, &labels, &positions}) {
      tensor->type = train::HostTensor::Type::I32;
      tensor->shape = {manifest.batch_size(), manifest.seq_length()};
      tensor->i32.resize(tensor->size());
    }
  }

  LogicalResult load(int64_t step, int64_t microbatch) {
    status =
        stream.fill(step, microbatch,
                    {tokens.i32.data(), labels.i32.data(), positions.i32.data(), tokens.shape[0], tokens.shape[1]});
    interpreter.setInput("tokens", tokens);
    interpreter.setInput("labels", labels);
    interpreter.setInput("positions", positions);
    return success(status.ok());
  }

  absl::Status status;

private:
  rt::SampleStream &stream;
  interp::Interpreter &interpreter;
  train::HostTensor tokens, labels, positions;
};

absl::Status dump(const InterpretRequest &request, const interp::Interpreter &interpreter, StringRef name,
                  absl::Status (*write)(const interp::Interpreter &, const std::string &)) {
  if (request.dumpFolder.empty())
    return absl::OkStatus();
  return write(interpreter, request.dumpFolder + "/" + name.str());
}

// model.init_from, after `init`.
absl::Status loadInitialWeights(const abi::Step &step, const rt::InitialWeights &weights,
                                interp::Interpreter &interpreter) {
  for (const abi::Parameter &parameter : step.parameters()) {
    train::HostTensor tensor;
    tensor.type = train::HostTensor::Type::F32;
    tensor.shape.assign(parameter.shape().begin(), parameter.shape().end());
    tensor.f32.resize(tensor.size());
    weights.read(parameter, tensor.f32.data());
    if (failed(interpreter.setVariable(parameter.name(), tensor)))
      return absl::InvalidArgumentError("parameter '" + parameter.name() + "' is not in the semantic section");
  }
  return absl::OkStatus();
}

int runSteps(const InterpretRequest &request, const abi::Step &compiled, const rt::RunTimeKeys &keys,
             const rt::InitialWeights *weights, rt::SampleStream &stream, interp::Interpreter &interpreter) {
  rcp_step_params_v1 &params = interpreter.params();
  (void)absl::SimpleAtoi(keys.text("experiment.seed", "0"), &params.seed);
  std::copy(keys.runValues().begin(), keys.runValues().end(), params.run_values);
  if (failed(interpreter.run("init")))
    return kOurBug;
  if (weights)
    if (absl::Status status = loadInitialWeights(compiled, *weights, interpreter); !status.ok())
      return complain(status);
  if (failed(interp::refresh(interpreter)))
    return kOurBug;
  if (absl::Status status = dump(request, interpreter, "initial.safetensors", dumpParameters); !status.ok())
    return complain(status);
  Batches batches(compiled.manifest(), stream, interpreter);
  for (int64_t step = 0; step < request.steps; ++step) {
    if (failed(interp::runStep(interpreter, step, [&](int64_t microbatch) { return batches.load(step, microbatch); })))
      return batches.status.ok() ? kOurBug : complain(batches.status);
    // %.17g: enough to read the same double back.
    llvm::outs() << llvm::format("step %lld loss %.17g grad_norm %.17g learning_rate %.17g\n", (long long)step + 1,
                                 params.loss_sum / double(params.valid_tokens), params.grad_norm, params.learning_rate);
    llvm::outs().flush();
    if (llvm::outs().has_error()) // nobody sees the rest; main says why
      return kUserError;
    if (step == 0)
      if (absl::Status status = dump(request, interpreter, "gradients.safetensors", dumpGradients); !status.ok())
        return complain(status);
  }
  if (absl::Status status = dump(request, interpreter, "final.safetensors", dumpParameters); !status.ok())
    return complain(status);
  return 0;
}

} // namespace

int interpretCommand(const InterpretRequest &request) {
  absl::StatusOr<std::unique_ptr<abi::Step>> step = rt::readStepFile(request.step);
  if (!step.ok())
    return complain(step.status());
  const abi::Manifest &manifest = (*step)->manifest();
  if ((*step)->semantic().empty())
    return complain(absl::InvalidArgumentError(request.step + ": has no semantic section: it cannot be interpreted"));
  absl::StatusOr<rt::RunTimeKeys> keys = rt::RunTimeKeys::resolve(**step, request.sets);
  if (!keys.ok())
    return complain(keys.status());
  if (absl::Status steps = rt::lastUpdate(*keys, request.steps).status(); !steps.ok())
    return complain(steps);
  absl::StatusOr<rt::TextData> data = openData(manifest, *keys);
  if (!data.ok())
    return complain(data.status());
  std::optional<rt::InitialWeights> weights;
  if (std::string folder = keys->text("model.init_from", ""); !folder.empty()) {
    absl::StatusOr<rt::InitialWeights> opened = rt::InitialWeights::open(**step, folder);
    if (!opened.ok())
      return complain(opened.status());
    weights = std::move(*opened);
  }

  if (!request.dumpFolder.empty())
    if (absl::Status status = rt::makeFolders(request.dumpFolder); !status.ok())
      return complain(status);

  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  OwningOpRef<ModuleOp> module = readSemantic((*step)->semantic(), context);
  if (!module)
    return complain(
        absl::InvalidArgumentError(request.step + ": the semantic section is not a module of this version"));
  interp::Interpreter interpreter(*module, request.exact ? train::ReferenceMode::Exact : train::ReferenceMode::Fp64);
  return runSteps(request, **step, *keys, weights ? &*weights : nullptr, *data->training, interpreter);
}

} // namespace recipe
