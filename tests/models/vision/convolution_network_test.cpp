// The two-layer CNN against libtorch's convolutions, normalisation and pooling, channels first.

#include "modewise/models/vision/convolution_network.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modewise/core/error.h"
#include "modewise/models/vision/config.h"
#include "modewise/ops/attention/attention_types.h"
#include "tests/largest_difference.h"
#include "tests/models/noise_oracle.h"

namespace modewise::models {
namespace {

using testing::HasSubstr;

const VisionShape kShape = {{11, 14}, 3, 5, false};

std::shared_ptr<VisionClassifier> make(std::vector<std::string> settings, const VisionShape& shape = kShape) {
  settings.insert(settings.begin(), "name=cnn");
  const auto model = make_vision_classifier(configured<VisionModelConfig>(settings), shape, 7);
  model->eval();
  return model;
}

TEST(ConvolutionNetwork, IsConvolutionsThenAttentionThenALinearMap) {
  const auto model = make({"cnn.widths=[4,6]", "cnn.kernel=5", "cnn.attention=random", "cnn.heads=2"});
  model->to(at::kDouble);
  auto p = model->named_parameters();
  auto b = model->named_buffers();
  for (auto& parameter : p) parameter.value().set_data(at::randn_like(parameter.value()) * 0.5);
  for (auto& buffer : b) buffer.value().set_data(at::randn_like(buffer.value()).abs() + 0.5);
  const at::Tensor images = at::randn({3, 11, 14, 3}, at::kDouble);
  at::Tensor x = images.movedim(-1, 1);
  for (const std::string i : {"0", "1"}) {
    x = at::conv2d(x, p["convolutions." + i + ".weight"], {}, 1, 2);
    x = at::batch_norm(x, p["norms." + i + ".weight"], p["norms." + i + ".bias"],
                       b["norms." + i + ".running_mean"], b["norms." + i + ".running_var"], false, 0.1, 1e-5,
                       false);
    x = at::max_pool2d(at::relu(x), 2, 2);
  }
  x = x.movedim(1, -1);  // [3, 2, 3, 6]: pooling drops the last cell of odd sizes
  const at::Tensor normed = at::layer_norm(x, {6}, p["attention_norm.weight"], p["attention_norm.bias"]);
  const at::Tensor v = at::linear(normed, p["attention.value_proj.weight"], p["attention.value_proj.bias"])
                           .flatten(1, 2)
                           .unflatten(-1, {2, 3})
                           .transpose(1, 2);
  const at::Tensor mixed =
      at::matmul(at::softmax(p["attention.logits.logits"], -1), v).transpose(1, 2).flatten(-2);
  x = x + at::linear(mixed, p["attention.out_proj.weight"], p["attention.out_proj.bias"]).view(x.sizes());
  const at::Tensor wanted = at::linear(x.flatten(1), p["linear.weight"], p["linear.bias"]);
  EXPECT_LT(largest_difference(model->forward({images, {}}), wanted), 1e-11);
  const AttentionView view = model->attention({images, {}});
  EXPECT_EQ(view.sizes, (std::vector<int64_t>{2, 3}));
  ASSERT_EQ(view.full.size(), 1U);
  EXPECT_LT(largest_difference(view.full[0][1], at::softmax(p["attention.logits.logits"], -1)), 1e-12);
}

TEST(ConvolutionNetwork, TakesEveryAttentionOfTheRegistryAndKeepsItsBits) {
  const at::Tensor images = at::randn({3, 11, 14, 3});
  const auto plain = make({"cnn.widths=[4,6]"});
  for (const std::string& name : ops::attention_names(ops::TokenLayout::grid)) {
    const auto model = make({"cnn.widths=[4,6]", "cnn.attention=" + name});
    at::set_num_threads(1);
    const at::Tensor one = model->forward({images, {}});
    at::set_num_threads(3);
    EXPECT_TRUE(at::equal(model->forward({images, {}}), one)) << name;
    EXPECT_GT(model->parameters().size(), plain->parameters().size()) << name;
  }
  at::set_num_threads(2);
}

TEST(ConvolutionNetwork, NamesWhatDoesNotFit) {
  const auto message = [](std::vector<std::string> settings, const VisionShape& shape) -> std::string {
    try {
      make(std::move(settings), shape);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::config);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({}, kShape), "");
  EXPECT_EQ(message({"cnn.widths=[]"}, kShape),
            "model: cnn.widths is empty: at least one convolution is needed");
  EXPECT_EQ(message({"cnn.kernel=4"}, kShape), "model: cnn.kernel = 4 must be odd");
  EXPECT_EQ(message({"cnn.heads=3"}, kShape), "model: cnn.heads = 3 must divide the last of cnn.widths, 64");
  EXPECT_EQ(message({"cnn.widths=[2,2,2,2]"}, kShape),
            "model: cnn.widths has 4 convolutions, each halving samples of 11 × 14: nothing is left");
  EXPECT_EQ(message({"cnn.widths=[2,2,2]"}, kShape), "");
  EXPECT_EQ(message({}, {{11}, 3, 5, false}), "model: cnn is for 2 or 3 axes, but the samples have 1");
  EXPECT_THAT(message({}, {{11, 14}, 3, 5, true}), HasSubstr("cnn does not support masks"));
  EXPECT_THAT(message({"width=8"}, kShape), HasSubstr("width"));
}

}  // namespace
}  // namespace modewise::models
