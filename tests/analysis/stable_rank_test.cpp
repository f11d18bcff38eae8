#include "modewise/analysis/stable_rank.h"

#include <ATen/Parallel.h>
#include <ATen/ops/diag.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "modewise/core/error.h"
#include "tests/analysis/matrices.h"
#include "tests/error_of.h"

namespace modewise::analysis {
namespace {

constexpr double kTolerance = 1e-12;

void expect_close(double got, double wanted) {
  EXPECT_NEAR(got, wanted, kTolerance * std::abs(wanted));
}

class Forms : public testing::TestWithParam<std::tuple<std::vector<int64_t>, double>> {};

TEST_P(Forms, AgreeWithSingularValuesOfTheWrittenOutMatrix) {
  const auto& [sizes, scale] = GetParam();
  for (uint64_t seed : {1, 100, 200}) {
    const auto matrices = attention_of(sizes, seed, scale);
    const ModeFactors factors = factors_of(matrices);
    for (const at::Tensor& matrix : matrices)
      expect_close(stable_rank(matrix).item<double>(), stable_rank_by_svd(matrix));
    const at::Tensor product = explicit_product(matrices), sum = explicit_sum(matrices);
    expect_close(stable_rank(product).item<double>(), stable_rank_by_svd(product));
    expect_close(product_stable_rank(factors).item<double>(), stable_rank_by_svd(product));
    expect_close(sum_stable_rank(factors).item<double>(), stable_rank_by_svd(sum));
    // The mean has the same stable rank: a constant factor cancels.
    expect_close(sum_stable_rank(factors).item<double>(),
                 stable_rank_by_svd(sum / static_cast<double>(sizes.size())));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, Forms,
    testing::Combine(testing::Values(std::vector<int64_t>{1}, std::vector<int64_t>{7},
                                     std::vector<int64_t>{1, 5}, std::vector<int64_t>{3, 7},
                                     std::vector<int64_t>{11, 10}, std::vector<int64_t>{4, 5, 6},
                                     std::vector<int64_t>{2, 3, 5, 3}),
                     testing::Values(0.1, 1.0, 8.0)));

TEST(StableRank, FactorsThatDoNotFitAreRefused) {
  const at::Tensor square = at::ones({3, 3});
  const auto refused = [](const ModeFactors& factors) {
    return error_of(ErrorKind::internal, [&] { product_stable_rank(factors); });
  };
  const std::string wanted = "product_stable_rank: the matrix of mode 0 must be [.., 3, 3], got ";
  EXPECT_EQ(refused({{3, 4}, {0}, {at::ones({3, 4})}}), wanted + "[3, 4]");
  EXPECT_EQ(refused({{3, 4}, {0}, {at::ones({4, 3})}}), wanted + "[4, 3]");
  EXPECT_EQ(refused({{3, 3}, {1, 0}, {square, at::ones({2, 3, 3})}}), wanted + "[2, 3, 3]");
  EXPECT_EQ(refused({{3, 4}, {2}, {square}}), "product_stable_rank: there is no mode 2");
}

TEST(StableRank, OfKnownMatrices) {
  EXPECT_NEAR(stable_rank(at::eye(9, at::kDouble)).item<double>(), 9, 1e-12);
  EXPECT_NEAR(stable_rank(at::ones({5, 8}, at::kDouble)).item<double>(), 1, 1e-12);
  EXPECT_NEAR(stable_rank(at::diag(at::ones({3}, at::kDouble).cumsum(0))).item<double>(), 14.0 / 9, 1e-12);
  EXPECT_EQ(stable_rank(at::zeros({4, 4}, at::kDouble)).item<double>(), 0);
  // All rows attend to the first token: rank 1 although the norm is √n.
  const at::Tensor first = at::zeros({6, 6}, at::kDouble);
  first.select(1, 0).fill_(1);
  EXPECT_NEAR(stable_rank(first).item<double>(), 1, 1e-12);
}

TEST(StableRank, OfBatchesAndOblongMatrices) {
  const at::Tensor batch = random_matrix({2, 3, 17, 5}, 4);
  const at::Tensor ranks = stable_rank(batch);
  ASSERT_EQ(ranks.sizes().vec(), (std::vector<int64_t>{2, 3}));
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 3; ++h) {
      expect_close(ranks[b][h].item<double>(), stable_rank_by_svd(batch[b][h]));
      expect_close(stable_rank(batch[b][h].t()).item<double>(), stable_rank_by_svd(batch[b][h]));
    }
  EXPECT_EQ(stable_rank(batch.to(at::kFloat)).scalar_type(), at::kDouble);
}

TEST(StableRank, OfBatchedFactorsIsThatOfEach) {
  const std::vector<int64_t> sizes{3, 4, 2};
  ModeFactors batch{sizes, {0, 1, 2}, {}};
  for (size_t i = 0; i < sizes.size(); ++i)
    batch.matrices.push_back(random_attention({2, 3, sizes[i], sizes[i]}, 30 + i, 2));
  const at::Tensor product = product_stable_rank(batch), sum = sum_stable_rank(batch);
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 3; ++h) {
      std::vector<at::Tensor> one;
      for (const at::Tensor& matrix : batch.matrices) one.push_back(matrix[b][h]);
      expect_close(product[b][h].item<double>(), stable_rank_by_svd(explicit_product(one)));
      expect_close(sum[b][h].item<double>(), stable_rank_by_svd(explicit_sum(one)));
    }
}

TEST(StableRank, OfModesLeftOut) {
  const at::Tensor a = random_attention({3, 3}, 5, 2), c = random_attention({4, 4}, 6, 2);
  const ModeFactors factors{{3, 5, 4}, {0, 2}, {a, c}};
  const at::Tensor eye3 = at::eye(3, at::kDouble), eye5 = at::eye(5, at::kDouble),
                   eye4 = at::eye(4, at::kDouble);
  expect_close(product_stable_rank(factors).item<double>(),
               stable_rank_by_svd(explicit_product({a, eye5, c})));
  const at::Tensor sum = explicit_product({a, eye5, eye4}) + explicit_product({eye3, eye5, c});
  expect_close(sum_stable_rank(factors).item<double>(), stable_rank_by_svd(sum));
}

TEST(StableRank, PrintedFormulaHoldsForSymmetricMatricesAndIsALowerBoundElsewhere) {
  const at::Tensor r = random_matrix({4, 4}, 7).abs(), t = random_matrix({5, 5}, 8).abs();
  const std::vector<at::Tensor> symmetric{r + r.t(), t + t.t()};
  expect_close(sum_stable_rank_printed(factors_of(symmetric)).item<double>(),
               stable_rank_by_svd(explicit_sum(symmetric)));
  const auto attention = attention_of({4, 5, 6}, 9, 3);
  const double exact = sum_stable_rank(factors_of(attention)).item<double>();
  const double printed = sum_stable_rank_printed(factors_of(attention)).item<double>();
  EXPECT_LT(printed, exact * (1 - 1e-3));
}

TEST(StableRank, HasTheSameBitsForAnyNumberOfThreads) {
  const ModeFactors factors{{7, 7}, {0, 1}, {random_attention({9, 7, 7}, 1), random_attention({9, 7, 7}, 2)}};
  const at::Tensor large = random_attention({3, 65, 65}, 3);
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor sum = sum_stable_rank(factors), full = stable_rank(large);
  at::set_num_threads(4);
  EXPECT_TRUE(at::equal(sum, sum_stable_rank(factors)));
  EXPECT_TRUE(at::equal(full, stable_rank(large)));
  at::set_num_threads(before);
}

TEST(StableRank, OfManyTokensTakesNoMatrixOfThem) {
  // 30 × 31 × 33 tokens: the matrix would take 7.5 GB. Uniform attention: every mode's norm is 1, and so is
  // the stable rank of the product.
  ModeFactors factors{{30, 31, 33}, {0, 1, 2}, {}};
  for (const int64_t n : factors.sizes)
    factors.matrices.push_back(at::full({n, n}, 1.0 / static_cast<double>(n), at::kDouble));
  EXPECT_NEAR(product_stable_rank(factors).item<double>(), 1, 1e-12);
  const double n = 30 * 31 * 33;
  const double squared = n / 30 + n / 31 + n / 33 + 2 * (n / (30 * 31) + n / (30 * 33) + n / (31 * 33));
  expect_close(sum_stable_rank(factors).item<double>(), squared / 9);
}

}  // namespace
}  // namespace modewise::analysis
