#include "modewise/tasks/forecast/backtest.h"

#include <ATen/ops/empty_like.h>

#include "modewise/core/error.h"
#include "modewise/tasks/forecast/task.h"

namespace modewise::tasks {
namespace {

/// The last observed value of each lookback, for every step; 0 (the training mean) where there is none.
at::Tensor repeat_forecast(const ForecastBlock& block) {
  const at::Tensor result = at::empty_like(block.future);
  const std::span<const float> past = floats(block.past);
  const std::span<const bool> observed = flags(block.past_observed);
  const int64_t lookback = block.past.size(-1), horizon = block.future.size(-1);
  float* out = result.mutable_data_ptr<float>();
  for (int64_t i = 0; i < block.past.numel() / lookback; ++i) {
    float last = 0;
    for (int64_t step = lookback; step-- > 0;) {
      const auto at = static_cast<size_t>(i * lookback + step);
      if (!observed.empty() && !observed[at]) continue;
      last = past[at];
      break;
    }
    std::fill_n(out + i * horizon, horizon, last);
  }
  return result;
}

}  // namespace

Backtest backtest(const ForecastRun& run, const ForecastData& data, int64_t stride) {
  const data::WindowShape shape = run.config.window();
  Backtest result{stride > 0 ? stride : shape.horizon, shape.lookback, shape.horizon, {}, {}, {}, 0, {}};
  const data::WindowSet origins("test", data.splits.test, shape, true, result.stride);
  const CalibratedForecaster forecaster = run.forecaster();
  const std::vector<double> levels = forecaster.levels();
  ForecastErrors all = make_errors(run.config, data.scaler, levels);
  ForecastErrors all_repeat = make_errors(run.config, data.scaler, {});
  // One origin at a time: its row of the table needs sums of its own.
  stream_forecasts(*run.model, data, origins, 1, [&](const ForecastBlock& block) {
    ForecastErrors one = make_errors(run.config, data.scaler, levels);
    ForecastErrors one_repeat = make_errors(run.config, data.scaler, {});
    const std::vector<float> quantiles = forecaster.quantiles(block);
    require_finite(block, quantiles, data.series);
    const at::Tensor repeat = repeat_forecast(block);
    for (ForecastErrors* errors : {&one, &all})
      errors->add(floats(block.forecast), floats(block.future), flags(block.future_observed), quantiles);
    for (ForecastErrors* errors : {&one_repeat, &all_repeat})
      errors->add(floats(repeat), floats(block.future), flags(block.future_observed));
    const int64_t row = origins.first_row(block.first_window) + shape.lookback;
    result.origins.push_back(
        {row, data.series.time.text_at(row), one.total(), one_repeat.total().mae, one.quantiles().intervals});
  });
  result.scaled = all.total();
  result.units = all.total(ForecastErrors::Scale::units);
  result.repeat_mae = all_repeat.total().mae;
  result.intervals = all.quantiles().intervals;
  return result;
}

nlohmann::ordered_json to_json(const Backtest& backtest) {
  const auto coverages = [](const std::vector<QuantileErrors::Interval>& intervals) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const auto& interval : intervals)
      json.push_back(
          {{"nominal", interval.nominal}, {"coverage", interval.coverage}, {"width", interval.width}});
    return json;
  };
  nlohmann::ordered_json origins = nlohmann::ordered_json::array();
  for (const BacktestOrigin& origin : backtest.origins)
    origins.push_back({{"row", origin.row},
                       {"time", origin.time},
                       {"scaled", to_json(origin.scaled)},
                       {"repeat_mae", origin.repeat_mae},
                       {"intervals", coverages(origin.intervals)}});
  return {{"stride", backtest.stride},
          {"lookback", backtest.lookback},
          {"horizon", backtest.horizon},
          {"scaled", to_json(backtest.scaled)},
          {"units", to_json(backtest.units)},
          {"repeat_mae", backtest.repeat_mae},
          {"intervals", coverages(backtest.intervals)},
          {"origins", origins}};
}

}  // namespace modewise::tasks
