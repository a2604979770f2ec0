#include "runtime/checkpoint/HuggingFace.h"
#include "tests/unit/TempFolder.h"
#include <cstring>
#include <gtest/gtest.h>

namespace recipe::test {

/// Adds a parameter in buffer number `buffer`.
static void add(abi::Step &step, const std::string &hfName, std::vector<int64_t> hfShape, int dim, int64_t offset,
                std::vector<int64_t> shape) {
  abi::Parameter *parameter = step.add_parameters();
  parameter->set_name(hfName + "#" + std::to_string(step.parameters_size()));
  parameter->set_hf_name(hfName);
  for (int64_t extent : hfShape)
    parameter->add_hf_shape(extent);
  parameter->set_slice_dim(dim);
  parameter->set_slice_offset(offset);
  for (int64_t extent : shape)
    parameter->add_shape(extent);
  parameter->set_buffer(uint32_t(step.parameters_size() - 1));
}

TEST(HuggingFace, SlicesMakeUpTheirTensor) {
  abi::Step step;
  add(step, "c_attn", {2, 5}, 1, 3, {2, 2}); // v before q: the order of parameters does not matter
  add(step, "wte", {3}, -1, 0, {3});
  add(step, "c_attn", {2, 5}, 1, 0, {2, 3});
  add(step, "bias", {4}, 0, 0, {1, 3});
  add(step, "bias", {4}, 0, 3, {1});
  std::vector<std::vector<float>> buffers = {{3, 4, 13, 14}, {7, 8, 9}, {0, 1, 2, 10, 11, 12}, {20, 21, 22}, {23}};
  auto tensors =
      rt::huggingFaceTensors(step, [&](uint32_t i) { return reinterpret_cast<const std::byte *>(buffers[i].data()); });
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  TempFolder folder;
  ASSERT_TRUE(rt::writeSafetensors(folder.path("m"), *tensors).ok());
  auto file = rt::readSafetensors(folder.path("m"));
  ASSERT_TRUE(file.ok()) << file.status();
  auto values = [&](const std::string &name) {
    const rt::TensorView *tensor = file->find(name);
    std::vector<float> v(*rt::tensorBytes(*tensor) / 4);
    std::memcpy(v.data(), tensor->data, v.size() * 4);
    return v;
  };
  EXPECT_EQ(file->tensors()[0].name, "c_attn");
  EXPECT_EQ(file->tensors()[0].shape, (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(values("c_attn"), (std::vector<float>{0, 1, 2, 3, 4, 10, 11, 12, 13, 14}));
  EXPECT_EQ(values("wte"), (std::vector<float>{7, 8, 9}));
  EXPECT_EQ(values("bias"), (std::vector<float>{20, 21, 22, 23}));
}

static std::string refusal(const abi::Step &step) {
  auto tensors = rt::huggingFaceTensors(step, [](uint32_t) { return nullptr; });
  return tensors.ok() ? "" : std::string(tensors.status().message());
}

TEST(HuggingFace, Refusals) {
  abi::Step hole, overlap, two, shapes, end;
  add(hole, "w", {6}, 0, 0, {2});
  add(hole, "w", {6}, 0, 3, {3});
  EXPECT_EQ(refusal(hole), "tensor 'w': slices must cover it once, got a hole or an overlap at 2");
  add(overlap, "w", {6}, 0, 0, {4});
  add(overlap, "w", {6}, 0, 3, {3});
  EXPECT_EQ(refusal(overlap), "tensor 'w': slices must cover it once, got a hole or an overlap at 3");
  add(end, "w", {6}, 0, 0, {5});
  EXPECT_EQ(refusal(end), "tensor 'w': slices must cover it once, got 5 of 6");
  add(two, "w", {6}, -1, 0, {6});
  add(two, "w", {6}, -1, 0, {6});
  EXPECT_EQ(refusal(two), "tensor 'w': must be one parameter or slices, got 'w#1' and 'w#2'");
  add(shapes, "w", {6}, 0, 0, {3});
  add(shapes, "w", {7}, 0, 3, {4});
  EXPECT_EQ(refusal(shapes), "tensor 'w': its slices must agree on shape and dimension, got 'w#1' and 'w#2'");
}

} // namespace recipe::test
