// Attention matrix of each attention type against loops that follow the definition, in float64.

#include "modewise/nn/attention/attention_matrix.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "modewise/nn/attention/language_attention.h"
#include "tests/largest_difference.h"

namespace modewise::nn {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

constexpr int64_t kHeadWidth = 6;
const double kFrequencies[2][kHeadWidth / 2] = {{1, 0.3, 0.05}, {0.7, 0.2, 0.1}};

ops::RotaryEmbedding code() {
  at::Tensor frequencies = at::empty({2, kHeadWidth / 2}, at::kDouble);
  for (int64_t level = 0; level < 2; ++level)
    for (int64_t i = 0; i < kHeadWidth / 2; ++i) frequencies[level][i] = kFrequencies[level][i];
  return {.frequencies = frequencies, .gains = {1, 1.1}, .positions = {}};
}

/// Coordinates i and i + d/2 rotated by position · frequency.
Row rotated(const Row& x, int64_t position, int64_t level) {
  const double gain = level == 0 ? 1 : 1.1;
  Row out(kHeadWidth);
  for (size_t i = 0; i < kHeadWidth / 2; ++i) {
    const size_t j = i + kHeadWidth / 2;
    const double angle = static_cast<double>(position) * kFrequencies[std::min<int64_t>(level, 1)][i];
    out[i] = gain * (x[i] * std::cos(angle) - x[j] * std::sin(angle));
    out[j] = gain * (x[j] * std::cos(angle) + x[i] * std::sin(angle));
  }
  return out;
}

double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Σ_i weights[i] rows[i]
Row combined(const Row& weights, const Rows& rows) {
  Row out(rows.front().size(), 0);
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < out.size(); ++j) out[j] += weights[i] * rows[i][j];
  return out;
}

Row softmax(Row logits) {
  double sum = 0;
  for (double& x : logits) sum += x = std::exp(x);
  for (double& x : logits) x /= sum;
  return logits;
}

/// x [n, d] of sample 0 and head `head` of [B, n, H, d].
Rows rows_of(const at::Tensor& x, int64_t head) {
  Rows out;
  for (int64_t i = 0; i < x.size(1); ++i) {
    const at::Tensor row = x[0][i][head].contiguous();
    out.emplace_back(row.const_data_ptr<double>(), row.const_data_ptr<double>() + row.numel());
  }
  return out;
}

at::Tensor tensor_of(const Rows& rows) {
  at::Tensor out = at::empty({std::ssize(rows), std::ssize(rows.front())}, at::kDouble);
  for (int64_t i = 0; i < out.size(0); ++i)
    for (int64_t j = 0; j < out.size(1); ++j)
      out[i][j] = rows[static_cast<size_t>(i)][static_cast<size_t>(j)];
  return out;
}

/// A summary token of a complete block: its key, and its weight on each token's value.
struct Slot {
  Row key, tokens;
  int64_t block = 0;
};

