#include "modewise/analysis/layer_ranks.h"

#include <gtest/gtest.h>

#include "modewise/analysis/stable_rank.h"
#include "tests/analysis/matrices.h"

namespace modewise::analysis {
namespace {

TEST(LayerRanks, AreMeansOverSamples) {
  const models::ModeMaps layer{{0, 2},
                               {random_attention({3, 2, 4, 4}, 1, 2), random_attention({3, 2, 3, 3}, 2, 2)}};
  const auto ranks = layer_ranks({{4, 5, 3}, {layer, layer}, {}});
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks[0].modes, (std::vector<int64_t>{0, 2}));
  ASSERT_EQ(ranks[0].by_mode[1].size(), 2u);
  double mode = 0, product = 0, sum = 0;
  const at::Tensor eye = at::eye(5, at::kDouble), eye4 = at::eye(4, at::kDouble),
                   eye3 = at::eye(3, at::kDouble);
  for (int64_t b = 0; b < 3; ++b) {
    const at::Tensor a = layer.factors[0][b][1], c = layer.factors[1][b][1];
    mode += stable_rank_by_svd(c) / 3;
    product += stable_rank_by_svd(explicit_product({a, eye, c})) / 3;
    sum += stable_rank_by_svd(explicit_product({a, eye, eye3}) + explicit_product({eye4, eye, c})) / 3;
  }
  EXPECT_NEAR(ranks[0].by_mode[1][1], mode, 1e-13);
  EXPECT_NEAR(ranks[0].product[1], product, 1e-12);
  EXPECT_NEAR(ranks[0].sum[1], sum, 1e-11);
  EXPECT_TRUE(ranks[0].full.empty());
}

TEST(LayerRanks, OfFullAttention) {
  const at::Tensor matrix = random_attention({2, 3, 12, 12}, 3, 2);
  const auto ranks = layer_ranks({{3, 4}, {}, {matrix}});
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_TRUE(ranks[0].modes.empty());
  EXPECT_NEAR(ranks[0].full[2], (stable_rank_by_svd(matrix[0][2]) + stable_rank_by_svd(matrix[1][2])) / 2,
              1e-12);
  EXPECT_TRUE(layer_ranks({}).empty());
}

}  // namespace
}  // namespace modewise::analysis
