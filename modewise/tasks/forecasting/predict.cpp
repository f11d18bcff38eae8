#include "modewise/tasks/forecasting/predict.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/data/forecasting/future_covariates.h"
#include "modewise/data/forecasting/tables/table_time.h"
#include "modewise/io/arrays/name_lines.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/io/tables/time_zone.h"
#include "modewise/models/forecasting/unscaled.h"
#include "modewise/tasks/forecasting/empty_lookbacks.h"
#include "modewise/tasks/forecasting/forecast_csv.h"
#include "modewise/tasks/forecasting/naive_errors.h"
#include "modewise/tasks/forecasting/task.h"
#include "modewise/train/checkpoint/tensor_file.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using report::CsvReader;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Appends the forecast of a series at a step and its quantiles, each after a comma.
void append_numbers(std::string& text, const Forecast& forecast, size_t s, size_t step) {
  const size_t at = s * forecast.times.size() + step, levels = forecast.levels.size();
  text += "," + number_text(forecast.values[at], forecast.units[s]);
  for (size_t level = 0; level < levels; ++level)
    text += "," + number_text(forecast.quantiles[at * levels + level], forecast.units[s]);
}

std::string long_csv(const Forecast& forecast, CsvReader reader) {
  const data::LongLayout& layout = *forecast.layout;
  const size_t width = layout.values.size();
  std::string text =
      cells_text(layout.id, reader) + "," + time_names(forecast.time_columns, forecast.dated, reader);
  text += value_names(layout.values, forecast.levels, reader);
  text += "\n";
  const size_t steps = forecast.times.size();
  for (size_t id = 0; id < layout.series.size(); ++id) {
    const auto values = std::span(forecast.values).subspan(id * width * steps, width * steps);
    if (std::all_of(values.begin(), values.end(), [](double x) { return std::isnan(x); })) continue;
    for (size_t step = 0; step < forecast.times.size(); ++step) {
      text += cells_text(layout.series[id], reader) + "," +
              time_cells(forecast.time_columns, forecast.times[step], forecast.seconds[step]);
      for (size_t i = 0; i < width; ++i) append_numbers(text, forecast, id * width + i, step);
      text += "\n";
    }
  }
  return text;
}

void require_lookback(const ForecastRun& run, const data::Series& series, const data::WindowBatch& batch) {
  if (run.summary.missing || !batch.past_observed.defined()) return;
  const int64_t missing = batch.past_observed.logical_not().sum().item<int64_t>();
  require(missing == 0, ErrorKind::data,
          "{}: {} {} missing in its last {}, but the run was trained on data without missing "
          "cells, so its model does not accept them: fill them, or train on data with missing cells",
          series.source, counted(missing, "cell"), is_or_are(missing),
          counted(run.config.forecast.lookback, "row"));
}

/// The run's model, or a copy fitted to all rows of the series if the model refits.
std::shared_ptr<models::Forecaster> model_for_the_end(const ForecastRun& run,
                                                      const data::WindowSource& source) {
  if (!run.model->refits()) return run.model;
  const std::shared_ptr<models::Forecaster> model = models::make_forecaster(
      run.config.model, run.model->shape(), static_cast<uint64_t>(run.config.train.seed));
  train::copy_into(train::module_tensors(*model), train::module_tensors(*run.model));
  model->refit(fitting_rows(source, run.summary.scaler));
  return model;
}

Json intervals_json(const metrics::ForecastErrors& errors) {
  Json json = Json::array();
  for (const auto& interval : errors.quantiles().intervals)
    json.push_back(
        {{"nominal", interval.nominal}, {"coverage", interval.coverage}, {"width", interval.width}});
  return json;
}

