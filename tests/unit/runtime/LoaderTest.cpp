#include "runtime/loader/Loader.h"
#include "runtime/loader/CpuFeatures.h"
#include "tests/abi/HandWrittenStep.h"
#include <functional>
#include <gtest/gtest.h>

namespace recipe::test {

static std::string refusal(const abi::Step &step, const rt::LoadOptions &options = {}) {
  absl::StatusOr<rt::LoadedStep> loaded = rt::loadStep(bytesOf(step), options);
  return loaded.ok() ? "" : std::string(loaded.status().message());
}

static bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

static abi::Instruction &instruction(abi::Step &step, int program = 2, int index = 0) {
  return *step.mutable_programs(program)->mutable_instructions(index);
}

TEST(Loader, LoadsEveryFactoring) {
  struct {
    int64_t batch, accumulation, nodeMicrobatches, nodeCount;
  } cases[] = {{1, 8, 2, 4}, {2, 4, 1, 4}, {4, 2, 1, 2}, {8, 1, 1, 1}};
  for (auto c : cases) {
    LineShape shape;
    shape.batch = c.batch;
    absl::StatusOr<rt::LoadedStep> loaded = rt::loadStep(bytesOf(makeLineStep(shape)), {});
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(loaded->plan.accumulation, c.accumulation);
    EXPECT_EQ(loaded->plan.nodeMicrobatches, c.nodeMicrobatches);
    EXPECT_EQ(loaded->plan.nodeCount, c.nodeCount);
    EXPECT_EQ(loaded->kernels.size(), size_t(loaded->step->kernels_size()));
  }
}

struct Refusal {
  const char *what;
  std::function<void(abi::Step &)> change;
  std::vector<const char *> parts; // of the message
};

static const Refusal refusals[] = {
    {"newer ABI", [](auto &s) { s.mutable_manifest()->set_abi_version(9); }, {"ABI version must be 1, got 9", "newer"}},
    {"no manifest", [](auto &s) { s.clear_manifest(); }, {"ABI version must be 1, got 0"}},
    {"no threads", [](auto &s) { s.mutable_manifest()->set_max_threads(0); }, {"max_threads must be", "got 0"}},
    {"negative T", [](auto &s) { s.mutable_manifest()->set_seq_length(-8); }, {"seq_length must be", "got -8"}},
    {"huge B", [](auto &s) { s.mutable_manifest()->set_batch_size(int64_t(1) << 62); }, {"batch_size must be"}},
    {"B x T",
     [](auto &s) { s.mutable_manifest()->set_seq_length(int64_t(1) << 31); },
     {"batch_size x seq_length must be"}},
    {"S, G", [](auto &s) { s.mutable_manifest()->set_batch_segments(3); }, {"divide global_batch, got 3 and 8"}},
    {"B, G/S", [](auto &s) { s.mutable_manifest()->set_batch_size(3); }, {"batch_size must divide", "got 3 and 2"}},
    {"ranks",
     [](auto &s) { s.mutable_manifest()->set_legal_ranks(0, 2); },
     {"that the step was compiled for, got 1 and 2"}},
    {"no row", [](auto &s) { s.mutable_certificate()->mutable_rows(0)->set_ranks(2); }, {"no row for 1 ranks"}},
    {"accumulation", [](auto &s) { s.mutable_certificate()->mutable_rows(0)->set_accumulation(5); }, {"got 5 and 4"}},
    {"total", [](auto &s) { s.mutable_certificate()->mutable_rows(0)->set_total_bytes(1); }, {"total_bytes must be"}},
    {"huge region",
     [](auto &s) { s.mutable_certificate()->mutable_rows(0)->set_state_bytes(~uint64_t(0)); },
     {"total_bytes must be"}},
    {"scratch offset", [](auto &s) { s.mutable_certificate()->set_scratch_offset(1 << 20); }, {"scratch of 4 threads"}},
    {"scratch align",
     [](auto &s) { s.mutable_certificate()->set_scratch_offset(4); },
     {"64-byte aligned, got offset 4"}},
    {"scratch stride", [](auto &s) { s.mutable_certificate()->set_scratch_stride(~uint64_t(63)); }, {"scratch of 4"}},
    {"buffer offset",
     [](auto &s) { s.mutable_buffers(0)->set_offset(1 << 30); },
     {"'param:line'", "inside its region"}},
    {"buffer align", [](auto &s) { s.mutable_buffers(0)->set_offset(4); }, {"'param:line'", "64-byte aligned"}},
    {"buffer bytes",
     [](auto &s) { s.mutable_buffers(0)->set_bytes(~uint64_t(0)); },
     {"'param:line'", "inside its region"}},
    {"buffer name", [](auto &s) { s.mutable_buffers(1)->set_name("param:line"); }, {"unique", "'param:line'"}},
    {"buffer region", [](auto &s) { s.mutable_buffers(0)->set_region(abi::Region(9)); }, {"unknown region 9"}},
    {"buffer type", [](auto &s) { s.mutable_buffers(0)->set_type(abi::DataType(9)); }, {"unknown data type 9"}},
    {"shape", [](auto &s) { s.mutable_buffers(0)->add_shape(-1); }, {"shape out of range", "[2, -1]"}},
    {"slots overlap", [](auto &s) { s.mutable_buffers(7)->set_slot_stride(0); }, {"'input:tokens'", "two slots"}},
    {"slot stride",
     [](auto &s) { s.mutable_buffers(9)->set_slot_stride(~uint64_t(63)); },
     {"'input:positions'", "two slots"}},
    {"slot end",
     [](auto &s) { s.mutable_buffers(9)->set_slot_stride(128); },
     {"'input:positions'", "inside its region"}},
    {"small input", [](auto &s) { s.mutable_buffers(7)->set_bytes(8); }, {"'input:tokens'", "64 bytes, got 8"}},
    {"input type", [](auto &s) { s.mutable_buffers(8)->set_type(abi::F32); }, {"'input:labels'", "I32"}},
    {"absent input",
     [](auto &s) { s.mutable_buffers(7)->set_min_nodes(2); },
     {"min_nodes is for state buffers, got 2"}},
    {"absent constant", [](auto &s) { s.mutable_buffers(6)->set_min_nodes(2); }, {"'const:scale'", "4 bytes, got 4"}},
    {"absent parameter", [](auto &s) { s.mutable_buffers(0)->set_min_nodes(1); }, {"'line'", "F32 state buffer"}},
    {"absent but used",
     [](auto &s) { s.mutable_buffers(2)->set_min_nodes(2); },
     {"must be ACCUMULATING, got SEGMENT_BEGIN"}},
    {"constant index", [](auto &s) { s.mutable_constants(0)->set_buffer(99); }, {"below 12, got 99"}},
    {"constant size", [](auto &s) { s.mutable_constants(0)->set_data("abc"); }, {"'const:scale'", "4 bytes, got 3"}},
    {"parameter buffer", [](auto &s) { s.mutable_parameters(0)->set_buffer(12); }, {"'line'", "below 12, got 12"}},
    {"gradient buffer", [](auto &s) { s.mutable_parameters(0)->set_gradient_buffers(0, 77); }, {"'line'", "got 77"}},
    {"optimizer buffer", [](auto &s) { s.mutable_parameters(0)->add_optimizer_buffers(78); }, {"'line'", "got 78"}},
    {"optimizer buffer that is not state",
     [](auto &s) { s.mutable_parameters(0)->add_optimizer_buffers(10); },
     {"'line'", "must be an F32 state buffer of [2]", "'residual'"}},
    {"parameter shape", [](auto &s) { s.mutable_parameters(0)->set_shape(0, 3); }, {"'line'", "of [3], got 8 bytes"}},
    {"hf shape", [](auto &s) { s.mutable_parameters(0)->set_hf_shape(0, 3); }, {"as many elements", "got 2 and 3"}},
    {"hf shape zero", [](auto &s) { s.mutable_parameters(0)->set_hf_shape(0, 0); }, {"shapes out of range"}},
    {"slice dim", [](auto &s) { s.mutable_parameters(0)->set_slice_dim(4); }, {"slice_dim must be", "got 4"}},
    {"slice end",
     [](auto &s) {
       s.mutable_parameters(0)->set_slice_dim(0);
       s.mutable_parameters(0)->set_slice_offset(1);
     },
     {"slice of 'model.line'", "at 1"}},
    {"kernel",
     [](auto &s) { instruction(s).set_kernel(99); },
     {"'line_residual' of 'forward'", "kernel must be", "99"}},
    {"argument",
     [](auto &s) { instruction(s).mutable_arguments(1)->set_buffer(99); },
     {"buffer must be below 12, got 99"}},
    {"argument offset", [](auto &s) { instruction(s).mutable_arguments(0)->set_offset(8); }, {"start inside", "got 8"}},
    {"workgroups", [](auto &s) { instruction(s).set_workgroups(0); }, {"workgroups must be", "got 0"}},
    {"many workgroups", [](auto &s) { instruction(s).set_workgroups(int64_t(1) << 31); }, {"workgroups must be"}},
    {"scratch", [](auto &s) { instruction(s).set_scratch_bytes(65); }, {"slice of 64 bytes, got 65"}},
    {"predicate", [](auto &s) { instruction(s).set_predicate(abi::Predicate(6)); }, {"unknown predicate 6"}},
    {"location", [](auto &s) { instruction(s).set_location(1); }, {"location must be below 0, got 1"}},
    {"wait", [](auto &s) { instruction(s).add_waits(12345); }, {"issued before, got 12345"}},
    {"queue", [](auto &s) { instruction(s).set_queue(abi::COMMUNICATION); }, {"compute queue", "got queue 1"}},
    {"signal", [](auto &s) { instruction(s).set_signal(7); }, {"no signal, got queue 0 and signal 7"}},
    {"scheduled twice", [](auto &s) { *s.add_schedule() = s.schedule(0); }, {"'prologue', or it is there twice"}},
    {"symbol", [](auto &s) { s.mutable_kernels(0)->set_symbol("a b"); }, {"identifier, got 'a b'"}},
    {"missing kernel", [](auto &s) { s.mutable_kernels(0)->set_symbol("nothing"); }, {"exports no kernel 'nothing'"}},
    {"program name", [](auto &s) { s.mutable_programs(0)->set_name("eval"); }, {"program names", "'eval'"}},
    {"schedule", [](auto &s) { s.mutable_schedule(0)->set_program("nothing"); }, {"no program 'nothing'"}},
    {"schedule loop",
     [](auto &s) { s.mutable_schedule(0)->set_loop(abi::ScheduleEntry::Loop(5)); },
     {"unknown loop 5"}},
    {"key slot", [](auto &s) { s.mutable_run_time_keys(2)->set_slot(32); }, {"'optim.lr'", "below 32, got 32"}},
    {"key slot twice", [](auto &s) { s.mutable_run_time_keys(2)->set_slot(1); }, {"'optim.decay'", "got 1"}},
    {"key twice", [](auto &s) { s.mutable_run_time_keys(2)->set_key("optim.decay"); }, {"unique", "'optim.decay'"}},
    {"key kind", [](auto &s) { s.mutable_run_time_keys(2)->set_kind(abi::RunTimeKey::Kind(8)); }, {"unknown kind 8"}},
    {"key value",
     [](auto &s) { s.mutable_run_time_keys(2)->set_value("x"); },
     {"'optim.lr' must be a number, got 'x'"}},
    {"no object", [](auto &s) { s.clear_objects(); }, {"no native object"}},
    {"other machine",
     [](auto &s) { s.mutable_objects(0)->set_triple("aarch64-linux"); },
     {"compiled for aarch64-linux"}},
    {"missing ISA",
     [](auto &s) {
       s.mutable_objects(0)->add_features("sparc-vis");
       s.mutable_objects(0)->set_cpu("v9");
     },
     {"compiled for v9", "lacks sparc-vis"}},
    {"missing tiles",
     [](auto &s) { s.mutable_objects(0)->add_features("amx-none"); },
     {"lacks amx-none or its kernel does not let this process use them; compile again"}},
    {"no ELF", [](auto &s) { s.mutable_objects(0)->set_data("abc"); }, {"native object: not an ELF file"}},
};

TEST(Loader, Refusals) {
  for (const Refusal &r : refusals) {
    abi::Step step = makeLineStep();
    r.change(step);
    std::string message = refusal(step);
    EXPECT_FALSE(message.empty()) << r.what;
    for (const char *part : r.parts)
      EXPECT_TRUE(contains(message, part)) << r.what << ": " << message;
  }
}

static abi::Step makeStepForTwo() {
  LineShape shape;
  shape.ranks = {1, 2};
  return makeLineStep(shape);
}

/// The sum over ranks of the gradient, and the instruction that waits for it.
static abi::Instruction &collective(abi::Step &step) { return instruction(step, 3, 4); }
static abi::Instruction &waiter(abi::Step &step) { return instruction(step, 4, 0); }

static const Refusal refusalsOnTwo[] = {
    {"axis", [](auto &s) { collective(s).mutable_collective()->set_axis("tensor"); }, {"axis 'data', got 'tensor'"}},
    {"kind",
     [](auto &s) { collective(s).mutable_collective()->set_kind(abi::Collective::Kind(3)); },
     {"'all_reduce grad:line' of 'backward'", "unknown kind of collective 3"}},
    {"part",
     [](auto &s) { collective(s).mutable_collective()->set_elements(1); },
     {"all of its buffers, got 1 elements and 8 bytes"}},
    {"type",
     [](auto &s) { collective(s).mutable_collective()->set_type(abi::I32); },
     {"whole state buffers of its type", "'grad:line'"}},
    {"transient",
     [](auto &s) { collective(s).mutable_arguments(0)->set_buffer(10); },
     {"whole state buffers", "'residual'"}},
    {"no buffers", [](auto &s) { collective(s).clear_arguments(); }, {"must have buffers", "got 0"}},
    {"backwards", [](auto &s) { collective(s).add_arguments(); }, {"must follow each other", "'param:line' at 0"}},
    {"offset", [](auto &s) { collective(s).mutable_arguments(0)->set_offset(4); }, {"whole state buffers"}},
    {"no signal", [](auto &s) { collective(s).set_signal(0); }, {"have a signal, got queue 1 and signal 0"}},
    {"compute queue", [](auto &s) { collective(s).set_queue(abi::COMPUTE); }, {"communication queue", "got queue 0"}},
    {"each micro-batch",
     [](auto &s) { collective(s).set_predicate(abi::SEGMENT_END); },
     {"LAST_MICROBATCH, got SEGMENT_END"}},
    {"waiting collective", [](auto &s) { collective(s).add_waits(1); }, {"must not wait, got 1"}},
    {"signal twice",
     [](auto &s) { instruction(s, 3, 5).set_signal(collective(s).signal()); },
     {"signals must be unique"}},
    {"wait for later",
     [](auto &s) { instruction(s, 2, 0).add_waits(collective(s).signal()); },
     {"'line_residual' of 'forward'", "issued before"}},
    {"wait for itself", [](auto &s) { waiter(s).set_waits(0, waiter(s).id()); }, {"'line_update'", "issued before"}},
    {"eval communicates",
     [](auto &s) { *s.mutable_programs(5)->add_instructions() = collective(s); },
     {"program 'eval' is not in the schedule", "'all_reduce grad:line'"}},
    {"no place",
     [](auto &s) { s.mutable_certificate()->set_communication_bytes(64); },
     {"communication must be 4194304 bytes or more", "got 64"}},
    {"outside",
     [](auto &s) { s.mutable_certificate()->set_communication_offset(1 << 20); },
     {"inside the transient region", "at 1048576"}},
    {"alone",
     [](auto &s) {
       s.mutable_programs(3)->mutable_instructions()->DeleteSubrange(4, 2);
       waiter(s).clear_waits();
     },
     {"no sums over ranks", "got 2"}},
};

TEST(Loader, RefusalsOnSeveralRanks) {
  rt::LoadOptions options;
  options.ranks = 2;
  EXPECT_EQ(refusal(makeStepForTwo(), options), "");
  EXPECT_EQ(refusal(makeStepForTwo()), "");
  for (const Refusal &r : refusalsOnTwo) {
    abi::Step step = makeStepForTwo();
    r.change(step);
    std::string message = refusal(step, options);
    EXPECT_FALSE(message.empty()) << r.what;
    for (const char *part : r.parts)
      EXPECT_TRUE(contains(message, part)) << r.what << ": " << message;
  }
}

TEST(Loader, RefusesIllegalRanksByNamingTheLegal) {
  abi::Step step = makeLineStep();
  step.mutable_manifest()->add_legal_ranks(2);
  rt::LoadOptions options;
  options.ranks = 3;
  EXPECT_TRUE(contains(refusal(step, options), "got 3 and 1, 2")) << refusal(step, options);
}

TEST(Loader, StateOfManyNodesNeedsNoPlaceOnFew) {
  LineShape shape;
  shape.batch = 8; // one node
  abi::Step step = makeLineStep(shape);
  step.mutable_buffers(3)->set_min_nodes(2); // pending:line
  step.mutable_buffers(3)->set_offset(1 << 30);
  EXPECT_EQ(refusal(step), "");
  shape.batch = 4;
  step = makeLineStep(shape);
  step.mutable_buffers(3)->set_min_nodes(2);
  EXPECT_EQ(refusal(step), "");
  step.mutable_buffers(3)->set_offset(1 << 30);
  EXPECT_TRUE(contains(refusal(step), "'pending:line': must lie inside its region"));
}

TEST(Loader, ChoosesTheFirstObjectThatRuns) {
  abi::Step step = makeLineStep();
  abi::NativeObject good = step.objects(0);
  step.mutable_objects(0)->add_features("amx-not-here");
  *step.add_objects() = good;
  EXPECT_EQ(refusal(step), "");
}

TEST(CpuFeatures, AgreeWithTheCompiler) {
  __builtin_cpu_init();
  EXPECT_EQ(rt::hasCpuFeature("sse4.2"), bool(__builtin_cpu_supports("sse4.2")));
  EXPECT_EQ(rt::hasCpuFeature("avx2"), bool(__builtin_cpu_supports("avx2")));
  EXPECT_EQ(rt::hasCpuFeature("fma"), bool(__builtin_cpu_supports("fma")));
  EXPECT_EQ(rt::hasCpuFeature("bmi2"), bool(__builtin_cpu_supports("bmi2")));
  EXPECT_EQ(rt::hasCpuFeature("avx512f"), bool(__builtin_cpu_supports("avx512f")));
  EXPECT_EQ(rt::hasCpuFeature("avx512bw"), bool(__builtin_cpu_supports("avx512bw")));
  EXPECT_EQ(rt::hasCpuFeature("avx512bf16"), bool(__builtin_cpu_supports("avx512bf16")));
  if (rt::hasCpuFeature("amx-tile")) // and the kernel granted it
    EXPECT_TRUE(__builtin_cpu_supports("amx-tile"));
  EXPECT_EQ(rt::missingCpuFeatures({"sse2", "no-such-thing"}), std::vector<std::string>{"no-such-thing"});
}

} // namespace recipe::test