// Head spectra against a random matrix: medians as NumPy, and the size and mask of the random matrix.

#include "modewise/analysis/head_spectra.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/matrices.h"

namespace modewise::analysis {
namespace {

using testing::ElementsAre;

/// Vector space with the ranks 1, 2 … and the given information.
HeadSpectra head_of(int64_t layer, double stable_rank, std::vector<double> values,
                    std::vector<double> information) {
  Spectrum spectrum{"vector", {}, 10, std::move(values), {}, std::move(information)};
  for (size_t i = 0; i < spectrum.information.size(); ++i)
    spectrum.ranks.push_back(static_cast<int64_t>(i) + 1);
  return {layer, 1, stable_rank, {spectrum}};
}

TEST(HeadSpectra, TheTableEndsWithTheMedianAndTheRandomMatrix) {
  const std::vector<HeadSpectra> heads = {head_of(0, 1.5, {1, 0.5}, {0.95, 1}),
                                          head_of(1, 4, {1, 0.3, 0.2}, {0.5, 0.8, 0.92}),
                                          head_of(2, 2, {1, 0.1}, {0.2, 0.91}), head_of(3, 8, {1}, {0.3})};
  const std::string csv = heads_table(heads, head_of(0, 9, {1, 1}, {0.4, 0.99})).to_csv();
  EXPECT_EQ(csv,
            "layer,head,stable rank,vector: 90 %,parameters,vector: 99 %,parameters\n"
            "1,2,1.5,1,10,2,20\n"
            "2,2,4,3,30,> 3,–\n"
            "3,2,2,2,20,> 2,–\n"
            "4,2,8,> 1,–,> 1,–\n"
            "median,,3,2.5,25,> 2,–\n"
            "random,,9,2,20,2,20\n");
  const std::string one = heads_table({heads[0]}, heads[1]).to_csv();
  EXPECT_EQ(one.find("median"), std::string::npos);
}

TEST(HeadSpectra, CurvesAreMediansWithTheMiddleHalf) {
  const std::vector<HeadSpectra> heads = {head_of(0, 1, {1, 0.5, 0.1}, {0.5, 0.75, 0.9}),
                                          head_of(0, 1, {1, 0.25}, {0.25, 1}),
                                          head_of(0, 1, {1, 0.125, 0.0}, {0.75, 0.8, 0.85})};
  const auto figures = heads_figures(heads, head_of(0, 1, {1, 0.75}, {0.5, 1}));
  const auto& spectrum = std::get<report::LineChart>(figures[0].figure);
  ASSERT_EQ(spectrum.series.size(), 2U);
  EXPECT_THAT(spectrum.series[0].x, ElementsAre(1, 2, 3));
  EXPECT_THAT(spectrum.series[0].y, ElementsAre(1, 0.25, 0.1));  // the second ended with 0.25
  EXPECT_THAT(spectrum.series[0].bands.at(0).lower, ElementsAre(1, 0.1875, 0.05));
  EXPECT_THAT(spectrum.series[0].bands.at(0).upper, ElementsAre(1, 0.375, testing::DoubleNear(0.175, 1e-15)));
  EXPECT_THAT(spectrum.series[1].y, ElementsAre(1, 0.75));
  EXPECT_TRUE(spectrum.series[1].bands.empty());
  EXPECT_EQ(spectrum.series[1].label, "vector, random");
  const auto& information = std::get<report::LineChart>(figures[1].figure);
  EXPECT_THAT(information.series[0].x, ElementsAre(10, 20, 30));
  EXPECT_THAT(information.series[0].y, ElementsAre(0.5, 0.8, 0.9));
}

TEST(RandomAttention, KeepsTheMaskAlone) {
  const at::Tensor matrix = random_attention({300, 300}, 3).tril();
  matrix[7].zero_();
  const at::Tensor random = random_attention_like(matrix, 5);
  EXPECT_TRUE((random == 0).equal(matrix == 0));
  const at::Tensor sums = random.sum(-1);
  EXPECT_EQ(sums[7].item<double>(), 0);
  EXPECT_LT((sums.masked_select(sums != 0) - 1).abs().max().item<double>(), 1e-12);
  // Logits are recovered as logarithms minus their row mean: 300 normal numbers in the last row.
  const at::Tensor logits = random[299].log();
  EXPECT_NEAR(logits.std().item<double>(), 1, 5 / std::sqrt(600.0));
  EXPECT_FALSE(random_attention_like(matrix, 6).equal(random));
}

}  // namespace
}  // namespace modewise::analysis