/// The first `count` steps of a forecast of one window in units, from row `first` of the series on.
Forecast in_units(const ForecastRun& run, const data::Series& series, int64_t first, size_t count,
                  const ForecastBlock& block, const std::vector<float>& quantiles) {
  const std::span<const float> values = floats(block.forecast);
  const std::vector<double> mean = scaler_means(run.summary.scaler),
                            stddev = scaler_stddevs(run.summary.scaler);

  Forecast result;
  result.dated = series.time.dated;
  result.time_columns = series.time_columns;
  result.layout = series.long_layout;
  result.levels = run.forecaster().levels();
  result.units = stddev;
  const auto horizon = static_cast<size_t>(run.config.window().horizon);
  const size_t levels = result.levels.size();
  for (size_t step = 0; step < count; ++step) {
    const int64_t row = first + static_cast<int64_t>(step);
    result.seconds.push_back(series.time.at(row));
    result.clock.push_back(clock_seconds(series.time.style, series.time.at(row)));
    result.times.push_back(series.time.text_at(row));
  }
  for (size_t s = 0; s < mean.size(); ++s) {
    result.names.push_back(series.series_name(static_cast<int64_t>(s)));
    const std::vector<int64_t>& left_out = run.summary.scaler.left_out;
    if (std::find(left_out.begin(), left_out.end(), static_cast<int64_t>(s)) != left_out.end()) {
      result.values.insert(result.values.end(), count, kNone);
      result.quantiles.insert(result.quantiles.end(), count * levels, kNone);
      continue;
    }
    for (size_t step = 0; step < count; ++step) {
      result.values.push_back(models::unscaled(values[s * horizon + step], mean[s], stddev[s]));
      for (size_t level = 0; level < levels; ++level)
        result.quantiles.push_back(
            models::unscaled(quantiles[(s * horizon + step) * levels + level], mean[s], stddev[s]));
    }
  }
  return result;
}

}  // namespace

int64_t clock_seconds(const io::DateStyle& style, int64_t seconds) {
  return style.local && !style.has_offset ? style.local->to_local(seconds) : seconds;
}

Forecast predict_beyond(const ForecastRun& run, const data::Series& series, int64_t steps) {
  const data::WindowShape shape = run.config.window();
  require(steps >= 0 && steps <= shape.horizon, ErrorKind::usage,
          "the run forecasts {} rows, --steps is {}: train one with forecast.horizon={}", shape.horizon,
          steps, steps);
  if (steps == 0) steps = shape.horizon;
  require(series.rows() >= shape.lookback, ErrorKind::data,
          "{}: {} rows, but the model's lookback is {} rows", series.source, series.rows(), shape.lookback);
  const int64_t first = series.rows() - shape.lookback;
  data::require_future_covariates(
      series, series.rows(), series.rows() + shape.horizon,
      fmt::format("the model needs all {} rows of its horizon: add them after the last row with "
                  "other values, or give --future FILE",
                  shape.horizon));
  const data::WindowSource source = run_source(run.summary, run.config.data, series, first, shape.horizon);
  data::WindowBatch batch = source.gather_rows(shape, std::span(&first, 1));
  require_lookback(run, series, batch);
  warn_of_empty_end(run, series);
  if (!run.summary.missing) batch.past_observed = at::Tensor();
  const std::shared_ptr<models::Forecaster> model = model_for_the_end(run, source);
  const ForecastBlock block = forecast_batch(*model, batch, phase_offset(run, series));
  const CalibratedForecaster forecaster = run.forecaster();
  const std::vector<float> quantiles = forecaster.quantiles(block);
  require_finite(block, quantiles, series);
  return in_units(run, series, series.rows(), static_cast<size_t>(steps), block, quantiles);
}

std::string to_csv(const Forecast& forecast, CsvReader reader) {
  if (forecast.layout) return long_csv(forecast, reader);
  std::string text = time_names(forecast.time_columns, forecast.dated, reader);
  text += value_names(forecast.names, forecast.levels, reader);
  text += "\n";
  for (size_t step = 0; step < forecast.times.size(); ++step) {
    text += time_cells(forecast.time_columns, forecast.times[step], forecast.seconds[step]);
    for (size_t s = 0; s < forecast.names.size(); ++s) append_numbers(text, forecast, s, step);
    text += "\n";
  }
  return text;
}

std::string to_npz(const Forecast& forecast) {
  const auto series = std::ssize(forecast.names), steps = forecast.steps(),
             levels = std::ssize(forecast.levels);
  std::map<std::string, io::Array> arrays = {
      {"times", io::make_array({steps}, std::span<const int64_t>(forecast.seconds))},
      {"forecast", io::make_array({series, steps}, std::span<const double>(forecast.values))},
      {"names", io::name_lines(forecast.names)}};
  if (levels > 0) {
    arrays["levels"] = io::make_array({levels}, std::span<const double>(forecast.levels));
    arrays["quantiles"] =
        io::make_array({series, steps, levels}, std::span<const double>(forecast.quantiles));
  }
  return io::format_npz(arrays);
}

