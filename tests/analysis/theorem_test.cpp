// Theorems about Kronecker attention (Higher-Order Transformers, sections 3, 4.2 and 4.4), checked in float64
// on the operators of the models; and the missing assumptions of printed statements.

#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "modewise/analysis/kronecker_decomposition.h"
#include "modewise/analysis/stable_rank.h"
#include "modewise/ops/attention/kronecker_attention.h"
#include "modewise/ops/dense/mode_product.h"
#include "tests/analysis/matrices.h"

namespace modewise::analysis {
namespace {

using Modes = std::vector<int64_t>;

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

int64_t tokens_of(const Modes& modes) {
  return std::accumulate(modes.begin(), modes.end(), int64_t{1}, std::multiplies<>());
}

class Theorems : public testing::TestWithParam<Modes> {};

INSTANTIATE_TEST_SUITE_P(Orders, Theorems,
                         testing::Values(Modes{7}, Modes{3, 5}, Modes{7, 2}, Modes{4, 5, 3},
                                         Modes{2, 3, 2, 3}));

// Proposition 3.8, and with it equations 8 and 9: mode products apply Kronecker products and sums to
// flattened tokens.
TEST_P(Theorems, ModeProductsApplyTheKroneckerProductAndSum) {
  const Modes& modes = GetParam();
  const auto matrices = attention_of(modes, 1, 2);
  Modes shape{2};
  shape.insert(shape.end(), modes.begin(), modes.end());
  shape.push_back(6);
  const at::Tensor value = random_matrix(shape, 9), flat = value.reshape({2, -1, 6});
  at::Tensor product = value, sum = at::zeros(shape, at::kDouble);
  for (size_t i = 0; i < modes.size(); ++i) {
    product = ops::mode_product(product, matrices[i], static_cast<int64_t>(i));
    sum = sum + ops::mode_product(value, matrices[i], static_cast<int64_t>(i));
  }
  EXPECT_LT(largest_difference(product.reshape_as(flat), explicit_product(matrices).matmul(flat)), 1e-12);
  EXPECT_LT(largest_difference(sum.reshape_as(flat), explicit_sum(matrices).matmul(flat)), 1e-12);
}

// Theorem 4.1 and Corollary 4.2.
TEST_P(Theorems, RowsOfProductAndMeanSumToOne) {
  const auto matrices = attention_of(GetParam(), 20, 3);
  const auto k = static_cast<double>(matrices.size());
  EXPECT_LT((explicit_product(matrices).sum(-1) - 1).abs().max().item<double>(), 1e-13);
  EXPECT_LT((explicit_sum(matrices).sum(-1) / k - 1).abs().max().item<double>(), 1e-13);
  EXPECT_GE(explicit_product(matrices).min().item<double>(), 0);
}

// The same for the whole operator: constant values 1 stay 1 for any weights.
TEST_P(Theorems, AttentionKeepsConstants) {
  const Modes& modes = GetParam();
  const int64_t k = std::ssize(modes), width = 8;
  Modes shape{3};
  shape.insert(shape.end(), modes.begin(), modes.end());
  shape.push_back(width);
  const at::Tensor x = random_matrix(shape, 30), ones = at::ones(shape, at::kDouble);
  ops::KroneckerAttentionWeights weights;
  weights.query_weight = random_matrix({k * width, width}, 31);
  weights.key_weight = random_matrix({k * width, width}, 32);
  ops::KroneckerAttentionOptions options;
  options.heads = 2;
  for (const ops::Combine combine : {ops::Combine::product, ops::Combine::mean, ops::Combine::sum}) {
    options.combine = combine;
    const double wanted = combine == ops::Combine::sum ? static_cast<double>(k) : 1;
    EXPECT_LT((ops::kronecker_attention(x, ones, weights, options) - wanted).abs().max().item<double>(),
              1e-12);
  }
}

// Without position encoding, attention is permutation equivariant along each mode.
TEST_P(Theorems, AttentionIsEquivariantToReorderingAnyMode) {
  const Modes& modes = GetParam();
  const int64_t k = std::ssize(modes), width = 8;
  Modes shape{2};
  shape.insert(shape.end(), modes.begin(), modes.end());
  shape.push_back(width);
  const at::Tensor x = random_matrix(shape, 40), value = random_matrix(shape, 41);
  ops::KroneckerAttentionWeights weights;
  weights.query_weight = random_matrix({k * width, width}, 42);
  weights.key_weight = random_matrix({k * width, width}, 43);
  weights.query_norm_weight = weights.key_norm_weight = at::ones({4}, at::kDouble);
  ops::KroneckerAttentionOptions options;
  options.heads = 2;
  for (const char* kernel : {"softmax", "linear"})
    for (const ops::Combine combine : {ops::Combine::product, ops::Combine::mean}) {
      options.kernel = kernel;
      options.combine = combine;
      const at::Tensor straight = ops::kronecker_attention(x, value, weights, options);
      for (int64_t mode = 0; mode < k; ++mode) {
        const int64_t n = modes[static_cast<size_t>(mode)];
        const auto order = random_permutation(n, {7, RandomSite::shuffle, static_cast<uint64_t>(mode)});
        const at::Tensor index = at::empty({n}, at::kLong);
        std::copy(order.begin(), order.end(), index.mutable_data_ptr<int64_t>());
        const auto reorder = [&](const at::Tensor& t) { return t.index_select(mode + 1, index); };
        EXPECT_LT(largest_difference(ops::kronecker_attention(reorder(x), reorder(value), weights, options),
                                     reorder(straight)),
                  1e-11);
      }
    }
}

// Equation 11.
TEST_P(Theorems, StableRankOfTheProductIsTheProductOfStableRanks) {
  const auto matrices = attention_of(GetParam(), 50, 3);
  double product = 1;
  for (const at::Tensor& matrix : matrices) product *= stable_rank_by_svd(matrix);
  EXPECT_NEAR(stable_rank_by_svd(explicit_product(matrices)), product, 1e-12 * product);
}

// Equation 12: the numerator is the squared Frobenius norm of S_1 ⊕ … ⊕ S_k if the second sum runs over
// ordered pairs i ≠ l, but not over all i, l as printed, or over unordered pairs.
TEST_P(Theorems, NumeratorOfEquation12CountsOrderedPairsOfDifferentModes) {
  const Modes& modes = GetParam();
  const auto matrices = attention_of(modes, 60, 3);
  const auto all = static_cast<double>(tokens_of(modes));
  double own = 0, pairs = 0;
  for (size_t i = 0; i < modes.size(); ++i) {
    own += all / static_cast<double>(modes[i]) * matrices[i].square().sum().item<double>();
    for (size_t l = 0; l < modes.size(); ++l)
      if (i != l)
        pairs += all / static_cast<double>(modes[i] * modes[l]) * matrices[i].trace().item<double>() *
                 matrices[l].trace().item<double>();
  }
  const double wanted = explicit_sum(matrices).square().sum().item<double>();
  EXPECT_NEAR(own + pairs, wanted, 1e-13 * wanted);
  if (modes.size() > 1) {
    EXPECT_GT(std::abs(own + pairs / 2 - wanted), 1e-3 * wanted);
  }
}

// Equation 12: the denominator is an upper bound of the squared norm. Equality holds for symmetric matrices.
TEST_P(Theorems, DenominatorOfEquation12IsAnUpperBound) {
  const Modes& modes = GetParam();
  const auto matrices = attention_of(modes, 70, 3);
  double norms = 0;
  for (const at::Tensor& matrix : matrices) norms += at::linalg_svdvals(matrix)[0].item<double>();
  const double norm = at::linalg_svdvals(explicit_sum(matrices))[0].item<double>();
  EXPECT_LE(norm, norms * (1 + 1e-12));
  if (modes.size() > 1) {
    EXPECT_LT(norm, norms * (1 - 1e-4));
    EXPECT_LT(sum_stable_rank_printed(factors_of(matrices)).item<double>(),
              sum_stable_rank(factors_of(matrices)).item<double>());
  }
}

// Equation 17, and the upper bound of equation 18, for any attention matrices.
TEST_P(Theorems, StableRanksLieBetweenOneAndTheNumberOfTokens) {
  const Modes& modes = GetParam();
  const auto tokens = static_cast<double>(tokens_of(modes));
  for (const double scale : {0.0, 0.5, 3.0, 50.0})
    for (uint64_t seed = 80; seed < 90; ++seed) {
      const ModeFactors factors = factors_of(attention_of(modes, seed, scale));
      for (const double rank :
           {product_stable_rank(factors).item<double>(), sum_stable_rank(factors).item<double>()}) {
        EXPECT_GE(rank, 1 - 1e-12);
        EXPECT_LE(rank, tokens * (1 + 1e-12));
      }
    }
}

/// (Σ_i Π_{j≠i} N_j + Σ_{i≠j} Π_{l≠i,j} N_l) / k².
double lower_bound_18(const Modes& modes) {
  const auto all = static_cast<double>(tokens_of(modes));
  double sum = 0;
  for (size_t i = 0; i < modes.size(); ++i)
    for (size_t j = 0; j < modes.size(); ++j)
      sum += i == j ? all / static_cast<double>(modes[i]) : all / static_cast<double>(modes[i] * modes[j]);
  return sum / static_cast<double>(modes.size() * modes.size());
}

/// Doubly stochastic with trace of at least 1: a mean of the identity and permutations.
at::Tensor doubly_stochastic(int64_t n, uint64_t seed) {
  at::Tensor out = at::eye(n, at::kDouble) * (1.0 / static_cast<double>(n));
  const at::Tensor eye = at::eye(n, at::kDouble);
  for (int64_t i = 1; i < n; ++i) {
    const auto order = random_permutation(n, {seed, RandomSite::shuffle, static_cast<uint64_t>(i)});
    const at::Tensor index = at::empty({n}, at::kLong);
    std::copy(order.begin(), order.end(), index.mutable_data_ptr<int64_t>());
    out = out + eye.index_select(0, index) / static_cast<double>(n);
  }
  return out;
}

// The lower bound of equation 18 follows from equations 14 and 15 (trace at least 1, norm at most 1), which
// hold for doubly stochastic matrices; uniform attention attains it.
TEST_P(Theorems, LowerBoundOfEquation18HoldsWhereColumnsSumToOneToo) {
  const Modes& modes = GetParam();
  for (uint64_t seed = 90; seed < 95; ++seed) {
    std::vector<at::Tensor> matrices;
    for (const int64_t n : modes) matrices.push_back(doubly_stochastic(n, seed));
    EXPECT_GE(sum_stable_rank(factors_of(matrices)).item<double>(), lower_bound_18(modes) * (1 - 1e-12));
  }
  const double uniform = sum_stable_rank(factors_of(attention_of(modes, 1, 0))).item<double>();
  EXPECT_NEAR(uniform, lower_bound_18(modes), 1e-13 * uniform);
}

// It does not hold for attention in general: equation 14 fails if rows do not attend to their own token, and
// then the bound may fail; equation 15 fails if many rows attend to one token.
TEST(SingleTheorems, LowerBoundOfEquation18FailsForSomeAttention) {
  const Modes modes{5, 5, 5};
  const at::Tensor away = (at::ones({5, 5}, at::kDouble) - at::eye(5, at::kDouble)) / 4;
  EXPECT_EQ(away.trace().item<double>(), 0);  // equation 14 says at least 1
  const double rank = sum_stable_rank(factors_of({away, away, away})).item<double>();
  EXPECT_NEAR(rank, 3 * 25 * 1.25 / 9, 1e-12);
  EXPECT_LT(rank, lower_bound_18(modes) - 1);
  const at::Tensor one_place = at::zeros({9, 9}, at::kDouble);
  one_place.select(1, 0).fill_(1);
  EXPECT_NEAR(at::linalg_svdvals(one_place)[0].item<double>(), 3, 1e-12);  // equation 15 says at most 1
}

// Theorem 4.3: any matrix is a sum of min_j Π_{i≠j} N_i² Kronecker products; for two modes, generally no
// fewer.
TEST_P(Theorems, AnyMatrixIsASumOfKroneckerProductsAtTheRankBound) {
  const Modes& modes = GetParam();
  const int64_t n = tokens_of(modes);
  for (const at::Tensor& matrix : {random_attention({n, n}, 100, 2), random_matrix({n, n}, 101)}) {
    const KroneckerDecomposition found = exact_kronecker_decomposition(matrix, modes);
    EXPECT_EQ(found.rank(), exact_rank(modes));
    EXPECT_LT(found.error, 1e-14);
    EXPECT_LT(largest_difference(reconstructed(found), matrix), 1e-14);
    if (modes.size() == 2) {
      EXPECT_GT(kronecker_decomposition(matrix, modes, exact_rank(modes) - 1).error, 1e-6);
    }
  }
}

// Sums of Kronecker sums are Kronecker sums: not universal.
TEST(SingleTheorems, SumsOfKroneckerSumsStayKroneckerSums) {
  const auto a = attention_of({3, 4}, 110, 2), b = attention_of({3, 4}, 120, 2);
  EXPECT_LT(largest_difference(explicit_sum(a) + explicit_sum(b), explicit_sum({a[0] + b[0], a[1] + b[1]})),
            1e-14);
}

}  // namespace
}  // namespace modewise::analysis