/// Type `summary` with fold {0, 3, 2}: tokens, blocks of 2 tokens in groups of 3, blocks of 6 tokens.
Rows causal_weights(const Rows& q, const Rows& k, const Rows latents[2], int64_t window, double scale) {
  const auto n = static_cast<int64_t>(q.size());
  std::vector<Slot> children, levels[2];
  for (int64_t t = 0; t < n; ++t) {
    Row own(q.size(), 0);
    own[static_cast<size_t>(t)] = 1;
    children.push_back({k[static_cast<size_t>(t)], own, t});
  }
  const int64_t blocks_of[2] = {2, 3}, tokens_of[2] = {2, 6};
  for (int64_t level = 0; level < 2; ++level) {
    const auto each = blocks_of[level] * static_cast<int64_t>(level == 0 ? 1 : latents[0].size());
    for (int64_t block = 0; (block + 1) * tokens_of[level] <= n; ++block) {
      Rows keys, tokens;
      for (int64_t c = block * each; c < (block + 1) * each; ++c) {
        keys.push_back(children[static_cast<size_t>(c)].key);
        tokens.push_back(children[static_cast<size_t>(c)].tokens);
      }
      for (const Row& latent : latents[level]) {
        Row logits;
        for (const Row& key : keys) logits.push_back(dot(latent, key));
        const Row weights = softmax(logits);
        levels[level].push_back({combined(weights, keys), combined(weights, tokens), block});
      }
    }
    children = levels[level];
  }
  Rows out;
  for (int64_t t = 0; t < n; ++t) {
    Row logits;
    Rows tokens;
    const auto see = [&](const Row& key, const Row& holds, int64_t level, int64_t own, int64_t place) {
      logits.push_back(scale *
                       dot(rotated(q[static_cast<size_t>(t)], own, level), rotated(key, place, level)));
      tokens.push_back(holds);
    };
    for (int64_t s = std::max<int64_t>(0, t - window + 1); s <= t; ++s) {
      Row own(q.size(), 0);
      own[static_cast<size_t>(s)] = 1;
      see(k[static_cast<size_t>(s)], own, 0, t, s);
    }
    for (const Slot& slot : levels[0])
      if (slot.block < t / 2 && slot.block / 3 == t / 6)
        see(slot.key, slot.tokens, 1, t / 2 % 3, slot.block % 3);
    for (const Slot& slot : levels[1])
      if (slot.block < t / 6) see(slot.key, slot.tokens, 2, t / 6, slot.block);
    out.push_back(combined(softmax(logits), tokens));
  }
  return out;
}

TEST(AttentionMatrix, OfFullAttentionIsTheSoftmaxOfTheTurnedLogits) {
  const int64_t n = 17;
  const at::Tensor q = at::randn({1, n, 4, kHeadWidth}, at::kDouble),
                   k = at::randn({1, n, 2, kHeadWidth}, at::kDouble);
  ops::TensorAttentionOptions options;
  options.type = "full";
  const at::Tensor matrix = attention_matrix(q, k, options, {}, code());
  ASSERT_EQ(matrix.sizes().vec(), (std::vector<int64_t>{1, 4, n, n}));
  for (int64_t head = 0; head < 4; ++head) {
    const Rows queries = rows_of(q, head), keys = rows_of(k, head / 2);
    Rows wanted;
    for (int64_t t = 0; t < n; ++t) {
      Row logits;
      for (int64_t s = 0; s <= t; ++s)
        logits.push_back(
            dot(rotated(queries[static_cast<size_t>(t)], t, 0), rotated(keys[static_cast<size_t>(s)], s, 0)) /
            std::sqrt(6.0));
      wanted.push_back(softmax(logits));
      wanted.back().resize(static_cast<size_t>(n), 0);
    }
    EXPECT_LT(largest_difference(matrix[0][head], tensor_of(wanted)), 1e-12) << head;
  }
}

TEST(AttentionMatrix, OfTheCausalFormDealsASlotsWeightToItsTokens) {
  const int64_t n = 31;
  const at::Tensor q = at::randn({1, n, 2, kHeadWidth}, at::kDouble),
                   k = at::randn({1, n, 1, kHeadWidth}, at::kDouble);
  const at::Tensor latents = at::randn({2, 1, 2, kHeadWidth}, at::kDouble);  // two summary tokens a block
  ops::TensorAttentionOptions options;
  options.fold = {0, 3, 2};
  options.window = 3;
  const at::Tensor matrix = attention_matrix(q, k, options, latents, code());
  const Rows pooling[2] = {rows_of(latents[0].transpose(0, 1).unsqueeze(0), 0),
                           rows_of(latents[1].transpose(0, 1).unsqueeze(0), 0)};
  for (int64_t head = 0; head < 2; ++head) {
    const Rows wanted = causal_weights(rows_of(q, head), rows_of(k, 0), pooling, 3, 1 / std::sqrt(6.0));
    EXPECT_LT(largest_difference(matrix[0][head], tensor_of(wanted)), 1e-12) << head;
  }
}