nlohmann::ordered_json to_json(const Forecast& forecast) {
  const size_t steps = forecast.times.size(), levels = forecast.levels.size();
  nlohmann::ordered_json series = nlohmann::ordered_json::array();
  for (size_t s = 0; s < forecast.names.size(); ++s) {
    const auto begin = forecast.values.begin() + static_cast<std::ptrdiff_t>(s * steps);
    nlohmann::ordered_json quantiles = nlohmann::ordered_json::object();
    for (size_t level = 0; level < levels; ++level) {
      std::vector<double> values;
      for (size_t step = 0; step < steps; ++step)
        values.push_back(forecast.quantiles[(s * steps + step) * levels + level]);
      quantiles[fmt::format("{:g}", forecast.levels[level])] = values;
    }
    series.push_back({{"name", forecast.names[s]},
                      {"forecast", std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(steps))},
                      {"quantiles", quantiles}});
  }
  Json json = {{forecast.dated ? "dates" : "rows", forecast.times}};
  if (forecast.dated) json["seconds"] = forecast.clock;
  json["series"] = series;
  return json;
}

Json backtest(const ForecastRun& run, int64_t stride, const std::string& split,
              const std::function<void(const Forecast&)>& visit) {
  const ForecastData& data = run.data;
  const data::WindowShape shape = run.config.window();
  if (stride == 0) stride = shape.horizon;
  const data::SplitRange rows = split == "validation" ? data.splits.validation : data.splits.test;
  const data::WindowSet windows(split, rows, shape, true, stride);
  const CalibratedForecaster forecaster = run.forecaster();
  const std::vector<double> levels = forecaster.levels();
  metrics::ForecastErrors all = make_errors(run.config, data.scaler, levels);
  metrics::ForecastErrors all_repeat = make_errors(run.config, data.scaler, {});
  const NaiveForecast last_value(run.model->shape(), 1);
  Json origins = Json::array();
  const auto evaluate = [&](const ForecastBlock& block) {
    metrics::ForecastErrors one = make_errors(run.config, data.scaler, levels);
    metrics::ForecastErrors one_repeat = make_errors(run.config, data.scaler, {});
    const std::vector<float> quantiles = forecaster.quantiles(block);
    require_finite(block, quantiles, data.series);
    const at::Tensor repeat = last_value(block);
    for (metrics::ForecastErrors* errors : {&one, &all})
      errors->add(floats(block.forecast), floats(block.future), flags(block.future_observed), quantiles);
    for (metrics::ForecastErrors* errors : {&one_repeat, &all_repeat})
      errors->add(floats(repeat), floats(block.future), flags(block.future_observed));
    const int64_t row = windows.first_row(block.first_window) + shape.lookback;
    if (visit) visit(in_units(run, data.series, row, static_cast<size_t>(shape.horizon), block, quantiles));
    Json origin = {{"row", row}, {"time", data.series.time.text_at(row)}};
    if (data.series.time.dated)
      origin["seconds"] = clock_seconds(data.series.time.style, data.series.time.at(row));
    origin["scaled"] = to_json(one.total());
    origin["repeat_mae"] = one_repeat.total().mae;
    origin["intervals"] = intervals_json(one);
    origins.push_back(origin);
  };
  // One origin at a time, because each has its own row of the table.
  stream_forecasts(*run.model, data, windows, 1, evaluate, 1, train::workers());
  if (!train::workers().is_rank_zero()) return {};
  warn_of_empty_lookbacks(data, windows, split);
  return {{"stride", stride},
          {"lookback", shape.lookback},
          {"horizon", shape.horizon},
          {"scaled", to_json(all.total())},
          {"units", to_json(all.total(metrics::ForecastErrors::Scale::units))},
          {"repeat_mae", all_repeat.total().mae},
          {"intervals", intervals_json(all)},
          {"origins", origins}};
}

}  // namespace modewise::tasks
