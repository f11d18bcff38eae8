// Random projections in tensor space (Tensorized Attention, Theorem 3.1 and Lemma B.1): their moments, and
// the failure rate against the lemma's bound with the printed number of rows.

#include "modewise/analysis/random_projection.h"

#include <ATen/ops/eye.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <cmath>

#include "modewise/core/error.h"
#include "tests/analysis/matrices.h"

namespace modewise::analysis {
namespace {

using Modes = std::vector<int64_t>;

TEST(TensorProjection, RowsAreSumsOfKroneckerProducts) {
  const RandomStream stream{3, RandomSite::simulation, 1};
  const at::Tensor t = tensor_projection(5, {2, 3, 4}, 2, stream);
  for (int64_t row = 0; row < 5; ++row)
    for (int64_t i = 0; i < 24; ++i) {
      double sum = 0;
      for (int64_t term = 0; term < 2; ++term) {
        const auto at = [&](int64_t begin, int64_t size, int64_t place) {  // factors are concatenated
          return stream.normal(static_cast<uint64_t>(begin + (row * 2 + term) * size + place));
        };
        sum += at(0, 2, i / 12) * at(20, 3, i / 4 % 3) * at(50, 4, i % 4);
      }
      EXPECT_DOUBLE_EQ(t[row][i].item<double>(), sum / std::sqrt(10.0));
    }
}

/// ‖T y‖² for many T of one row.
at::Tensor squares(const Modes& modes, int64_t rank, const at::Tensor& y, int64_t draws, uint64_t seed) {
  const at::Tensor t = tensor_projection(draws, modes, rank, {seed, RandomSite::simulation, 7});
  return t.matmul(y).square() * static_cast<double>(draws);
}

// For y = y_1 ⊗ … ⊗ y_m: E⟨t, y⟩⁴ = 3 + (3^m − 3)/R by counting pairs of terms.
TEST(TensorProjection, KeepsTheLengthAndHasTheVarianceOfItsRank) {
  for (const auto& [modes, rank] :
       {std::pair<Modes, int64_t>{{12}, 1}, {{3, 4}, 1}, {{3, 4}, 3}, {{2, 3, 2}, 4}}) {
    const auto m = static_cast<double>(modes.size());
    const at::Tensor y = at::ones({12}, at::kDouble) / std::sqrt(12.0);
    const at::Tensor values = squares(modes, rank, y, 200000, 5);
    const double fourth = 3 + (std::pow(3, m) - 3) / static_cast<double>(rank);
    const double error = std::sqrt((fourth - 1) / 200000);  // of the mean
    EXPECT_NEAR(values.mean().item<double>(), 1, 5 * error);
    // The standard error of the fourth moment depends on the eighth: 15 % cover six standard errors at these
    // sizes.
    EXPECT_NEAR(values.square().mean().item<double>() / fourth, 1, 0.15);
  }
}

TEST(LemmaB1, AsksForMoreRowsThanThereAreColumns) {
  // ε⁻² 3^(m−1) (1 + 2/R) ln(n/δ) / ln(2m), computed by hand for 512 = 8 × 8 × 8, δ = .05/n.
  EXPECT_DOUBLE_EQ(lemma_rows(0.5, 0.05 / 512, {8, 8, 8}, 1),
                   4 * 9 * 3 * std::log(512.0 * 512 / 0.05) / std::log(6.0));
  EXPECT_NEAR(lemma_rows(0.5, 0.05 / 512, {8, 8, 8}, 1), 932.6, 0.1);
  EXPECT_DOUBLE_EQ(lemma_rows(0.1, 0.5, {4, 4}, 2), 100 * 3 * 2 * 2.5);
}

/// Fraction of `draws` projections that change the norm of a unit vector (a Kronecker product of vectors) by
/// more than a half. ⟨t, y⟩ is then a product of m normal numbers.
double failures(int64_t modes, int64_t rows, int64_t draws) {
  int64_t failed = 0;
  for (int64_t draw = 0; draw < draws; ++draw) {
    const RandomStream stream{11, RandomSite::simulation, static_cast<uint64_t>(draw)};
    double sum = 0;
    for (int64_t row = 0; row < rows; ++row) {
      double product = 1;
      for (int64_t mode = 0; mode < modes; ++mode)
        product *= stream.normal(static_cast<uint64_t>(row * modes + mode));
      sum += product * product;
    }
    if (std::abs(std::sqrt(sum / static_cast<double>(rows)) - 1) > 0.5) ++failed;
  }
  return static_cast<double>(failed) / static_cast<double>(draws);
}

// As printed: the norm is off by more than ε in fewer than δ of all draws. δ = .05/n, so that the union bound
// over the n rows of A, as in the proof, leaves 90 %.
TEST(LemmaB1, HoldsForTwoModes) {
  const double delta = 0.05 / 64;
  const auto rows = static_cast<int64_t>(std::ceil(lemma_rows(0.5, delta, {8, 8}, 1)));
  EXPECT_EQ(rows, 294);
  EXPECT_LT(failures(2, rows, 4000), delta);
}

// With δ = .05/243 the printed number of rows fails far more often than stated: NumPy's generator had 18
// failures in 10,164 draws, where 2.1 were allowed.
TEST(LemmaB1, FailsForFiveModes) {
  const double delta = 0.05 / 243;
  const auto rows = static_cast<int64_t>(std::ceil(lemma_rows(0.5, delta, {3, 3, 3, 3, 3}, 1)));
  EXPECT_EQ(rows, 5903);
  EXPECT_GT(failures(5, rows, 3000), 2 * delta);
}

TEST(ProjectionStudy, IsExactForTheIdentityOnlyWithEveryDirection) {
  const ProjectionStudy study = study_projections(at::eye(12, at::kDouble), {3, 4}, 5, 1);
  EXPECT_EQ(study.rows, (Modes{12, 24, 48}));
  EXPECT_EQ(study.spaces, (std::vector<Modes>{{12}, {3, 4}}));
  for (const double error : study.truncated) EXPECT_LT(error, 1e-12);
  // For normal rows ‖Tᵀ T y − y‖² has mean (n + 1)/k · ‖y‖²; the median of five is near it.
  for (size_t i = 0; i < 3; ++i) {
    const double expected = std::sqrt(13.0 / static_cast<double>(study.rows[i]));
    EXPECT_GT(study.median[i][0], 0.5 * expected);
    EXPECT_LT(study.median[i][0], 1.5 * expected);
  }
}

TEST(ProjectionStudy, AnEvenNumberOfDrawsHasTheMeanOfTheMiddleTwo) {
  const ProjectionStudy study = study_projections(at::eye(64, at::kDouble), {8, 8}, 4, 1);
  ASSERT_EQ(study.rows, (Modes{16, 32, 64, 128, 256}));
  // 16 of 64 directions are kept: the error is the norm of 48 of 64 normal numbers, divided by that of all.
  EXPECT_NEAR(study.truncated[0], std::sqrt(0.75), 0.1);
  EXPECT_NEAR(study.truncated[1], std::sqrt(0.5), 0.12);
}

TEST(ProjectionStudy, RefusesModesThatDoNotFit) {
  try {
    study_projections(random_attention({6, 6}, 1), {2, 4}, 3, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the modes 2 × 4 make 8 rows and columns, but the matrix has 6 x 6");
  }
}

}  // namespace
}  // namespace modewise::analysis
