// Attention to many keys in strips (the reference) and by libtorch's fused kernels, against the formula with
// all scores in one tensor.

#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <gtest/gtest.h>

#include <limits>

#include "modewise/ops/cuda/dot_product_attention.h"
#include "modewise/ops/reference/gradients.h"
#include "modewise/ops/reference/reference.h"
#include "modewise/ops/reference/strip_rows.h"
#include "tests/ops/tensors.h"

namespace modewise::ops {
namespace {

using Mask = std::optional<at::Tensor>;

at::Tensor dense(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Mask& mask, bool causal,
                 double scale) {
  const auto heads_first = [&](const at::Tensor& x) {
    return x.repeat_interleave(q.size(2) / x.size(2), 2).transpose(1, 2);
  };
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  auto logits = at::matmul(heads_first(q), heads_first(k).mT()) * scale;
  if (mask) logits = logits.masked_fill(mask->logical_not(), kHidden);
  if (causal) logits = logits.masked_fill(at::ones({q.size(1), k.size(1)}, at::kBool).triu(1), kHidden);
  return at::matmul(at::softmax(logits, -1), heads_first(v)).transpose(1, 2);
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
    mask->select(-1, 0).fill_(true);  // each row has a key
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
  ASSERT_LT(reference::strip_rows(int64_t{2} * 3100), 3100);  // more than one strip
  compare({3100, 3100, false, true});
  compare({3100, 3100, true, false});
  compare({40, 50, true, false});
  compare({41, 41, true, true});
  compare({1, 1, false, true});
}

}  // namespace
}  // namespace modewise::ops
