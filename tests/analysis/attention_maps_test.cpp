#include "modewise/analysis/attention_maps.h"

#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "modewise/models/forecast/config.h"

namespace modewise::analysis {
namespace {

TEST(AttentionMaps, AreMeansOverTheBatchWithRowsOfSumOne) {
  models::ForecasterConfig config;
  models::ForecastShape shape;
  shape.series = {3};
  auto model = models::make_forecaster(config, shape, 1);
  model->train();
  const models::ForecastInput input{at::randn({5, 3, 96}), {}, at::zeros({5}, at::kLong)};
  const auto maps = attention_maps(*model, input);
  EXPECT_TRUE(model->is_training());
  ASSERT_EQ(maps.size(), 4u);  // two layers, two modes
  EXPECT_EQ(maps[3].layer, 1);
  EXPECT_EQ(maps[3].mode, 1);
  EXPECT_EQ(maps[3].mean.sizes().vec(), (std::vector<int64_t>{4, 11, 11}));
  model->eval();
  const at::Tensor direct = model->attention_maps(input)[1].factors[1].mean(0);
  EXPECT_TRUE(maps[3].mean.equal(direct));
  for (const auto& map : maps) {
    EXPECT_FALSE(map.mean.requires_grad());
    EXPECT_LT((map.mean.sum(-1) - 1).abs().max().item<double>(), 1e-5);
    ASSERT_EQ(map.places.size(), 4u);
    for (double places : map.places) {
      EXPECT_GE(places, 1);
      EXPECT_LE(places, static_cast<double>(map.mean.size(-1)) + 1e-3);
    }
  }
}

TEST(AttentionMaps, AreEmptyForModelsWithoutFactors) {
  models::ForecasterConfig config;
  config.use_model("dlinear");
  models::ForecastShape shape;
  shape.series = {3};
  auto model = models::make_forecaster(config, shape, 1);
  EXPECT_TRUE(attention_maps(*model, {at::randn({2, 3, 96}), {}, at::zeros({2}, at::kLong)}).empty());
}

}  // namespace
}  // namespace modewise::analysis
