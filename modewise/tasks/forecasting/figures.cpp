#include "modewise/tasks/forecasting/figures.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <limits>

#include "modewise/report/line_picture.h"
#include "modewise/tasks/forecasting/evaluate.h"

namespace modewise::tasks {
namespace {

constexpr int64_t kSeries = 4, kWidth = 480, kHeight = 160, kThickness = 2;
constexpr report::Color kTruth = {29, 33, 41}, kForecast = report::Color{213, 94, 0}, kBand = {247, 220, 198};

/// Values of a curve, NaN where not `observed` (may be undefined).
std::vector<double> curve(const at::Tensor& values, const at::Tensor& observed = {}) {
  const at::Tensor row = values.to(at::kDouble).contiguous();
  std::vector<double> out(row.const_data_ptr<double>(), row.const_data_ptr<double>() + row.numel());
  if (!observed.defined()) return out;
  const at::Tensor mask = observed.contiguous();
  for (size_t i = 0; i < out.size(); ++i)
    if (!mask.const_data_ptr<bool>()[i]) out[i] = std::numeric_limits<double>::quiet_NaN();
  return out;
}

std::string figure_of(const ForecastBlock& block, int64_t series) {
  const int64_t lookback = block.past.size(2);
  const at::Tensor observed =
      block.past_observed.defined()
          ? at::cat({block.past_observed[0][series], block.future_observed[0][series]})
          : at::Tensor();
  const at::Tensor truth = at::cat({block.past[0][series], block.future[0][series]});
  std::vector<report::ImageBand> bands;
  if (block.quantiles.defined()) {
    const at::Tensor quantiles = block.quantiles[0][series];  // [H, Q]
    bands.push_back({lookback, curve(quantiles.select(1, 0)), curve(quantiles.select(1, -1)), kBand});
  }
  return report::line_figure(kWidth, kHeight, bands,
                             {{0, curve(truth, observed), kTruth, kThickness},
                              {lookback, curve(block.forecast[0][series]), kForecast, kThickness}});
}

}  // namespace

std::vector<train::Image> forecast_figures(models::Forecaster& model, const ForecastData& data) {
  std::vector<train::Image> figures;
  const int64_t middle = data.windows.validation.size() / 2;
  stream_forecasts(
      model, data, data.windows.validation.part(middle, middle + 1), 1, [&](const ForecastBlock& block) {
        for (int64_t s = 0; s < std::min(kSeries, block.past.size(1)); ++s)
          figures.push_back({"forecast/" + data.series.series_name(s), kWidth, kHeight, figure_of(block, s)});
      });
  return figures;
}

}  // namespace modewise::tasks
