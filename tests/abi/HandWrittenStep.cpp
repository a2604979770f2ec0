#include "tests/abi/HandWrittenStep.h"
#include "runtime/abi/AllReduceSchedule.h"
#include "runtime/abi/Container.h"
#include "runtime/abi/kernel_abi.h"
#include "runtime/base/File.h"
#include "runtime/base/Sha256.h"
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace recipe::test {

static const float scale = 0.0625f;

namespace {

/// Builds a Step whose buffers follow each other in their regions.
class Builder {
public:
  explicit Builder(abi::Step &step) : step(step) {}

  uint32_t buffer(const std::string &name, abi::Region region, abi::DataType type, std::vector<int64_t> shape) {
    abi::Buffer *buffer = step.add_buffers();
    int64_t count = 1;
    for (int64_t extent : shape) {
      buffer->add_shape(extent);
      count *= extent;
    }
    uint64_t bytes = uint64_t(count) * (type == abi::F64 || type == abi::I64 ? 8 : 4);
    buffer->set_name(name);
    buffer->set_region(region);
    buffer->set_type(type);
    buffer->set_bytes(bytes);
    buffer->set_offset(end[region]);
    uint64_t stride = (bytes + 63) / 64 * 64;
    buffer->set_slot_stride(region == abi::INPUT ? stride : 0);
    end[region] += region == abi::INPUT ? 2 * stride : stride;
    return uint32_t(step.buffers_size() - 1);
  }

  abi::Instruction *launch(const std::string &program, const std::string &symbol, std::vector<uint32_t> buffers,
                           std::vector<int64_t> scalars = {}, abi::Predicate predicate = abi::ALWAYS) {
    abi::SubProgram *home = nullptr;
    for (abi::SubProgram &candidate : *step.mutable_programs())
      if (candidate.name() == program)
        home = &candidate;
    if (!home) {
      home = step.add_programs();
      home->set_name(program);
    }
    abi::Instruction *instruction = home->add_instructions();
    instruction->set_id(++ids);
    instruction->set_kernel(kernel(symbol));
    for (uint32_t index : buffers)
      instruction->add_arguments()->set_buffer(index);
    for (int64_t value : scalars)
      instruction->add_scalars(value);
    instruction->set_workgroups(1);
    instruction->set_predicate(predicate);
    instruction->set_name(symbol);
    return instruction;
  }

  /// A sum over ranks of a buffer, complete in the last micro-batch; its signal.
  uint64_t allReduce(const std::string &program, const std::string &symbol, uint32_t buffer) {
    abi::Instruction *instruction = launch(program, symbol, {buffer}, {}, abi::LAST_MICROBATCH);
    const abi::Buffer &values = step.buffers(int(buffer));
    instruction->set_name("all_reduce " + values.name());
    instruction->set_workgroups(0);
    instruction->set_queue(abi::COMMUNICATION);
    instruction->set_signal(instruction->id());
    instruction->mutable_collective()->set_axis("data");
    instruction->mutable_collective()->set_type(values.type());
    instruction->mutable_collective()->set_elements(values.shape(0));
    return instruction->id();
  }

  uint32_t kernel(const std::string &symbol) {
    auto [found, isNew] = kernels.emplace(symbol, uint32_t(step.kernels_size()));
    if (isNew)
      step.add_kernels()->set_symbol(symbol);
    return found->second;
  }

  void key(const std::string &name, abi::RunTimeKey::Kind kind, int slot, const std::string &value) {
    abi::RunTimeKey *key = step.add_run_time_keys();
    key->set_key(name);
    key->set_kind(kind);
    key->set_slot(slot);
    key->set_value(value);
    abi::ResolvedRecipe::Entry *entry = step.mutable_recipe()->add_entries();
    entry->set_key(name);
    entry->set_value(value);
    entry->set_run_time(true);
  }

  uint64_t end[3] = {};

private:
  abi::Step &step;
  std::map<std::string, uint32_t> kernels;
  uint64_t ids = 0;
};

} // namespace

static void addKeys(abi::Step &step, Builder &b) {
  b.key("experiment.seed", abi::RunTimeKey::INTEGER, -1, "1");
  b.key("experiment.output_dir", abi::RunTimeKey::STRING, -1, "output");
  b.key("optim.lr", abi::RunTimeKey::NUMBER, 0, "0.125");
  step.mutable_run_time_keys(2)->set_has_minimum(true);
  step.mutable_run_time_keys(2)->set_minimum_exclusive(true);
  b.key("optim.decay", abi::RunTimeKey::NUMBER, 1, "0.75");
  step.mutable_run_time_keys(3)->set_has_maximum(true);
  step.mutable_run_time_keys(3)->set_maximum(1);
  b.key("optim.scheduler", abi::RunTimeKey::ENUMERATION, 2, "cosine");
  for (const char *value : {"constant", "linear", "cosine"})
    step.mutable_run_time_keys(4)->add_enum_values(value);
  b.key("optim.max_steps", abi::RunTimeKey::INTEGER, 3, "10");
  b.key("optim.warmup_ratio", abi::RunTimeKey::NUMBER, 4, "0.5");
  step.mutable_run_time_keys(6)->add_excludes("optim.warmup_steps");
  b.key("optim.warmup_steps", abi::RunTimeKey::INTEGER, 5, "");
  step.mutable_run_time_keys(7)->add_excludes("optim.warmup_ratio");
  b.key("data.path", abi::RunTimeKey::STRINGS, -1, "");
  b.key("data.shuffle", abi::RunTimeKey::BOOLEAN, -1, "true");
  b.key("data.eval_fraction", abi::RunTimeKey::NUMBER, -1, "0");
  b.key("logging.log_interval", abi::RunTimeKey::INTEGER, -1, "1");
  b.key("data.num_workers", abi::RunTimeKey::INTEGER, -1, "1");
  b.key("data.prefetch_depth", abi::RunTimeKey::INTEGER, -1, "2");
  b.key("model.init_from", abi::RunTimeKey::STRING, -1, "");
  abi::ResolvedRecipe::Entry *compiled = step.mutable_recipe()->add_entries();
  compiled->set_key("data.batch_size");
  compiled->set_value(std::to_string(step.manifest().batch_size()));
}

static void addManifest(abi::Step &step, const LineShape &shape) {
  abi::Manifest *m = step.mutable_manifest();
  m->set_name("line");
  m->set_producer("by hand");
  m->set_abi_version(RCP_ABI_VERSION);
  m->set_max_threads(4);
  m->set_seq_length(shape.length);
  m->set_batch_size(shape.batch);
  m->set_global_batch(shape.globalBatch);
  m->set_batch_segments(shape.segments);
  m->set_vocab_size(256);
  m->mutable_legal_ranks()->Assign(shape.ranks.begin(), shape.ranks.end());
  m->set_parameter_count(2);
}

abi::Step makeLineStep(const LineShape &shape) {
  abi::Step step;
  addManifest(step, shape);
  Builder b(step);
  addKeys(step, b);
  int64_t elements = shape.batch * shape.length;
  std::vector<int64_t> tokenShape = {shape.batch, shape.length};
  uint32_t line = b.buffer("param:line", abi::STATE, abi::F32, {2});
  uint32_t total = b.buffer("grad:line", abi::STATE, abi::F32, {2});
  uint32_t node = b.buffer("node:line", abi::STATE, abi::F32, {2});
  uint32_t pending = b.buffer("pending:line", abi::STATE, abi::F32, {8, 2});
  uint32_t loss = b.buffer("loss", abi::STATE, abi::F64, {2});
  uint32_t counters = b.buffer("counters", abi::STATE, abi::I64, {6});
  uint32_t factor = b.buffer("const:scale", abi::STATE, abi::F32, {1});
  uint32_t tokens = b.buffer("input:tokens", abi::INPUT, abi::I32, tokenShape);
  uint32_t labels = b.buffer("input:labels", abi::INPUT, abi::I32, tokenShape);
  uint32_t positions = b.buffer("input:positions", abi::INPUT, abi::I32, tokenShape);
  uint32_t residual = b.buffer("residual", abi::TRANSIENT, abi::F32, tokenShape);
  uint32_t environment = b.buffer("environment", abi::TRANSIENT, abi::I32, {shape.batch});
  (void)positions;

  abi::Constant *constant = step.add_constants();
  constant->set_buffer(factor);
  constant->set_data(std::string(reinterpret_cast<const char *>(&scale), 4));

  b.launch("init", "line_init", {line});
  b.launch("prologue", "line_prologue", {});
  abi::Instruction *forward =
      b.launch("forward", "line_residual", {line, tokens, labels, factor, residual, environment}, {shape.length});
  forward->set_workgroups(shape.batch);
  forward->set_scratch_bytes(uint64_t(shape.length) * 4);
  for (int predicate = 0; predicate < 6; ++predicate)
    b.launch("forward", "line_count", {counters}, {predicate}, abi::Predicate(predicate));
  b.launch("backward", "line_zero", {node}, {2}, abi::SEGMENT_BEGIN);
  b.launch("backward", "line_gradient", {tokens, labels, factor, residual, node, loss}, {elements});
  b.launch("backward", "line_copy", {node, total}, {}, abi::LAST_MICROBATCH);
  b.launch("backward", "line_merge", {node, pending, total}, {}, abi::ACCUMULATING);
  bool communicates = shape.ranks.size() > 1;
  std::vector<uint64_t> signals;
  if (communicates)
    signals = {b.allReduce("backward", "line_combine_float", total),
               b.allReduce("backward", "line_combine_double", loss)};
  abi::Instruction *update = b.launch("update", "line_update", {line, total, loss});
  for (uint64_t signal : signals)
    update->add_waits(signal);
  b.launch("eval", "line_eval", {line, tokens, labels, factor}, {elements});

  abi::Parameter *parameter = step.add_parameters();
  parameter->set_name("line");
  parameter->set_hf_name("model.line");
  parameter->add_hf_shape(2);
  parameter->set_slice_dim(-1);
  parameter->add_shape(2);
  parameter->set_buffer(line);
  parameter->add_gradient_buffers(total);

  for (auto [name, each] : {std::pair("prologue", false), {"forward", true}, {"backward", true}, {"update", false}}) {
    abi::ScheduleEntry *entry = step.add_schedule();
    entry->set_program(name);
    entry->set_loop(each ? abi::ScheduleEntry::EACH_MICROBATCH : abi::ScheduleEntry::ONCE);
  }

  abi::Certificate *certificate = step.mutable_certificate();
  uint64_t stride = (uint64_t(shape.length) * 4 + 63) / 64 * 64;
  certificate->set_scratch_offset(b.end[abi::TRANSIENT]);
  certificate->set_scratch_stride(stride);
  b.end[abi::TRANSIENT] += stride * step.manifest().max_threads();
  certificate->set_communication_offset(b.end[abi::TRANSIENT]);
  certificate->set_communication_bytes(communicates ? abi::kAllReduceStagingBytes : 0);
  for (int64_t ranks : shape.ranks) {
    abi::Certificate::Row *row = certificate->add_rows();
    row->set_ranks(ranks);
    row->set_accumulation(shape.globalBatch / shape.batch / ranks);
    row->set_state_bytes(b.end[abi::STATE]);
    row->set_input_bytes(b.end[abi::INPUT]);
    row->set_transient_bytes(b.end[abi::TRANSIENT] + (ranks > 1 ? certificate->communication_bytes() : 0));
    row->set_total_bytes(row->state_bytes() + row->input_bytes() + row->transient_bytes());
  }

  abi::NativeObject *object = step.add_objects();
  object->set_triple("x86_64-unknown-linux-gnu");
  object->set_cpu("x86-64");
  object->add_features("sse2");
  object->set_data(kernelObject());
  return step;
}

std::string bytesOf(const abi::Step &step) {
  std::string bytes, error;
  [[maybe_unused]] bool ok = abi::serializeStep(step, bytes, error);
  assert(ok);
  return bytes;
}

std::string container(const std::string &payload, uint32_t version) {
  std::string bytes = "RCPSTEP\n";
  for (uint64_t value : {uint64_t(version), uint64_t(payload.size())})
    for (int i = 0; i < 8; ++i)
      bytes += char(value >> (8 * i));
  bytes += payload;
  rt::Sha256 hash;
  hash.update(bytes.data(), bytes.size());
  rt::Sha256Digest digest = hash.finish();
  return bytes + std::string(digest.begin(), digest.end());
}

const std::string &kernelObject() {
  static const std::string object = [] {
    absl::StatusOr<std::string> contents = rt::readFile(LINE_KERNELS_PATH);
    if (!contents.ok()) {
      std::fprintf(stderr, "%s\n", std::string(contents.status().message()).c_str());
      std::abort();
    }
    return *contents;
  }();
  return object;
}

int32_t lineToken(int64_t sample, int64_t position) { return int32_t((sample * 37 + position * 11) % 64); }

int32_t lineLabel(int64_t sample, int64_t position) {
  if ((sample + position) % 5 == 0)
    return rt::kIgnoredLabel;
  return lineToken(sample, position) / 2 + 16 + int32_t((sample * 7 + position * 3) % 3);
}

absl::Status LineSource::fill(int64_t step, int64_t microbatch, const rt::MicroBatch &out) {
  if (step == failAtStep)
    return absl::DataLossError("the source fails here");
  {
    std::lock_guard<std::mutex> lock(mutex);
    calls.emplace_back(step, microbatch);
    threads.insert(std::this_thread::get_id());
  }
  for (int64_t i = 0; i < out.samples; ++i)
    for (int64_t t = 0; t < out.length; ++t) {
      int64_t sample = step * shape.globalBatch + microbatch * shape.batch + i;
      out.tokens[i * out.length + t] = lineToken(sample, t);
      out.labels[i * out.length + t] = lineLabel(sample, t);
      out.positions[i * out.length + t] = int32_t(t);
    }
  return absl::OkStatus();
}

LineReference lineReference(const LineShape &shape, int64_t steps, double learningRate, double decay, uint64_t seed) {
  LineReference r = {{0.25f + float(seed) * 0.125f, -0.5f}, 0, 0};
  int64_t perSegment = shape.globalBatch / shape.segments;
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<float> nodes[2];
    double lossSum = 0, count = 0;
    // A node is a segment, or a micro-batch if that is longer (these kernels chain through it).
    int64_t perNode = std::max(perSegment, shape.batch);
    for (int64_t first = 0; first < shape.globalBatch; first += perNode) {
      float gradient[2] = {0, 0};
      for (int64_t sample = step * shape.globalBatch + first; sample < step * shape.globalBatch + first + perNode;
           ++sample)
        for (int64_t t = 0; t < shape.length; ++t) {
          int32_t label = lineLabel(sample, t);
          if (label < 0)
            continue;
          float x = float(lineToken(sample, t)) * scale;
          float residual = r.line[0] * x + r.line[1] - float(label) * scale;
          gradient[0] += 2.0f * residual * x;
          gradient[1] += 2.0f * residual;
          lossSum += double(residual) * double(residual);
          count += 1;
        }
      nodes[0].push_back(gradient[0]);
      nodes[1].push_back(gradient[1]);
    }
    for (std::vector<float> &values : nodes)
      for (; values.size() > 1; values.resize(values.size() / 2))
        for (size_t i = 0; i < values.size() / 2; ++i)
          values[i] = values[2 * i] + values[2 * i + 1];
    double norm = std::sqrt(double(nodes[0][0]) * nodes[0][0] + double(nodes[1][0]) * nodes[1][0]);
    r.loss = lossSum / count;
    r.gradNorm = norm * (1.0 / count);
    float rate = float(learningRate * std::pow(decay, double(step)) * (1.0 / count));
    r.line[0] = r.line[0] - rate * nodes[0][0];
    r.line[1] = r.line[1] - rate * nodes[1][0];
  }
  return r;
}

} // namespace recipe::test