class EveryForm : public testing::TestWithParam<const char*> {};

TEST_P(EveryForm, TakesTheValuesToTheOutputByRowsOfSumOneWithoutTheFuture) {
  const int64_t n = 37;
  ops::TensorAttentionOptions options;
  options.type = GetParam();
  options.causal = options.type != "pooled";
  if (options.type == "axial" || options.type == "pooled" || options.type == "causal")
    options.fold = {0, 3, 5};
  if (options.type == "window" || options.type == "lambda") options.window = 7;
  if (options.type == "lambda") options.sinks = 2;
  const at::Tensor q = at::randn({3, n, 4, 8}), k = at::randn({3, n, 2, 8}), v = at::randn({3, n, 2, 5});
  const at::Tensor latents = options.type == "causal" ? at::randn({2, 2, 1, 8}) : at::Tensor();
  const at::Tensor matrix = attention_matrix(q, k, options, latents);
  EXPECT_LT((matrix.sum(-1) - 1).abs().max().item<double>(), 1e-5);
  EXPECT_GE(matrix.min().item<double>(), 0);
  if (options.causal) {
    EXPECT_EQ(matrix.triu(1).abs().max().item<double>(), 0);
  }
  const at::Tensor out = at::matmul(matrix, v.repeat_interleave(2, 2).transpose(1, 2)).transpose(1, 2);
  EXPECT_LT(largest_difference(out, ops::tensor_attention(q, k, v, options, latents)), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(AttentionMatrix, EveryForm,
                         testing::Values("full", "window", "lambda", "axial", "pooled", "causal", "random",
                                         "topk"));

TEST(AttentionMatrix, OfLongTextsIsMadeInParts) {
  const at::Tensor q = at::randn({1, 600, 2, 4}), k = at::randn({1, 600, 2, 4});
  ops::TensorAttentionOptions options;
  options.type = "full";
  const at::Tensor matrix = attention_matrix(q, k, options);
  const at::Tensor logits = at::matmul(q.transpose(1, 2), k.transpose(1, 2).transpose(-1, -2)) / 2;
  const at::Tensor later = at::ones({600, 600}, at::kBool).triu(1);
  EXPECT_LT(largest_difference(matrix, logits.masked_fill(later, -INFINITY).softmax(-1)), 1e-6);
}

TEST(AttentionMatrix, OfHalfPrecisionIsInFloat32) {
  const at::Tensor q = at::randn({1, 9, 2, 4}).to(at::kBFloat16);
  ops::TensorAttentionOptions options;
  options.type = "full";
  const at::Tensor matrix = attention_matrix(q, q, options);
  EXPECT_EQ(matrix.scalar_type(), at::kFloat);
  EXPECT_LT((matrix.sum(-1) - 1).abs().max().item<double>(), 1e-6);
}

TEST(LanguageAttention, IsItsMatrixTimesTheValues) {
  Initializer init(5);
  LanguageAttentionOptions options;
  options.width = 24, options.heads = 4, options.kv_heads = 2, options.head_width = kHeadWidth;
  options.summary_tokens = 2;
  options.stddev = options.latent_stddev = 0.5;
  options.attention.fold = {0, 3, 5};
  options.rotary = code();
  LanguageAttention attention(init, options);
  const at::Tensor x = at::randn({2, 33, 24});
  const auto parameters = attention.named_parameters();
  const at::Tensor value = at::matmul(x, parameters["v_proj.weight"].t())
                               .unflatten(-1, {2, kHeadWidth})
                               .repeat_interleave(2, 2)
                               .transpose(1, 2);
  const at::Tensor mixed = at::matmul(attention.full_matrix(x), value).transpose(1, 2).flatten(-2);
  EXPECT_LT(largest_difference(at::matmul(mixed, parameters["o_proj.weight"].t()), attention.forward(x)),
            1e-4);
}

}  // namespace
}  // namespace modewise::nn
