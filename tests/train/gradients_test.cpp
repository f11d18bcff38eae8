#include "modewise/train/loop/gradients.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <limits>

#include "modewise/core/random.h"

namespace modewise::train {
namespace {

TEST(Gradients, SumOfSquaresIsExactForSmallIntegers) {
  for (const int64_t n : {0, 1, 2, 7, 8, 9, 63, 65, 4095, 4096, 4097, 100003}) {
    at::Tensor x = at::empty({n}, at::kFloat);
    double wanted = 0;
    for (int64_t i = 0; i < n; ++i) {
      x.mutable_data_ptr<float>()[i] = static_cast<float>(i % 11 - 5);
      wanted += static_cast<double>((i % 11 - 5) * (i % 11 - 5));
    }
    EXPECT_EQ(sum_of_squares(x), wanted) << n;
  }
}

TEST(Gradients, NormIsTheSameForAnyNumberOfThreads) {
  at::Tensor gradient = at::empty({500, 401}, at::kFloat);
  for (int64_t i = 0; i < gradient.numel(); ++i)
    gradient.mutable_data_ptr<float>()[i] =
        static_cast<float>(RandomStream{3, RandomSite{1}, 0}.normal(static_cast<uint64_t>(i)));
  at::Tensor weight = at::zeros({500, 401}).requires_grad_();
  weight.mutable_grad() = gradient;
  const std::vector<NamedTensor> parameters = {{"weight", weight}};
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const double one = gradient_norm(parameters);
  for (const int threads : {2, 3, 4}) {
    at::set_num_threads(threads);
    EXPECT_EQ(gradient_norm(parameters), one);
  }
  at::set_num_threads(before);
  EXPECT_NEAR(one, std::sqrt(500.0 * 401.0), 1.0);
}

TEST(Gradients, ValuesOfAnySizeStayFiniteAndBadOnesAreNamed) {
  at::Tensor a = at::zeros({3}).requires_grad_(), b = at::zeros({70}).requires_grad_(), c = at::zeros({2});
  a.mutable_grad() = at::full({3}, std::numeric_limits<float>::max());
  b.mutable_grad() = at::zeros({70});
  const std::vector<NamedTensor> parameters = {{"a", a}, {"b", b}, {"unused", c}};
  EXPECT_TRUE(std::isfinite(gradient_norm(parameters)));
  EXPECT_EQ(first_not_finite(parameters), "");
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    b.mutable_grad().mutable_data_ptr<float>()[69] = bad;
    EXPECT_FALSE(std::isfinite(gradient_norm(parameters)));
    EXPECT_EQ(first_not_finite(parameters), "b");
    EXPECT_EQ(first_not_finite(parameters, true), "");
  }
}

TEST(Gradients, TheNormIsOverAllParametersThatHaveOne) {
  EXPECT_EQ(gradient_norm({}), 0);
  std::vector<NamedTensor> parameters;
  for (const float value : {2.0F, 3.0F, 6.0F}) {
    EXPECT_EQ(gradient_norm(parameters),
              parameters.size() == 2 ? std::sqrt(13.0) : 2.0 * static_cast<double>(parameters.size()));
    at::Tensor one = at::zeros({1}).requires_grad_();
    one.mutable_grad() = at::full({1}, value);
    parameters.push_back({"p", one});
  }
  parameters.push_back({"unused", at::zeros({1})});
  EXPECT_EQ(gradient_norm(parameters), 7);
}

TEST(Gradients, ValuesAreAskedForApart) {
  at::Tensor a = at::zeros({3}), b = at::zeros({2});
  b.mutable_data_ptr<float>()[1] = std::numeric_limits<float>::infinity();
  const std::vector<NamedTensor> parameters = {{"a", a}, {"b", b}};
  EXPECT_EQ(first_not_finite(parameters), "");
  EXPECT_EQ(first_not_finite(parameters, true), "b");
}

}  // namespace
}  // namespace modewise::train
