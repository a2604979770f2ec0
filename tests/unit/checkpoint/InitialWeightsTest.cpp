// Weights of others: single files and shards, number formats, spellings of names, and everything that may be wrong.
#include "runtime/checkpoint/InitialWeights.h"
#include "tests/unit/TempFolder.h"
#include <cmath>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>

namespace recipe::test {

namespace {

/// Bytes of a tensor that a test writes.
struct Stored {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::string bytes;
};

Stored f32(const std::string &name, std::vector<int64_t> shape, const std::vector<float> &values) {
  return {name, "F32", std::move(shape), std::string(reinterpret_cast<const char *>(values.data()), values.size() * 4)};
}

Stored sixteen(const std::string &name, const char *dtype, std::vector<int64_t> shape,
               const std::vector<uint16_t> &bits) {
  return {name, dtype, std::move(shape), std::string(reinterpret_cast<const char *>(bits.data()), bits.size() * 2)};
}

struct InitialWeightsTest : testing::Test {
  // base.emb [2, 3]; base.attn [2, 5] in columns v (3, 4) and q (0, 1, 2), in this order; base.norm [3].
  InitialWeightsTest() {
    parameter("emb", "base.emb", {2, 3}, -1, 0, {2, 3});
    parameter("attn[v]", "base.attn", {2, 5}, 1, 3, {2, 2});
    parameter("attn[q]", "base.attn", {2, 5}, 1, 0, {2, 3});
    parameter("norm", "base.norm", {3}, -1, 0, {3});
    abi::WeightFiles &files = *step.mutable_weight_files();
    files.set_base_prefix("base.");
    files.add_not_weights(".mask");
    files.add_meaning_keys("heads");
    files.add_meaning_keys("rope");
    abi::WeightFiles::Alias &tied = *files.add_tied();
    tied.set_name("head");
    tied.set_tensor("base.emb");
    step.mutable_manifest()->set_model_config(R"({"heads":3,"rope":{"factor":2,"type":"linear"},"width":7})");
  }

  void parameter(const std::string &name, const std::string &hfName, std::vector<int64_t> hfShape, int dim,
                 int64_t offset, std::vector<int64_t> shape) {
    abi::Parameter &p = *step.add_parameters();
    p.set_name(name);
    p.set_hf_name(hfName);
    p.mutable_hf_shape()->Assign(hfShape.begin(), hfShape.end());
    p.set_slice_dim(dim);
    p.set_slice_offset(offset);
    p.mutable_shape()->Assign(shape.begin(), shape.end());
    p.set_buffer(uint32_t(step.parameters_size() - 1));
  }

  void write(const std::string &file, const std::vector<Stored> &tensors) {
    std::filesystem::create_directories(std::filesystem::path(folder.path(file)).parent_path());
    std::vector<rt::TensorView> views;
    for (const Stored &tensor : tensors)
      views.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.bytes.data(), {}});
    ASSERT_TRUE(rt::writeSafetensors(folder.path(file), views).ok());
  }

  static std::vector<Stored> good() {
    return {f32("base.emb", {2, 3}, {1, 2, 3, 4, 5, 6}), f32("base.attn", {2, 5}, {0, 1, 2, 3, 4, 10, 11, 12, 13, 14}),
            f32("base.norm", {3}, {7, 8, 9})};
  }

  std::string refusal(const std::string &dir = "w") {
    auto weights = rt::InitialWeights::open(step, folder.path(dir));
    return weights.ok() ? "" : std::string(weights.status().message());
  }
  std::string at(const std::string &rest) { return folder.path("w") + rest; }

