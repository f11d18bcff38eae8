// Masked moments are bitwise equal to float64 moments of the valid rows only, rounded once.

#include "modewise/ops/normalization/masked_moments.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "modewise/ops/reference/reference.h"
#include "tests/ops/tensors.h"

namespace modewise::ops {
namespace {

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const auto bits = [](const at::Tensor& x) {
    return x.contiguous().view(x.scalar_type() == at::kDouble ? at::kLong : at::kInt);
  };
  return at::equal(bits(a), bits(b));
}

struct Moments {
  at::Tensor mean, var;
};

struct Outcome {
  at::Tensor mean, var, grad;
};

/// Results of `moments` on rows, and the gradient of a weighted sum after batch normalisation with them.
Outcome outcome(const at::Tensor& rows, const std::function<Moments(const at::Tensor&)>& moments) {
  const at::Tensor x = rows.clone().requires_grad_();
  const auto [mean, var] = moments(x);
  const at::Tensor normed = (x - mean) * (var + 1e-5).rsqrt();
  (normed * at::arange(rows.numel(), rows.options()).sin().view(rows.sizes())).sum().backward();
  return {mean.detach(), var.detach(), x.grad()};
}

TEST(MaskedMoments, AreThoseOfTheRowsThatCountRoundedOnce) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble})
    for (const int64_t n : {1, 2, 33, 1000})
      for (const int64_t channels : {1, 17, 65})
        for (const int64_t every : {1, 3, 5000}) {  // all rows, some, only the first
          const at::Tensor rows = random_tensor({n, channels}, type, 7);
          const at::Tensor mask = at::arange(n, at::kLong).remainder(every).eq(0);
          const Outcome ours = outcome(rows, [&](const at::Tensor& x) {
            const auto [mean, var, count] = masked_moments(x, mask);
            EXPECT_EQ(count.item<double>(), mask.sum().item<double>());
            return Moments{mean, var};
          });
          const Outcome wanted = outcome(rows.to(at::kDouble), [&](const at::Tensor& x) {
            const at::Tensor counted = x.index_select(0, at::nonzero(mask).squeeze(-1)),
                             mean = counted.mean(0);
            return Moments{mean, (counted - mean).square().mean(0)};
          });
          EXPECT_TRUE(same_bits(ours.mean, wanted.mean.to(type))) << n;
          EXPECT_TRUE(same_bits(ours.var, wanted.var.to(type))) << n;
          const double far = (ours.grad.to(at::kDouble) - wanted.grad).abs().max().item<double>();
          if (type == at::kDouble) {
            EXPECT_TRUE(same_bits(ours.grad, wanted.grad)) << n << " " << channels << " " << every;
          } else if (n >= 33 && every < n) {  // the variance of few rows may be as small as its rounding
            EXPECT_LT(far, 2e-6 * wanted.grad.abs().max().item<double>())
                << n << " " << channels << " " << every;
          }
        }
}

TEST(MaskedMoments, CountAllRowsWhereNoneIsKept) {
  const at::Tensor rows = random_tensor({7, 3}, at::kFloat);
  const auto [mean, var, count] = masked_moments(rows, at::zeros({7}, at::kBool));
  const auto [all_mean, all_var, all] = masked_moments(rows, at::ones({7}, at::kBool));
  EXPECT_TRUE(same_bits(mean, all_mean) && same_bits(var, all_var));
  EXPECT_EQ(count.item<double>(), 7);
}

TEST(UpdateMoments, OneRowChangesNothing) {
  for (const double n : {0.0, 1.0}) {
    const at::Tensor mean = at::zeros({3}), var = at::ones({3}), value = at::full({3}, 5.0);
    update_moments(mean, var, value, value, at::zeros({}, at::kDouble) + n, 0.1);
    EXPECT_TRUE(mean.equal(at::zeros({3})) && var.equal(at::ones({3}))) << n;
    reference::update_moments(mean, var, value, value, at::zeros({}, at::kDouble) + n, 0.1);
    EXPECT_TRUE(mean.equal(at::zeros({3})) && var.equal(at::ones({3}))) << n;
  }
}

TEST(UpdateMoments, MovesByTheUnbiasedShareRoundedOnce) {
  for (const double n : {2.0, 3.0, 777.0}) {
    const at::Tensor mean = random_tensor({33}, at::kFloat, 2),
                     var = random_tensor({33}, at::kFloat, 3).square();
    const at::Tensor running_mean = random_tensor({33}, at::kFloat, 4),
                     running_var = random_tensor({33}, at::kFloat, 5).square();
    std::vector<float> wanted_mean, wanted_var;
    for (int64_t i = 0; i < 33; ++i) {
      const auto number = [&](const at::Tensor& x) { return x[i].item<double>(); };
      wanted_mean.push_back(static_cast<float>(number(running_mean) * (1 - 0.1) + 0.1 * number(mean)));
      wanted_var.push_back(
          static_cast<float>(number(running_var) * (1 - 0.1) + 0.1 * n / (n - 1) * number(var)));
    }
    update_moments(running_mean, running_var, mean, var, at::zeros({}, at::kDouble) + n, 0.1);
    for (int64_t i = 0; i < 33; ++i) {
      EXPECT_EQ(running_mean[i].item<float>(), wanted_mean[static_cast<size_t>(i)]) << n;
      EXPECT_EQ(running_var[i].item<float>(), wanted_var[static_cast<size_t>(i)]) << n;
    }
  }
}

}  // namespace
}  // namespace modewise::ops
