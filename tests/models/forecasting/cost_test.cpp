#include "modewise/models/forecasting/cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "modewise/models/forecasting/ensemble.h"
#include "tests/models/noise_oracle.h"

namespace modewise::models {
namespace {

/// 100 variables × 96 steps, 720 outputs: the input of the paper's Table 1.
ForecastShape table1_shape() {
  ForecastShape shape;
  shape.series = {100};
  shape.lookback = 96;
  shape.horizon = 720;
  return shape;
}

/// Billions with two decimals, as the paper prints them.
double billions(double count) {
  return std::round(count / 1e7) / 100;
}

TEST(ForecasterCost, ReleasedFormHasThePapersFigures) {
  const auto released =
      forecaster_cost(configured<ForecasterConfig>({"preset=release"}), table1_shape(), Projection::full);
  EXPECT_EQ(released.tokens, (std::vector<int64_t>{100, 24}));
  EXPECT_EQ(released.parameters(), 686'544);
  EXPECT_EQ(billions(released.multiply_adds()), 1.51);
}

TEST(ForecasterCost, NonFactorizedFormHasThePapersFigures) {
  const auto full =
      forecaster_cost(configured<ForecasterConfig>({"name=transformer", "preset=release"}), table1_shape());
  EXPECT_EQ(billions(full.multiply_adds()), 4.22);
  EXPECT_NEAR(static_cast<double>(full.parameters()), 620e3, 1e3);
}

TEST(ForecasterCost, PoolingBeforeProjectingSavesAFifthWithTheSameParameters) {
  const auto released =
      forecaster_cost(configured<ForecasterConfig>({"preset=release"}), table1_shape(), Projection::full);
  const auto ours = forecaster_cost(configured<ForecasterConfig>({"preset=release"}), table1_shape());
  EXPECT_EQ(ours.parameters(), released.parameters());
  // The projections of 2,400 tokens to 2·128 channels, twice per block, become those of 100 + 24 pooled
  // tokens to 128 channels.
  EXPECT_DOUBLE_EQ(released.multiply_adds() - ours.multiply_adds(),
                   2 * 2 * (2400.0 * 256 * 128 - 124.0 * 128 * 128));
  EXPECT_NEAR(ours.multiply_adds(), 1.20e9, 5e6);
}

TEST(ForecasterCost, ActivationsOfBFloat16AreHalf) {
  const double single = forecaster_cost(configured<ForecasterConfig>({}), table1_shape()).activation_bytes;
  const double half =
      forecaster_cost(configured<ForecasterConfig>({"precision=bf16"}), table1_shape()).activation_bytes;
  EXPECT_GT(single, 1e6);
  EXPECT_DOUBLE_EQ(half, single / 2);
}

class ParameterCount : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(ParameterCount, EqualsTheBuiltModel) {
  for (bool missing : {false, true})
    for (int64_t quantiles : {0, 3}) {
      const bool ahead =
          uses_future_covariates(row_of(forecasters(), configured<ForecasterConfig>(GetParam()).name));
      ForecastShape shape;
      shape.series = {4, 3};
      shape.ordered = {true, false};
      shape.lookback = 90;  // patches of 16 with stride 8 need padding
      shape.horizon = 24;
      shape.quantiles = quantiles;
      shape.missing = missing;
      shape.known = missing && ahead ? 5 : 0;
      shape.known_modes = 1;
      const ForecasterConfig config = configured<ForecasterConfig>(GetParam());
      int64_t built = 0;
      const auto model = make_forecaster(config, shape, 1);
      for (const auto& parameter : model->parameters()) built += parameter.numel();
      if (config.name == "ridge")  // its maps are fitted, not trained
        for (const char* map : {"weight", "bias"}) built += model->named_buffers()[map].numel();
      EXPECT_EQ(forecaster_cost(config, shape).parameters(), built);
    }
}

/// Every model with its authors' settings (an ensemble has only its members'), and options that add
/// parameters.
std::vector<std::vector<std::string>> settings_with_parameters() {
  std::vector<std::vector<std::string>> out = {
      {"preset=release"},
      {"preset=paper"},
      {"window.cycle=24", "window.affine=true", "position.encoding=learned", "layer_scale=0.1",
       "head.skip=individual", "head.time=attention"},
      {"head.skip=shared", "head.time=mean", "position.encoding=sincos", "attention.share_modes=true"},
      {"attention.kernel=linear", "attention.attend_modes=[0,2]"},
      {"name=temporal", "feed_forward=gelu", "attention.query_key_norm=false"},
      {"name=tide", "layers=1", "tide.norm=false", "window.affine=false"},
      {"name=spatial", "future_covariates.width=0"}};
  for (const ForecasterRow& row : forecasters()) {
    if (row.name == "ensemble") continue;
    out.push_back({"name=" + row.name});
    for (const std::string option : {"individual=true", "window.cycle=24"})
      if (row.cost != nullptr && row.has_option(option.substr(0, option.find('='))))
        out.push_back({"name=" + row.name, option});
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Models, ParameterCount, testing::ValuesIn(settings_with_parameters()));

TEST(ForecasterCost, OfAnEnsembleIsThatOfItsMembers) {
  EnsembleMember dlinear{table1_shape().lookback, configured<ForecasterConfig>({"name=dlinear"})},
      shorter{table1_shape().lookback - 1, configured<ForecasterConfig>({"name=nlinear"})};
  ForecasterConfig both = configured<ForecasterConfig>({"name=ensemble"});
  both.ensemble.members = {dlinear.to_toml(), shorter.to_toml()};
  ForecastShape of_shorter = table1_shape();
  of_shorter.lookback -= 1;
  const auto one = forecaster_cost(dlinear.model, table1_shape()),
             other = forecaster_cost(shorter.model, of_shorter), sum = forecaster_cost(both, table1_shape());
  EXPECT_GT(one.parameters(), 0);
  EXPECT_EQ(sum.parameters(), one.parameters() + other.parameters());
  EXPECT_EQ(sum.multiply_adds(), one.multiply_adds() + other.multiply_adds());
}

}  // namespace
}  // namespace modewise::models
