// Published baselines: odd sizes, costs by counting, refusals. Their values are tested in
// forecaster_oracle_test.cpp against vectors of the authors' code.

#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "modewise/models/forecasting/cost.h"
#include "modewise/models/forecasting/window_embedding.h"
#include "tests/error_of.h"
#include "tests/models/noise_oracle.h"

namespace modewise::models {
namespace {

ForecastShape shape_of(int64_t series, int64_t lookback, int64_t horizon, int64_t quantiles = 0) {
  ForecastShape shape;
  shape.series = {series};
  shape.lookback = lookback;
  shape.horizon = horizon;
  shape.quantiles = quantiles;
  return shape;
}

ForecastInput input_of(const ForecastShape& shape, int64_t batch) {
  at::manual_seed(4);
  ForecastInput input;
  input.past = at::randn({batch, shape.series[0], shape.lookback});
  input.first_step = at::zeros({batch}, at::kLong);
  return input;
}

std::vector<std::string> small(const std::string& name) {
  std::vector<std::string> out = {"name=" + name};
  const ForecasterRow& row = row_of(forecasters(), name);
  for (const std::string setting : {"width=8", "hidden=12", "heads=2", "crossformer.routers=2",
                                    "timesnet.periods=1", "timesnet.kernels=2", "autoformer.kernel=5",
                                    "fedformer.frequencies=4", "nonstationary.factor_hidden=6"})
    if (row.has_option(setting.substr(0, setting.find('=')))) out.push_back(setting);
  return out;
}

class EveryBaseline : public testing::TestWithParam<const char*> {};

TEST_P(EveryBaseline, HasFiniteGradientsOnOddSizes) {
  for (const ForecastShape& shape :
       {shape_of(1, 7, 1), shape_of(1, 1, 1), shape_of(2, 2, 13), shape_of(3, 25, 7, 3)})
    for (const bool constant : {false, true}) {
      const auto model = make_forecaster(configured<ForecasterConfig>(small(GetParam())), shape, 1);
      ForecastInput input = input_of(shape, 3);
      if (constant) input.past.fill_(1);
      const at::Tensor out = model->forward(input);
      EXPECT_TRUE(out.isfinite().all().item<bool>());
      out.square().sum().backward();
      for (const auto& item : model->named_parameters()) {
        ASSERT_TRUE(item.value().grad().defined()) << item.key();
        EXPECT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
      }
    }
}

TEST_P(EveryBaseline, ForecastsAWindowWithoutRegardToItsBatch) {
  const ForecastShape shape = shape_of(3, 25, 7);
  const auto model = make_forecaster(configured<ForecasterConfig>(small(GetParam())), shape, 1);
  model->eval();
  const ForecastInput input = input_of(shape, 9);
  const at::Tensor all = model->forward(input);
  for (int64_t i = 0; i < 9; ++i) {
    const at::Tensor alone =
        model->forward({input.past.narrow(0, i, 1), {}, input.first_step.narrow(0, i, 1)});
    EXPECT_LT((alone[0] - all[i]).abs().max().item<double>(), 1e-5) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EveryBaseline,
                         testing::Values("crossformer", "timesnet", "autoformer", "fedformer",
                                         "nonstationary", "scinet"),
                         [](const auto& param) { return param.param; });

/// Number of rows to which the layer of parameter `name` is applied; 0 without multiplications.
using Rows = std::function<double(const std::string& name)>;

/// Weights and normalization scales times their rows; biases are only added.
double weights_times_rows(const ForecasterConfig& config, const ForecastShape& shape, const Rows& rows) {
  double sum = 0;
  for (const auto& item : make_forecaster(config, shape, 1)->named_parameters())
    if (!item.key().ends_with("bias")) sum += static_cast<double>(item.value().numel()) * rows(item.key());
  return sum;
}

bool holds(const std::string& name, const char* part) {
  return name.find(part) != std::string::npos;
}

TEST(CrossformerCost, CountsEachLayerAtItsRowsAndTheirPairs) {
  // Three series; segments of 4 rows: 3 in the window, 2 after merging, 2 in the horizon; 5 routers.
  const auto config =
      configured<ForecasterConfig>({"name=crossformer", "width=8", "hidden=12", "heads=2", "layers=2",
                                    "crossformer.segment=4", "crossformer.routers=5"});
  const ForecastShape shape = shape_of(3, 10, 6);
  const double weights = weights_times_rows(config, shape, [&](const std::string& name) {
    if (holds(name, "pos_embedding") || holds(name, "router")) return 0.0;
    const bool source = holds(name, "key_proj") || holds(name, "value_proj");
    const double segments =
        name.starts_with("encoder.0") || name.starts_with("enc_value") || name.starts_with("pre_norm") ? 3
                                                                                                       : 2;
    if (holds(name, "cross_attention") && source) return 3.0 * (holds(name, "decoder.2") ? 2 : 3);
    if (holds(name, "dim_sender") || holds(name, "dim_receiver"))
      return (holds(name, "dim_receiver") == source ? 5.0 : 3.0) * segments;
    return 3 * segments;
  });
  // Over time; to the routers and back; and between decoder and encoder.
  const double pairs = 3 * (9 + 4 * 4) + 2 * 3 * 5 * (3 + 4 * 2) + 3 * 2 * (3 + 3 + 2);
  const nn::ModelCost cost = forecaster_cost(config, shape);
  EXPECT_DOUBLE_EQ(cost.multiply_adds(), weights + 2 * 8 * pairs);
  EXPECT_EQ(cost.tokens, (std::vector<int64_t>{3, 3}));
}

TEST(TimesNetCost, CountsTheLargestKernelAtEveryCellOfEveryPeriod) {
  const auto config = configured<ForecasterConfig>(
      {"name=timesnet", "width=4", "hidden=6", "layers=2", "timesnet.periods=3", "timesnet.kernels=2"});
  const ForecastShape shape = shape_of(3, 11, 6);
  const double weights = weights_times_rows(config, shape, [&](const std::string& name) {
    if (name.starts_with("enc_embedding")) return 11.0;
    if (name.starts_with("predict_linear")) return 4.0;
    if (name.starts_with("projection")) return 6.0;
    if (name.starts_with("layer_norm")) return 2 * 17.0;
    return name.ends_with("weight1") ? 3 * 17.0 : 0.0;
  });
  // Each block's spectrum: cosines and sines of 8 frequencies over 17 rows, 4 channels.
  EXPECT_DOUBLE_EQ(forecaster_cost(config, shape).multiply_adds(), weights + 2 * 2 * 8 * 17 * 4);
}

/// Steps of an encoder-decoder's layer: 11 in the window, 5 + 10 in the decoder, 10 forecast.
double decomposition_rows(const std::string& name) {
  if (name.starts_with("projection")) return 10;
  const bool window =
      holds(name, "enc_embedding") || name.starts_with("encoder") ||
      (holds(name, "cross_attention") && (holds(name, "key_proj") || holds(name, "value_proj")));
  return window ? 11 : 15;
}

TEST(AutoformerCost, CountsEachLayerAtItsStepsPairsAndAverages) {
  const auto config = configured<ForecasterConfig>(
      {"name=autoformer", "width=8", "hidden=12", "layers=3", "autoformer.decoder_layers=2"});
  const ForecastShape shape = shape_of(3, 11, 10);
  const double weights = weights_times_rows(config, shape, decomposition_rows);
  const double pairs = 2 * 8 * (3 * 11 * 11 + 2 * 2 * 15 * 15),
               averages = 11 * 11 * 3 + 8 * (2 * 3 * 11 * 11 + 3 * 2 * 15 * 15);
  EXPECT_DOUBLE_EQ(forecaster_cost(config, shape).multiply_adds(), weights + pairs + averages);
}

TEST(FedformerCost, CountsSharedMapsInEveryLayer) {
  const auto config =
      configured<ForecasterConfig>({"name=fedformer", "width=8", "hidden=12", "heads=2", "layers=3",
                                    "fedformer.decoder_layers=2", "fedformer.frequencies=6"});
  const ForecastShape shape =
      shape_of(3, 11, 10);  // 5 frequencies of the window and 6 of the decoder's steps
  const double weights = weights_times_rows(config, shape, [](const std::string& name) {
    if (holds(name, "linear.weights")) return name.starts_with("encoder") ? 2 * 3.0 : 2 * 2.0;
    return decomposition_rows(name);
  });
  const double spectra = 8 * (3 * 4 * 5 * 11 + 2 * 4 * 6 * 15 + 2 * (4 * 6 * 15 + 2 * 5 * 11)),
               scores = 8 * 2 * (8 * 6 * 5), averages = 11 * 11 * 3 + 8 * (2 * 3 * 11 * 11 + 3 * 2 * 15 * 15);
  EXPECT_DOUBLE_EQ(forecaster_cost(config, shape).multiply_adds(), weights + spectra + scores + averages);
}

TEST(NonstationaryCost, CountsEachLayerAtItsStepsAndPairs) {
  const auto config =
      configured<ForecasterConfig>({"name=nonstationary", "width=8", "hidden=12", "heads=2", "layers=3",
                                    "nonstationary.decoder_layers=2", "nonstationary.factor_hidden=5"});
  const ForecastShape shape = shape_of(3, 11, 10);
  const double weights = weights_times_rows(config, shape, [](const std::string& name) {
    if (holds(name, "learner")) return holds(name, "series_conv") ? 3.0 : 1.0;
    return decomposition_rows(name);
  });
  EXPECT_DOUBLE_EQ(forecaster_cost(config, shape).multiply_adds(),
                   weights + 2 * 8 * (3 * 11 * 11 + 2 * (15 * 15 + 15 * 11)));
}

TEST(SCINetCost, CountsEachFilterAtTheStepsOfItsLevel) {
  const auto config = configured<ForecasterConfig>({"name=scinet", "scinet.levels=2", "scinet.expansion=3"});
  const ForecastShape shape = shape_of(3, 11, 10);  // padded to 12 rows
  const double weights = weights_times_rows(config, shape, [](const std::string& name) {
    if (name.starts_with("projection")) return 3.0;
    const double steps = holds(name, "even") || holds(name, "odd") ? 3 : 6;
    return holds(name, "conv1") ? steps + 2 : steps;
  });
  EXPECT_DOUBLE_EQ(forecaster_cost(config, shape).multiply_adds(), weights);
}

TEST(Fedformer, DrawsItsFrequenciesWithTheSeedAndSavesThem) {
  const ForecastShape shape = shape_of(2, 96, 24);
  const auto drawn = [&](uint64_t seed) {
    auto config = configured<ForecasterConfig>(small("fedformer"));
    return make_forecaster(config, shape, seed)->named_buffers()["encoder_fourier.frequencies"];
  };
  EXPECT_TRUE(drawn(1).equal(drawn(1)));
  EXPECT_FALSE(drawn(1).equal(drawn(2)));
  EXPECT_TRUE((drawn(1).diff() > 0).all().item<bool>());
  EXPECT_LT(drawn(1).max().item<int64_t>(), 48);
}

TEST(Autoformer, RefusesAnEvenKernel) {
  const auto config = configured<ForecasterConfig>({"name=autoformer", "autoformer.kernel=4"});
  EXPECT_EQ(error_of(ErrorKind::config, [&] { validate(config, shape_of(3, 12, 6), "run.toml"); }),
            "run.toml: autoformer.kernel must be odd, got 4");
}

TEST(Crossformer, RefusesToMergeMoreSegmentsThanThereAre) {
  const auto config = configured<ForecasterConfig>(
      {"name=crossformer", "crossformer.segment=12", "crossformer.merge=4", "layers=2"});
  EXPECT_EQ(
      error_of(ErrorKind::config, [&] { validate(config, shape_of(3, 12, 6), "run.toml"); }),
      "run.toml: crossformer.merge = 4 is too large for layer 2: number of segments of 12 rows before it: "
      "1; use fewer layers, a smaller crossformer.segment or a longer lookback");
  EXPECT_NO_THROW(validate(config, shape_of(3, 24, 6)));
}

TEST(WindowEmbedding, AddsALinearMapOfTheCovariatesOfAllPlaces) {
  ForecastShape shape = shape_of(3, 11, 6);
  shape.known = 2;
  shape.known_modes = 1;
  nn::Initializer init(5);
  WindowEmbedding embedding(init, shape, 8, 0, 0.0);
  at::manual_seed(6);
  const at::Tensor x = at::randn({4, 9, 3}), known = at::randn({4, 3, 2, 17});
  const at::Tensor added = embedding.forward(x, known, 5) - embedding.forward(x, at::zeros_like(known), 5);
  const at::Tensor weight = embedding.named_parameters()["temporal_embedding.weight"];
  EXPECT_EQ(weight.sizes(), at::IntArrayRef({8, 6}));
  for (int64_t step = 0; step < 9; ++step) {
    const at::Tensor expected = known.select(-1, 5 + step).reshape({4, 6}).matmul(weight.t());
    EXPECT_LT((added.select(1, step) - expected).abs().max().item<double>(), 1e-5) << step;
  }
}

TEST(TimesNet, RefusesMorePeriodsThanThereAre) {
  const auto config = configured<ForecasterConfig>({"name=timesnet"});
  EXPECT_EQ(
      error_of(ErrorKind::config, [&] { validate(config, shape_of(3, 6, 3), "run.toml"); }),
      "run.toml: timesnet.periods = 5, but lookback and horizon together have 9 rows and thus 4 periods: "
      "use fewer periods or a longer lookback");
}

}  // namespace
}  // namespace modewise::models
