// Attention to many keys in strips (the reference) and by libtorch's fused kernels, against the formula with
// all scores in one tensor.

#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <limits>

#include "modewise/ops/attention/weighted_values.h"
#include "modewise/ops/cuda/dot_product_attention.h"
#include "modewise/ops/reference/gradients.h"
#include "modewise/ops/reference/reference.h"
#include "modewise/ops/reference/strip_rows.h"
#include "modewise/ops/training/dropout_add.h"
#include "tests/ops/tensors.h"

namespace modewise::ops {
namespace {

using Mask = std::optional<at::Tensor>;

/// `dropped`: factors of the weights, [B, H, n, m].
at::Tensor dense(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Mask& mask, bool causal,
                 double scale, const at::Tensor& dropped = {}) {
  const auto heads_first = [&](const at::Tensor& x) {
    return x.repeat_interleave(q.size(2) / x.size(2), 2).transpose(1, 2);
  };
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  auto logits = at::matmul(heads_first(q), heads_first(k).mT()) * scale;
  at::Tensor seen = at::ones(logits.sizes(), at::kBool);
  if (mask) seen = seen.logical_and(*mask);
  if (causal) seen = seen.tril();
  const at::Tensor none = seen.any(-1, true).logical_not();
  const at::Tensor weights =
      at::softmax(logits.masked_fill(seen.logical_or(none).logical_not(), kHidden), -1);
  const at::Tensor kept = dropped.defined() ? weights * dropped : weights;
  return at::matmul(kept.masked_fill(none, 0), heads_first(v)).transpose(1, 2);
}

struct StripsCase {
  int64_t n, m;
  bool masked, causal;
};

void compare(const StripsCase& one) {
  const at::Tensor q = random_tensor({1, one.n, 2, 3}), k = random_tensor({1, one.m, 1, 3}, at::kDouble, 2);
  const at::Tensor v = random_tensor({1, one.m, 2, 4}, at::kDouble, 3);
  const at::Tensor grad = random_tensor({1, one.n, 2, 4}, at::kDouble, 4);
  Mask mask;
  if (one.masked) {
    mask = random_tensor({one.n, one.m}, at::kDouble, 5).gt(-1);
    mask->select(0, one.n / 2).fill_(false);  // a row without any key
  }
  const at::Tensor wanted = dense(q, k, v, mask, one.causal, 0.5);
  const auto slopes = reference::gradients(
      [&](const reference::Tensors& in) -> reference::Tensors {
        return {dense(in[0], in[1], in[2], mask, one.causal, 0.5)};
      },
      {q, k, v}, {grad});
  const auto check = [&](const auto& forward, const auto& backward) {
    EXPECT_LT(largest_difference(forward(q, k, v, mask, one.causal, 0.5), wanted), 1e-13);
    const auto [of_q, of_k, of_v] = backward(grad, q, k, v, mask, one.causal, 0.5);
    EXPECT_LT(largest_difference(of_q, slopes[0]), 1e-12);
    EXPECT_LT(largest_difference(of_k, slopes[1]), 1e-11);
    EXPECT_LT(largest_difference(of_v, slopes[2]), 1e-11);
  };
  check(reference::dot_product_attention, reference::dot_product_attention_backward);
  check(cuda::dot_product_attention, cuda::dot_product_attention_backward);
}

TEST(DotProductAttention, StripsAndFusedKernelsEqualTheFormula) {
  const reference::StripLimit limit(int64_t{1} << 14);
  ASSERT_LT(reference::strip_rows(int64_t{2} * 310), 310);  // more than one strip
  compare({310, 310, false, true});
  compare({310, 310, true, false});
  compare({40, 50, true, false});
  compare({41, 41, true, true});
  compare({1, 1, false, true});
}

TEST(WeightedValues, DropInStripsByAStreamForEachStrip) {
  const reference::StripLimit limit(int64_t{1} << 14);
  constexpr int64_t kTokens = 300, kHeads = 2;
  const int64_t rows = reference::strip_rows(kHeads * kTokens);
  ASSERT_LT(rows, kTokens);
  const SoftmaxOptions options = {.scale = 0.5, .dropout = 0.3, .key = {.seed = 4, .step = 5, .site = 17}};
  const reference::Tensors inputs = {random_tensor({1, kTokens, kHeads, 3}),
                                     random_tensor({1, kTokens, 1, 3}, at::kDouble, 2),
                                     random_tensor({1, kTokens, kHeads, 4}, at::kDouble, 3)};
  const at::Tensor grad = random_tensor({1, kTokens, kHeads, 4}, at::kDouble, 4);
  at::Tensor padded = at::ones({1, 1, 1, kTokens}, at::kBool);
  padded.narrow(-1, 0, 5).fill_(false);  // with a causal mask, five rows without any key
  padded.select(-1, 200).fill_(false);
  for (const bool causal : {false, true}) {
    at::Tensor dropped = at::zeros({1, kHeads, kTokens, kTokens}, at::kDouble);
    reference::for_strips(kTokens, kHeads * kTokens, [&](int64_t first, int64_t count) {
      const int64_t keys = causal ? first + count : kTokens;
      dropped.narrow(2, first, count)
          .narrow(3, 0, keys)
          .copy_(dropout_add({}, at::ones({1, kHeads, count, keys}, at::kDouble), options.dropout,
                             key_of_rows(options.key, first)));
    });
    const auto all = [&](const auto& attend) {
      reference::Tensors out = reference::gradients(
          [&](const reference::Tensors& in) -> reference::Tensors { return {attend(in)}; }, inputs, {grad});
      out.push_back(attend(inputs));
      return out;
    };
    const auto got = all([&](const reference::Tensors& in) {
      return weighted_values(in[0], in[1], in[2], padded, causal, options);
    });
    const auto wanted = all([&](const reference::Tensors& in) {
      return dense(in[0], in[1], in[2], padded, causal, options.scale, dropped);
    });
    for (size_t i = 0; i < got.size(); ++i) EXPECT_LT(largest_difference(got[i], wanted[i]), 1e-11) << i;
    EXPECT_EQ(causal ? got[3].narrow(1, 0, 5).abs().max().item<double>() : 0, 0);
    EXPECT_GT(largest_difference(dropped.narrow(2, 0, 20).narrow(3, 0, 20),
                                 dropped.narrow(2, rows, 20).narrow(3, 0, 20)),
              1);
  }
}

}  // namespace
}  // namespace modewise::ops