  void expectGood(const std::string &dir = "w") {
    auto weights = rt::InitialWeights::open(step, folder.path(dir));
    ASSERT_TRUE(weights.ok()) << weights.status();
    std::vector<std::vector<float>> buffers = {std::vector<float>(6), std::vector<float>(4), std::vector<float>(6),
                                               std::vector<float>(3)};
    weights->load(step, [&](uint32_t i) { return reinterpret_cast<std::byte *>(buffers[i].data()); });
    EXPECT_EQ(buffers,
              (std::vector<std::vector<float>>{{1, 2, 3, 4, 5, 6}, {3, 4, 13, 14}, {0, 1, 2, 10, 11, 12}, {7, 8, 9}}));
  }

  abi::Step step;
  TempFolder folder;
};

} // namespace

TEST_F(InitialWeightsTest, OneFileWithSlices) {
  write("w/model.safetensors", good());
  expectGood();
}

TEST_F(InitialWeightsTest, Shards) {
  std::vector<Stored> all = good();
  write("w/a.safetensors", {all[0], all[2]});
  write("w/b.safetensors", {all[1]});
  folder.write("w/model.safetensors.index.json",
               R"({"metadata": {"total_size": 76}, "weight_map": {"base.emb": "a.safetensors", )"
               R"("base.norm": "a.safetensors", "base.attn": "b.safetensors"}})");
  expectGood();
  // A single file comes first, as in transformers.
  write("w/model.safetensors", {all[0]});
  EXPECT_NE(refusal(), "");
}

TEST_F(InitialWeightsTest, NamesOfTheBaseModelAlone) {
  std::vector<Stored> all = good();
  for (Stored &tensor : all)
    tensor.name = tensor.name.substr(5);
  write("w/model.safetensors", all);
  expectGood();
}

TEST_F(InitialWeightsTest, WhatHoldsNoWeightsAndTiedCopiesAreFine) {
  std::vector<Stored> all = good();
  all.push_back({"base.h.mask", "U8", {2}, "ab"});
  all.push_back(f32("head", {2, 3}, {1, 2, 3, 4, 5, 6}));
  write("w/model.safetensors", all);
  expectGood();
  all.back() = f32("head", {2, 3}, {1, 2, 3, 4, 5, 7});
  write("w/model.safetensors", all);
  EXPECT_EQ(refusal(),
            at("/model.safetensors: tensor \"head\" must equal \"base.emb\", to which the model ties it, got "
               "other values"));
}

TEST_F(InitialWeightsTest, BrainFloats) {
  std::vector<Stored> all = good();
  all[2] = sixteen("base.norm", "BF16", {3}, {0x40E0, 0x4100, 0x4110}); // 7, 8, 9
  write("w/model.safetensors", all);
  expectGood();
}

TEST_F(InitialWeightsTest, EveryFiniteHalfIsExact) {
  std::vector<uint16_t> bits;
  for (uint32_t i = 0; i < 65536; ++i)
    if ((i & 0x7C00) != 0x7C00)
      bits.push_back(uint16_t(i));
  Stored stored = sixteen("x", "F16", {int64_t(bits.size())}, bits);
  rt::TensorView view{"x", "F16", stored.shape, stored.bytes.data(), {}};
  std::vector<float> values(bits.size());
  rt::readElements(view, 0, int64_t(bits.size()), values.data());
  for (size_t i = 0; i < bits.size(); ++i) {
    int exponent = (bits[i] >> 10) & 31, fraction = bits[i] & 1023;
    double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    ASSERT_EQ(double(values[i]), bits[i] & 0x8000 ? -magnitude : magnitude) << bits[i];
    ASSERT_EQ(std::signbit(values[i]), (bits[i] & 0x8000) != 0);
  }
}

