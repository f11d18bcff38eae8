// C++ entry points of Kronecker, full and axis attention; values are tested against oracles in tests/python.

#include "modewise/ops/attention/kronecker_attention.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modewise/ops/attention/axis_attention.h"
#include "modewise/ops/attention/dot_product_attention.h"
#include "modewise/ops/attention/full_attention.h"
#include "modewise/ops/dense/mode_product.h"
#include "tests/ops/tensors.h"

namespace modewise::ops {
namespace {

using testing::HasSubstr;

KroneckerAttentionWeights weights_for(int64_t modes, int64_t d, at::ScalarType type = at::kDouble) {
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  return {.query_weight = random_tensor({modes * d, d}, type, 11) * scale,
          .query_bias = random_tensor({modes * d}, type, 12),
          .key_weight = random_tensor({modes * d, d}, type, 13) * scale,
          .key_bias = random_tensor({modes * d}, type, 14),
          .query_norm_weight = {},
          .query_norm_bias = {},
          .key_norm_weight = {},
          .key_norm_bias = {}};
}

TEST(KroneckerAttention, WithOneModeIsStandardAttention) {
  const auto x = random_tensor({3, 17, 24}), value = random_tensor({3, 17, 24}, at::kDouble, 2);
  const auto w = weights_for(1, 24);
  KroneckerAttentionOptions options;
  options.heads = 4;
  const auto head = [](const at::Tensor& t) { return t.unflatten(-1, {4, 6}).transpose(1, 2); };
  const auto q = at::linear(x, w.query_weight, w.query_bias), k = at::linear(x, w.key_weight, w.key_bias);
  const auto expected =
      at::scaled_dot_product_attention(head(q), head(k), head(value)).transpose(1, 2).flatten(-2);
  EXPECT_LT(largest_difference(kronecker_attention(x, value, w, options), expected), 1e-12);
  EXPECT_LT(largest_difference(full_attention(q, k, value, 4), expected), 1e-12);
  EXPECT_LT(largest_difference(axis_attention(q, k, value, 4, 0), expected), 1e-12);
}

TEST(AxisAttention, WithoutMasksIsTheFusedDotProductAttention) {
  const auto q = random_tensor({3, 17, 24}, at::kFloat, 1), k = random_tensor({3, 17, 24}, at::kFloat, 2),
             v = random_tensor({3, 17, 24}, at::kFloat, 3);
  const auto head = [](const at::Tensor& t) { return t.unflatten(-1, {4, 6}); };
  const auto fused =
      dot_product_attention(head(q), head(k), head(v), {}, false, 1 / std::sqrt(6.0)).flatten(-2);
  EXPECT_TRUE(at::equal(axis_attention(q, k, v, 4, 0), fused));
  // A mask that keeps every token takes the other path, whose sums have another order.
  const auto all = at::ones({3, 17}, at::kBool);
  const auto masked = axis_attention(q, k, v, 4, 0, all);
  EXPECT_FALSE(at::equal(masked, fused));
  EXPECT_LT(largest_difference(masked, fused), 1e-5);
}

TEST(AxisAttention, OfNoTensorsIsEmpty) {
  const auto none = at::zeros({0, 5, 24});
  EXPECT_EQ(axis_attention(none, none, none, 4, 0).sizes(), none.sizes());
}

TEST(KroneckerAttention, AppliesItsMapsInTurn) {
  const auto x = random_tensor({2, 5, 7, 8}), value = random_tensor({2, 5, 7, 8}, at::kDouble, 2);
  const auto w = weights_for(2, 8);
  KroneckerAttentionOptions options;
  options.heads = 2;
  const auto maps = mode_attention(x, w, options);
  ASSERT_EQ(maps.size(), 2U);
  const auto product = mode_product(mode_product(value, maps[0], 0), maps[1], 1);
  EXPECT_TRUE(at::equal(kronecker_attention(x, value, w, options), product));
  options.combine = Combine::mean;
  const auto mean = (mode_product(value, maps[0], 0) + mode_product(value, maps[1], 1)) / 2;
  EXPECT_TRUE(at::equal(kronecker_attention(x, value, w, options), mean));
}

TEST(KroneckerAttention, LeavesMaskedCellsOutAndKeepsRowsAtOne) {
  const auto mask = random_tensor({2, 5, 7}, at::kDouble, 5).gt(-0.3);
  const auto w = weights_for(2, 8);
  for (const std::string kernel : {"softmax", "linear"}) {
    for (const auto combine : {Combine::product, Combine::mean}) {
      KroneckerAttentionOptions options;
      options.heads = 2;
      options.kernel = kernel;
      options.combine = combine;
      const auto run = [&](double under) {
        const auto hidden = mask.logical_not().unsqueeze(-1);
        return kronecker_attention(random_tensor({2, 5, 7, 8}).masked_fill(hidden, under),
                                   at::ones({2, 5, 7, 8}, at::kDouble).masked_fill(hidden, under), w, options,
                                   mask);
      };
      EXPECT_TRUE(at::equal(run(0), run(1e30)));
      EXPECT_LT(largest_difference(run(0), at::ones({2, 5, 7, 8})), 1e-12);
    }
  }
}

TEST(KroneckerAttention, SaysWhatIsWrong) {
  const auto x = random_tensor({2, 5, 7, 8});
  const auto message = [&](const KroneckerAttentionWeights& w, const KroneckerAttentionOptions& options,
                           const std::optional<at::Tensor>& mask = {}) -> std::string {
    try {
      kronecker_attention(x, x, w, options, mask);
    } catch (const c10::ValueError& error) {
      return error.what_without_backtrace();
    }
    return "";
  };
  KroneckerAttentionOptions options;
  options.heads = 3;
  EXPECT_THAT(message(weights_for(2, 8), options),
              HasSubstr("heads must divide the last size of x [2, 5, 7, 8], got 3"));
  options.heads = 2;
  EXPECT_THAT(message(weights_for(1, 8), options), HasSubstr("query_weight must be [16, 8]"));
  EXPECT_THAT(message(weights_for(2, 8), options, at::ones({2, 7, 5}, at::kBool)),
              HasSubstr("token_mask must be [2, 5, 7]"));
  options.rope_modes = {2};
  EXPECT_THAT(message(weights_for(2, 8), options), HasSubstr("rope_modes must be in 0 … 1"));
}

TEST(LinearFeatures, DefaultToDTimesLogDInMultiplesOfEight) {
  EXPECT_EQ(linear_feature_count(16, 0), 48);
  EXPECT_EQ(linear_feature_count(1, 0), 8);
  EXPECT_EQ(linear_feature_count(32, 0), 128);
  EXPECT_EQ(linear_feature_count(32, 5), 5);
}

}  // namespace
}  // namespace modewise::ops
