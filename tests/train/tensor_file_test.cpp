// Saving and loading tensors: every dtype, skipped tensors, and version counters after loading.

#include "modewise/train/checkpoint/tensor_file.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "tests/scratch_folder.h"
#include "toy_task.h"

namespace modewise::train {
namespace {

TEST(TensorFile, KeepsEveryTypeUnderItsName) {
  const ScratchFolder scratch;
  const std::pair<at::ScalarType, const char*> types[] = {
      {at::kFloat, "F32"}, {at::kDouble, "F64"}, {at::kBFloat16, "BF16"}, {at::kHalf, "F16"},
      {at::kLong, "I64"},  {at::kInt, "I32"},    {at::kShort, "I16"},     {at::kChar, "I8"},
      {at::kByte, "U8"},   {at::kBool, "BOOL"}};
  std::vector<NamedTensor> saved, loaded;
  for (const auto& [type, name] : types) {
    saved.push_back({name, at::full({3}, 1, type)});
    loaded.push_back({name, at::zeros({3}, type)});
  }
  io::write_safetensors(scratch / "all", writer_of(saved));
  const io::SafetensorsFile file(scratch / "all");
  EXPECT_EQ(file.size(), 10U);
  for (const auto& [type, name] : types) EXPECT_EQ(file.find(name)->dtype, name);
  load_tensors(scratch / "all", loaded);
  for (size_t i = 0; i < saved.size(); ++i)
    EXPECT_TRUE(at::equal(loaded[i].tensor, saved[i].tensor)) << saved[i].name;
}

TEST(TensorFile, WritesTensorsOfAnyStrideAndOfNoElements) {
  const ScratchFolder scratch;
  at::Tensor wide = at::zeros({2, 3});
  for (int64_t i = 0; i < 6; ++i) wide.mutable_data_ptr<float>()[i] = static_cast<float>(i);
  io::write_safetensors(scratch / "f",
                        writer_of(std::vector<NamedTensor>{{"t", wide.t()}, {"none", at::zeros({0, 2})}}));
  const at::Tensor t = at::zeros({3, 2});
  load_tensors(scratch / "f", std::vector<NamedTensor>{{"t", t}, {"none", at::zeros({0, 2})}});
  EXPECT_TRUE(at::equal(t, wide.t()));
}

TEST(TensorFile, ALoadIsAChangeThatAutogradSees) {
  const ScratchFolder scratch;
  io::write_safetensors(scratch / "f", writer_of(std::vector<NamedTensor>{{"t", at::full({2}, 7.0)}}));
  const at::Tensor t = at::zeros({2});
  const auto before = t._version();
  load_tensors(scratch / "f", std::vector<NamedTensor>{{"t", t}});
  EXPECT_EQ(t._version(), before + 1);
  const c10::InferenceMode inference;  // inference tensors have no version counter
  const at::Tensor evaluated = at::zeros({2});
  load_tensors(scratch / "f", std::vector<NamedTensor>{{"t", evaluated}});
  EXPECT_EQ(evaluated[1].item<float>(), 7.0F);
}

TEST(TensorFile, NamesWhatIsThereAndWhatTrains) {
  ToyNet net(1);
  net.register_parameter("absent", at::Tensor(), false);
  net.first_bias.requires_grad_(false);
  const auto names = [](const std::vector<NamedTensor>& tensors) {
    std::vector<std::string> list;
    for (const NamedTensor& one : tensors) list.push_back(one.name);
    return list;
  };
  EXPECT_EQ(names(module_tensors(net)),
            (std::vector<std::string>{"first_weight", "first_bias", "norm_weight", "second_weight",
                                      "second_bias", "forward_count", "hidden_mean"}));
  EXPECT_EQ(names(trainable_parameters(net)),
            (std::vector<std::string>{"first_weight", "norm_weight", "second_weight", "second_bias"}));
}

}  // namespace
}  // namespace modewise::train