TEST_F(InitialWeightsTest, AllProblemsInOneRun) {
  std::vector<Stored> all = good();
  all[0] = f32("base.emb", {3, 2}, {1, 2, 3, 4, 5, 6});
  all[1].dtype = "F64";
  all[1].bytes += all[1].bytes;
  all[2].name = "base.nrom";
  write("w/model.safetensors", all);
  folder.write("w/config.json", R"({"heads": 4, "rope": {"factor": 3, "type": "linear", "other": 1}, "width": 8})");
  EXPECT_EQ(refusal(), at("/config.json: 'heads' must be as compiled in, 3, got 4\n") +
                           at("/config.json: 'rope.factor' must be as compiled in, 2, got 3\n") +
                           at("/model.safetensors: tensor \"base.attn\" must be F32, BF16 or F16, got F64\n") +
                           at("/model.safetensors: tensor \"base.emb\" must have the shape [2, 3], got [3, 2], which "
                              "is transposed\n") +
                           at(": tensor \"base.norm\" is missing\n") +
                           at("/model.safetensors: tensor \"base.nrom\" is not one of the model's"));
}

TEST_F(InitialWeightsTest, ValuesMustBeFinite) {
  for (Stored bad : {f32("base.norm", {3}, {7, INFINITY, 9}), sixteen("base.norm", "F16", {3}, {1, 0xFC00, 2}),
                     sixteen("base.norm", "BF16", {3}, {1, 0x7FC0, 2})}) {
    std::vector<Stored> all = good();
    all[2] = bad;
    write("w/model.safetensors", all);
    EXPECT_EQ(refusal(), at("/model.safetensors: tensor \"base.norm\" must have finite values, got another one at "
                            "element 1"));
  }
}

TEST_F(InitialWeightsTest, Folders) {
  EXPECT_EQ(refusal(), at(": must be a folder with weights, found nothing"));
  folder.write("w", "");
  EXPECT_EQ(refusal(), at(": must be a folder with weights, found something else"));
  std::filesystem::create_directories(folder.path("e"));
  EXPECT_EQ(refusal("e"),
            folder.path("e") + ": must have model.safetensors or model.safetensors.index.json, found neither");
  folder.write("e/pytorch_model.bin", "");
  EXPECT_EQ(refusal("e"), folder.path("e") + ": must have model.safetensors or model.safetensors.index.json, found "
                                             "pytorch_model.bin, which is not read");
}

TEST_F(InitialWeightsTest, Indices) {
  std::vector<Stored> all = good();
  write("w/a.safetensors", {all[0], all[2]});
  std::string index = at("/model.safetensors.index.json");
  for (const auto &[text, message] : std::vector<std::pair<std::string, std::string>>{
           {"[", index + ": must be a JSON object with weight_map, an object"},
           {"{\"weight_map\": []}", index + ": must be a JSON object with weight_map, an object"},
           {"{\"weight_map\": {\"x\": " + std::string(100000, '[') + std::string(100000, ']') + "}}",
            index + ": must be a JSON object with weight_map, an object"},
           {"{\"weight_map\": {}}", index + ": weight_map must name tensors, got none"},
           {R"({"weight_map": {"x": "../a.safetensors"}})",
            index + ": weight_map must give the name of a file in this folder for \"x\", got \"../a.safetensors\""},
           {R"({"weight_map": {"x": 3}})",
            index + ": weight_map must give the name of a file in this folder for \"x\", got 3"},
           {R"({"weight_map": {"x": "gone.safetensors"}})",
            at("/gone.safetensors: cannot be opened: No such file or directory")},
           {R"({"weight_map": {"base.emb": "a.safetensors", "base.attn": "a.safetensors"}})",
            at("/a.safetensors: tensor \"base.norm\" must be in the index, which has it nowhere\n") + index +
                ": tensor \"base.attn\" must be in a.safetensors, which does not have it"},
       }) {
    folder.write("w/model.safetensors.index.json", text);
    EXPECT_EQ(refusal(), message);
  }
}

TEST_F(InitialWeightsTest, ConfigThatIsNoObject) {
  write("w/model.safetensors", good());
  folder.write("w/config.json", "{\"heads\": ");
  EXPECT_EQ(refusal(), at("/config.json: must be a JSON object"));
  // A key that only one side gives has a default on the other; null is no value.
  folder.write("w/config.json", R"({"rope": null, "other": 1})");
  expectGood();
}

} // namespace recipe::test
