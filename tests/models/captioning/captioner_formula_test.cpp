// Captioners against explicit formulas with libtorch functions in float64.

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/lstm_cell.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <tuple>

#include "tests/largest_difference.h"
#include "tests/models/captioning/small_captioner.h"

namespace modewise::models {
namespace {

/// Parameters and buffers of a captioner, with initial values 0 and 1 perturbed.
struct Weights {
  explicit Weights(const Captioner& captioner) {
    const at::NoGradGuard no_grad;
    for (const auto& p : captioner.named_parameters()) {
      if (p.key().find("norm") != std::string::npos) p.value().add_(at::randn_like(p.value()) / 5);
      all[p.key()] = p.value();
    }
    for (const auto& b : captioner.named_buffers()) all[b.key()] = b.value();
  }
  const at::Tensor& operator()(const std::string& name) const { return all.at(name); }
  at::Tensor linear(const std::string& name, const at::Tensor& x) const {
    return at::linear(x, all.at(name + ".weight"), all.at(name + ".bias"));
  }
  at::Tensor norm(const std::string& name, const at::Tensor& x) const {
    return at::layer_norm(x, {x.size(-1)}, all.at(name + ".weight"), all.at(name + ".bias"), 1e-5);
  }
  at::Tensor attention(const std::string& name, const at::Tensor& x, const at::Tensor& keys, int64_t heads,
                       bool causal) const {
    const auto split = [&](const at::Tensor& t) { return t.unflatten(-1, {heads, -1}).transpose(1, 2); };
    const at::Tensor out = at::scaled_dot_product_attention(
        split(linear(name + ".query_proj", x)), split(linear(name + ".key_proj", keys)),
        split(linear(name + ".value_proj", keys)), {}, 0, causal);
    return linear(name + ".out_proj", out.transpose(1, 2).flatten(-2));
  }
  at::Tensor fed(const std::string& name, const at::Tensor& x) const {
    return linear(name + ".linear2", at::gelu(linear(name + ".linear1", x)));
  }

  std::map<std::string, at::Tensor> all;
};

at::Tensor encoded(const Weights& w, at::Tensor x) {
  for (const std::string i : {"0", "1"}) {
    x = at::conv2d(x, w("encoder.convolutions." + i + ".weight"), {}, 2, 1);
    const std::string norm = "encoder.norms." + i;
    x = at::relu(at::batch_norm(x, w(norm + ".weight"), w(norm + ".bias"), w(norm + ".running_mean"),
                                w(norm + ".running_var"), false, 0, 1e-5, false));
  }
  x = w.linear("encoder.to_cells", x.movedim(1, -1)) + w("encoder.code.weight").view({5, 3, 10});
  at::Tensor tokens = x.flatten(1, 2), normed = w.norm("encoder.blocks.0.norm1", tokens);
  tokens = tokens + w.attention("encoder.blocks.0.attention", normed, normed, 2, false);
  tokens = tokens + w.fed("encoder.blocks.0.feedforward", w.norm("encoder.blocks.0.norm2", tokens));
  return w.norm("encoder.norm", tokens).view({-1, 5, 3, 10});
}

TEST(CaptionEncoder, IsItsFormula) {
  const at::NoGradGuard no_grad;
  CaptionModelConfig config = small_config();
  config.encoder.attention = "dot-product";
  const auto captioner = small_captioner(config);
  const Weights weights(*captioner);
  const at::Tensor images = some_images();
  EXPECT_LT(largest_difference(captioner->encode(images), encoded(weights, images)), 1e-12);
}

TEST(TransformerCaptioner, IsItsFormula) {
  const at::NoGradGuard no_grad;
  const auto captioner = small_captioner(small_config());
  const Weights w(*captioner);
  const at::Tensor cells = at::randn({2, 5, 3, 10}, at::kDouble), tokens = some_captions(2, 6);
  at::Tensor x = at::embedding(w("words.weight"), tokens) + w("places.weight").narrow(0, 0, 6);
  at::Tensor looked;
  for (const std::string layer : {"layers.0.", "layers.1."}) {
    const at::Tensor normed = w.norm(layer + "norm1", x), seen = cells.flatten(1, 2);
    x = x + w.attention(layer + "self_attn", normed, normed, 2, true);
    const at::Tensor asked = w.norm(layer + "norm2", x);
    const auto split = [](const at::Tensor& t) { return t.unflatten(-1, {2, 5}).transpose(1, 2); };
    looked = at::softmax(at::matmul(split(w.linear(layer + "cross_attn.query_proj", asked)),
                                    split(w.linear(layer + "cross_attn.key_proj", seen)).transpose(-1, -2)) /
                             std::sqrt(5.0),
                         -1)
                 .mean(1)
                 .view({2, 6, 5, 3});
    x = x + w.attention(layer + "cross_attn", asked, seen, 2, false);
    x = x + w.fed(layer + "feedforward", w.norm(layer + "norm3", x));
  }
  EXPECT_LT(largest_difference(captioner->logits(cells, tokens), w.linear("head", w.norm("norm", x))), 1e-12);
  EXPECT_LT(largest_difference(captioner->looked(cells, tokens), looked), 1e-12);
}

TEST(LstmCaptioner, IsItsFormula) {
  const at::NoGradGuard no_grad;
  const auto captioner = small_captioner(small_config("lstm"));
  const Weights w(*captioner);
  const at::Tensor cells = at::randn({2, 5, 3, 10}, at::kDouble), tokens = some_captions(2, 6);
  const at::Tensor seen = cells.flatten(1, 2), first = at::tanh(w.linear("first_states", seen.mean(1)));
  std::vector<at::Tensor> state = first.split(10, -1), given, weights;
  const at::Tensor keys = w.linear("attention.key_proj", seen),
                   values = w.linear("attention.value_proj", seen);
  for (int64_t t = 0; t < 6; ++t) {
    const at::Tensor asked = w.linear("attention.query_proj", state[2]).unsqueeze(1);
    weights.push_back(at::softmax(at::matmul(asked, keys.transpose(1, 2)) / std::sqrt(10.0), -1).squeeze(1));
    const at::Tensor found =
        w.linear("attention.out_proj", at::matmul(weights.back().unsqueeze(1), values).squeeze(1));
    at::Tensor x = at::cat({at::embedding(w("words.weight"), tokens.select(1, t)), found}, -1);
    for (const size_t layer : {0, 1}) {
      const std::string cell = "layers." + std::to_string(layer) + ".";
      std::tie(state[2 * layer], state[2 * layer + 1]) =
          at::lstm_cell(x, {state[2 * layer], state[2 * layer + 1]}, w(cell + "weight_ih"),
                        w(cell + "weight_hh"), w(cell + "bias_ih"), w(cell + "bias_hh"));
      x = state[2 * layer];
    }
    given.push_back(w.linear("head", at::cat({x, found}, -1)));
  }
  EXPECT_LT(largest_difference(captioner->logits(cells, tokens), at::stack(given, 1)), 1e-12);
  EXPECT_LT(largest_difference(captioner->looked(cells, tokens), at::stack(weights, 1).view({2, 6, 5, 3})),
            1e-12);
}

}  // namespace
}  // namespace modewise::models
