// Moments of the rows that count have the bits that libtorch makes of these rows alone, gradients too.

#include "modewise/ops/masked_moments.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/ops/tensors.h"

namespace modewise::ops {
namespace {

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const auto bits = [](const at::Tensor& x) {
    return x.contiguous().view(x.scalar_type() == at::kDouble ? at::kLong : at::kInt);
  };
  return at::equal(bits(a), bits(b));
}

struct Outcome {
  at::Tensor normed, mean, var, grad;
};

/// Batch normalisation of `rows` with the moments that `moments` makes, and the gradient of a weighted sum.
Outcome outcome(const at::Tensor& rows,
                const std::function<std::pair<at::Tensor, at::Tensor>(const at::Tensor&)>& moments) {
  const at::Tensor x = rows.clone().requires_grad_();
  const auto [mean, var] = moments(x);
  const at::Tensor normed = (x - mean) * (var + 1e-5).rsqrt();
  (normed * at::arange(rows.numel(), rows.options()).sin().view(rows.sizes())).sum().backward();
  return {normed.detach(), mean.detach(), var.detach(), x.grad()};
}

TEST(MaskedMoments, HaveTheBitsOfTheRowsThatCount) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble})
    for (const int64_t n : {1, 2, 33, 1000})
      for (const int64_t channels : {1, 17, 65})
        for (const int64_t every : {1, 3, 5000}) {  // all rows, some, none but the first
          const at::Tensor rows = random_tensor({n, channels}, type, 7);
          const at::Tensor mask = at::arange(n, at::kLong).remainder(every).eq(0);
          const Outcome ours = outcome(rows, [&](const at::Tensor& x) {
            const auto [mean, var, count] = masked_moments(x, mask);
            EXPECT_EQ(count.item<double>(), mask.sum().item<double>());
            return std::pair(mean, var);
          });
          const Outcome wanted = outcome(rows, [&](const at::Tensor& x) {
            const at::Tensor counted = x.index_select(0, at::nonzero(mask).squeeze(-1)),
                             mean = counted.mean(0);
            return std::pair(mean, (counted - mean).square().mean(0));
          });
          EXPECT_TRUE(same_bits(ours.mean, wanted.mean) && same_bits(ours.var, wanted.var)) << n;
          EXPECT_TRUE(same_bits(ours.normed, wanted.normed)) << n;
          EXPECT_TRUE(same_bits(ours.grad, wanted.grad)) << n << " " << channels << " " << every;
        }
}

TEST(MaskedMoments, CountAllRowsWhereNoneIsKept) {
  const at::Tensor rows = random_tensor({7, 3}, at::kFloat);
  const auto [mean, var, count] = masked_moments(rows, at::zeros({7}, at::kBool));
  const auto [all_mean, all_var, all] = masked_moments(rows, at::ones({7}, at::kBool));
  EXPECT_TRUE(same_bits(mean, all_mean) && same_bits(var, all_var));
  EXPECT_EQ(count.item<double>(), 7);
}

TEST(UpdateMoments, HasTheBitsOfAddWithTheUnbiasedShare) {
  for (const double n : {1.0, 2.0, 777.0}) {
    const at::Tensor mean = random_tensor({33}, at::kFloat, 2),
                     var = random_tensor({33}, at::kFloat, 3).square();
    const at::Tensor running_mean = random_tensor({33}, at::kFloat, 4),
                     running_var = random_tensor({33}, at::kFloat, 5).square();
    const at::Tensor wanted_mean = running_mean.clone().mul_(1 - 0.1).add_(mean, 0.1);
    const at::Tensor wanted_var = running_var.clone().mul_(1 - 0.1).add_(var, 0.1 * n / std::max(1.0, n - 1));
    update_moments(running_mean, running_var, mean, var, at::zeros({}, at::kDouble) + n, 0.1);
    EXPECT_TRUE(same_bits(running_mean, wanted_mean) && same_bits(running_var, wanted_var)) << n;
  }
}

}  // namespace
}  // namespace modewise::ops
