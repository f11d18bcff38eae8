// Moments against float64, with large offsets too; exact for integers; channels are independent.

#include "modewise/ops/normalization/batch_norm.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "tests/ops/tensors.h"

namespace modewise::ops {
namespace {

/// x as rows, with all other dimensions flattened.
at::Tensor rows_of(const at::Tensor& x) {
  return x.reshape({-1, x.size(-1)});
}

TEST(BatchNorm, MomentsAreThoseOfFloat64FarFromZeroToo) {
  for (const double offset : {0.0, 1000.0})
    for (const int64_t rows : {1, 15, 16, 17, 4097, 40000})
      for (const int64_t channels : {1, 7, 8, 33}) {
        const at::Tensor x = (random_tensor({rows, channels}) + offset).to(at::kFloat);
        const auto [out, mean, var] = batch_norm(x, at::ones({channels}), at::zeros({channels}));
        const at::Tensor wide = x.to(at::kDouble), centre = wide.mean(0),
                         spread = (wide - centre).square().mean(0);
        // A float32 sum of a few hundred numbers has an error of a few roundings of its largest term.
        EXPECT_LT(largest_difference(mean, centre), 5e-7 * (1 + offset)) << rows << " " << channels;
        EXPECT_LT(largest_difference(var, spread), 1e-6 * (1 + offset)) << rows << " " << channels;
      }
}

TEST(BatchNorm, IsExactOnIntegersWhoseMomentsAre) {
  // Channel c alternates 2c and −2c, shifted by c: mean c, variance 4c².
  const int64_t rows = 6000, channels = 9;
  const at::Tensor c = at::arange(channels, at::kFloat),
                   sign = at::arange(rows, at::kFloat).remainder(2).mul(2).sub(1).unsqueeze(1);
  const at::Tensor x = sign * (2 * c) + c;
  const auto [out, mean, var] = batch_norm(x, c, c * 3, 0);
  EXPECT_TRUE(at::equal(mean, c));
  EXPECT_TRUE(at::equal(var, 4 * c * c));
  const at::Tensor wanted = sign * c + 3 * c;  // channel 0 has zero variance: 0 · 0 / 0
  EXPECT_TRUE(at::equal(out.narrow(1, 1, channels - 1), wanted.narrow(1, 1, channels - 1)));
}

TEST(BatchNorm, AChannelDoesNotDependOnTheOthers) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    const at::Tensor x = random_tensor({300, 45}, type);
    const at::Tensor weight = random_tensor({45}, at::kFloat, 2), bias = random_tensor({45}, at::kFloat, 3);
    const auto [whole, mean, var] = batch_norm(x, weight, bias);
    // 45 and 13 channels would be split into chunks of different rows from 1,024 rows on, not here.
    const auto [part, part_mean, part_var] =
        batch_norm(x.narrow(1, 11, 13), weight.narrow(0, 11, 13), bias.narrow(0, 11, 13));
    EXPECT_TRUE(at::equal(whole.narrow(1, 11, 13), part));
    EXPECT_TRUE(at::equal(mean.narrow(0, 11, 13), part_mean));
    EXPECT_TRUE(at::equal(var.narrow(0, 11, 13), part_var));
  }
}

TEST(BatchNorm, GradientsAreTorchs) {
  for (const int64_t channels : {3, 16, 70}) {
    const at::Tensor given = random_tensor({2, 5, 111, channels}) + 0.5;
    const at::Tensor seen = random_tensor({2, 5, 111, channels}, at::kDouble, 9);
    const auto gradients = [&](const auto& norm) {
      const at::Tensor x = given.clone().requires_grad_(),
                       weight = random_tensor({channels}, at::kDouble, 2).requires_grad_(),
                       bias = random_tensor({channels}, at::kDouble, 3).requires_grad_();
      (norm(x, weight, bias) * seen).sum().backward();
      return std::tuple(x.grad(), weight.grad(), bias.grad());
    };
    const auto ours = gradients(
        [](const auto& x, const auto& w, const auto& b) { return std::get<0>(batch_norm(x, w, b)); });
    const auto torchs = gradients([](const auto& x, const auto& w, const auto& b) {
      return at::batch_norm(rows_of(x), w, b, {}, {}, true, 0.1, 1e-5, false).view(x.sizes());
    });
    EXPECT_LT(largest_difference(std::get<0>(ours), std::get<0>(torchs)), 1e-12);
    EXPECT_LT(largest_difference(std::get<1>(ours), std::get<1>(torchs)), 1e-10);
    EXPECT_LT(largest_difference(std::get<2>(ours), std::get<2>(torchs)), 1e-10);
  }
}

}  // namespace
}  // namespace modewise::ops
