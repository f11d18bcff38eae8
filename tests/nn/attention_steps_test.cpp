// Incremental decoding, and cross-attention to a memory projected once, against the full pass.

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "modewise/nn/attention/grid_attention.h"
#include "modewise/ops/attention/attention_types.h"
#include "tests/largest_difference.h"

namespace modewise::nn {
namespace {

constexpr int64_t kTokens = 7, kKeys = 15, kStepWidth = 14, kStepHeads = 2;

std::shared_ptr<Attention> make(std::string_view type, int64_t keys, bool causal) {
  Initializer init(5);
  AttentionTypeOptions options;
  options.causal = causal;
  auto out = make_attention(init, type, {{kTokens}, keys, kStepWidth, kStepHeads}, options);
  out->to(at::kDouble);
  // Move θ and biases away from 0, where many errors would be invisible.
  for (const auto& p : out->named_parameters())
    if (p.value().abs().max().item<double>() == 0) p.value().set_data(at::randn_like(p.value()));
  return out;
}

std::string said(const std::function<void()>& action) {
  try {
    action();
  } catch (const c10::ValueError& error) {
    return error.what_without_backtrace();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(AttentionSteps, AreTheRowsOfCausalAttention) {
  for (const ops::AttentionType& type : ops::attention_types(ops::TokenLayout::grid)) {
    if (!type.causal) continue;
    const auto attention = make(type.name, 0, true);
    const at::Tensor x = at::randn({3, kTokens, kStepWidth}, at::kDouble), whole = attention->forward(x, {});
    TokenCache cache;
    for (int64_t place = 0; place < kTokens; ++place)
      EXPECT_LT(largest_difference(attention->step(x.narrow(1, place, 1), cache), whole.narrow(1, place, 1)),
                1e-13)
          << type.name << ", place " << place;
    EXPECT_EQ(cache.values.sizes().vec(), (std::vector<int64_t>{3, kTokens, kStepWidth})) << type.name;
    EXPECT_EQ(cache.keys.defined(), type.name == "dot-product");
  }
}

TEST(AttentionSteps, ToAMemoryAreTheRowsOfTheirPlace) {
  for (const ops::AttentionType& type : ops::attention_types(ops::TokenLayout::grid)) {
    if (!type.cross_attention) continue;
    const auto attention = make(type.name, kKeys, false);
    const at::Tensor cells = at::randn({2, 3, 5, kStepWidth}, at::kDouble);
    const TokenCache memory = attention->remembered(cells);
    // Nine sequences per memory: more than the tokens that a synthesizer was built for.
    const at::Tensor x = at::randn({9, 2, kTokens, kStepWidth}, at::kDouble);
    for (int64_t place = 0; place < kTokens; ++place) {
      const at::Tensor rows = attention->attend_step(x.select(2, place).transpose(0, 1), memory, place);
      ASSERT_EQ(rows.sizes().vec(), (std::vector<int64_t>{2, 9, kStepWidth})) << type.name;
      for (int64_t sequence : {0, 1, 8})
        EXPECT_LT(largest_difference(rows.select(1, sequence),
                                     attention->attend(x[sequence], {cells, {}}).select(1, place)),
                  1e-13)
            << type.name << ", place " << place;
    }
  }
}

TEST(AttentionSteps, WeighTheKeysOfAMemory) {
  for (const ops::AttentionType& type : ops::attention_types(ops::TokenLayout::grid)) {
    if (!type.cross_attention) continue;
    const auto attention = make(type.name, kKeys, false);
    const at::Tensor x = at::randn({2, kTokens, kStepWidth}, at::kDouble),
                     cells = at::randn({2, 3, 5, kStepWidth}, at::kDouble);
    const at::Tensor weights = attention->attend_matrix(x, {cells, {}});
    if (type.name == "linformer") {
      EXPECT_FALSE(weights.defined());
      continue;
    }
    ASSERT_EQ(weights.sizes().vec(), (std::vector<int64_t>{2, kStepHeads, kTokens, kKeys})) << type.name;
    const auto parameters = attention->named_parameters();
    const auto linear = [&](const std::string& name, const at::Tensor& t) {
      return at::linear(t, parameters[name + ".weight"], parameters[name + ".bias"]);
    };
    const at::Tensor values =
        linear("value_proj", cells.flatten(1, 2)).unflatten(-1, {kStepHeads, -1}).transpose(1, 2);
    const at::Tensor mixed = at::matmul(weights, values).transpose(1, 2).flatten(-2);
    EXPECT_LT(largest_difference(linear("out_proj", mixed), attention->attend(x, {cells, {}})), 1e-12)
        << type.name;
    EXPECT_LT(largest_difference(weights.sum(-1), at::ones({2, kStepHeads, kTokens}, at::kDouble)), 1e-12)
        << type.name;
    const at::Tensor mask = at::tensor(std::vector<int64_t>{1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1})
                                .to(at::kBool)
                                .view({1, 3, 5})
                                .expand({2, -1, -1});
    const at::Tensor kept = weights * mask.flatten(1).unsqueeze(1).unsqueeze(1).to(at::kDouble);
    EXPECT_LT(largest_difference(attention->attend_matrix(x, {cells, mask}), kept / kept.sum(-1, true)),
              1e-12)
        << type.name;
  }
}

TEST(CausalDotProduct, IsItsFormula) {
  const auto attention = make("dot-product", 0, true);
  const at::Tensor x = at::randn({2, kTokens, kStepWidth}, at::kDouble);
  const auto parameters = attention->named_parameters();
  const auto linear = [&](const std::string& name, const at::Tensor& t) {
    return at::linear(t, parameters[name + ".weight"], parameters[name + ".bias"]);
  };
  const auto heads = [&](const std::string& name) {
    return linear(name, x).unflatten(-1, {kStepHeads, -1}).transpose(1, 2);
  };
  const at::Tensor seen = at::ones({kTokens, kTokens}, at::kBool).tril();
  const at::Tensor logits =
      at::matmul(heads("query_proj"), heads("key_proj").transpose(-1, -2)) / std::sqrt(7.0);
  const at::Tensor weights = at::softmax(logits.masked_fill(seen.logical_not(), -INFINITY), -1);
  const auto out = [&](const at::Tensor& w) {
    return linear("out_proj", at::matmul(w, heads("value_proj")).transpose(1, 2).flatten(-2));
  };
  EXPECT_LT(largest_difference(attention->forward(x, {}), out(weights)), 1e-12);
  EXPECT_LT(largest_difference(attention->full_matrix(x, {}), weights), 1e-12);
  // Tokens that attend to nothing get no values: the first two of the second sample.
  at::Tensor mask = at::ones({2, kTokens}, at::kBool);
  mask[0][3].fill_(false);
  mask[1].narrow(0, 0, 2).fill_(false);
  const at::Tensor kept = weights * mask.unsqueeze(1).unsqueeze(1).to(at::kDouble);
  const at::Tensor masked = kept / kept.sum(-1, true).clamp_min(1e-300);
  EXPECT_LT(largest_difference(attention->forward(x, mask), out(masked)), 1e-12);
  EXPECT_LT(largest_difference(attention->full_matrix(x, mask), masked), 1e-12);
}

TEST(AttentionSteps, RefuseInWholeSentences) {
  Initializer init(1);
  const at::Tensor x = at::randn({1, 1, kStepWidth}, at::kDouble);
  TokenCache cache;
  for (const char* name : {"dot-product", "dense", "linformer", "kronecker"}) {
    const auto attention = make(name, 0, false);
    EXPECT_EQ(said([&] { attention->step(x, cache); }),
              "this attention type is not causal: it has no incremental decoding")
        << name;
  }
  const auto kronecker = make("kronecker", 0, false);
  const std::string elsewhere =
      "this attention type mixes the tokens of one tensor: it has no cross-attention";
  EXPECT_EQ(said([&] { kronecker->remembered(x); }), elsewhere);
  EXPECT_EQ(said([&] { kronecker->attend_step(x, cache, 0); }), elsewhere);
  EXPECT_FALSE(kronecker->attend_matrix(x, {x, {}}).defined());
  const auto random = make("random", kKeys, false);
  const TokenCache memory = random->remembered(at::randn({1, kKeys, kStepWidth}, at::kDouble));
  EXPECT_EQ(said([&] { random->attend_step(x, memory, kTokens); }),
            "a synthesizer built for 7 tokens has no position 7");
  const std::string bounds = "causal attention needs scope `all`, softmax and no rotary embedding";
  for (const TokenAttentionOptions& options :
       {TokenAttentionOptions{.scope = AttentionScope::temporal, .causal = true},
        TokenAttentionOptions{.rotary_modes = {0}, .causal = true},
        TokenAttentionOptions{.features = 0, .causal = true}})
    EXPECT_EQ(said([&] { TokenAttention(init, 8, 2, options); }), bounds);
  TokenAttention features(init, kStepWidth, kStepHeads, {.features = 0});
  features.to(at::kDouble);
  const TokenCache drawn = features.remembered(at::randn({1, 5, kStepWidth}, at::kDouble));
  EXPECT_EQ(said([&] { features.attend_step(x, drawn, 0); }),
            "incremental decoding has no random features: they are drawn for a whole sequence");
}

}  // namespace
}  // namespace modewise::nn
