#include "modewise/tasks/forecasting/panel_forecast.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/progress.h"
#include "modewise/core/stop_signal.h"
#include "modewise/io/arrays/name_lines.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/models/forecasting/unscaled.h"
#include "modewise/nn/layers/evaluation_mode.h"
#include "modewise/tasks/forecasting/choose_defaults.h"
#include "modewise/tasks/forecasting/forecast_csv.h"
#include "modewise/tasks/forecasting/predict.h"
#include "modewise/train/distributed/distribute.h"
#include "modewise/train/loop/task.h"

namespace modewise::tasks {
namespace {

/// Scaled history [V, rows] of a series up to `rows`, and its mask.
std::pair<at::Tensor, at::Tensor> history_of(const PanelForecaster& by, int64_t series, int64_t rows) {
  const data::Panel& panel = *by.panel;
  const int64_t width = panel.variables(), begin = panel.offsets[static_cast<size_t>(series)];
  const at::Tensor values = at::empty({width, rows}, at::kFloat);
  at::Tensor observed = at::empty({width, rows}, at::kBool);
  bool complete = true;
  for (int64_t v = 0; v < width; ++v)
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t cell = (begin + row) * width + v;
      const bool seen = !panel.observed.defined() || panel.observed.const_data_ptr<bool>()[cell];
      const auto at = static_cast<size_t>(series * width + v);
      values.mutable_data_ptr<float>()[v * rows + row] =
          seen ? static_cast<float>((panel.values.const_data_ptr<double>()[cell] - by.scaler.mean[at]) /
                                    by.scaler.stddev[at])
               : 0;
      observed.mutable_data_ptr<bool>()[v * rows + row] = seen;
      complete = complete && seen;
    }
  return {values, complete ? at::Tensor() : observed};
}

/// Output [V, H] or [V, H, Q] of a local model that is made for the history of one series.
at::Tensor local_output(const PanelForecaster& by, const PanelModel& of, const data::PanelWindow& window) {
  const auto [values, observed] = history_of(by, window.series, window.origin);
  models::ForecastShape shape = of.model->shape();
  shape.lookback = window.origin;
  shape.missing = observed.defined();
  models::ForecasterConfig config = of.config->model;
  if (row_of(models::forecasters(), config.name).has_option("period") && config.season() > window.origin)
    config.period = 1;
  const auto model = models::make_reshaped(config, shape, static_cast<uint64_t>(of.config->train.seed));
  model->eval();
  const int64_t width = by.panel->variables();
  const auto scale = [&](const std::vector<double>& all) {
    const at::Tensor tensor = at::empty({width}, at::kDouble);
    std::copy_n(all.begin() + window.series * width, width, tensor.mutable_data_ptr<double>());
    return tensor;
  };
  try {
    model->fit(
        {values, observed, scale(by.scaler.mean), scale(by.scaler.stddev), 0, window.origin, {}, {}, {}});
  } catch (const Error& error) {
    fail(error.kind(), "{}: series '{}': {}", by.panel->source, by.panel->name(window.series), error.what());
  }
  models::ForecastInput input{values.unsqueeze(0), observed.defined() ? observed.unsqueeze(0) : observed,
                              at::full({1}, by.panel->starts[static_cast<size_t>(window.series)], at::kLong)};
  return model->forward(input).squeeze(0).to(at::kFloat).contiguous();
}

/// Outputs [B, V, H] or [B, V, H, Q] of a local model, with those that are kept.
at::Tensor local_outputs(const PanelForecaster& by, const PanelModel& of,
                         std::span<const data::PanelWindow> windows) {
  const models::ForecastShape& shape = of.model->shape();
  std::vector<int64_t> sizes = {std::ssize(windows), by.panel->variables(), shape.horizon};
  if (shape.quantiles > 0) sizes.push_back(shape.quantiles);
  const at::Tensor outputs = at::empty(sizes, at::kFloat);
  const std::span<float> values(outputs.mutable_data_ptr<float>(), static_cast<size_t>(outputs.numel()));
  const size_t each = values.size() / windows.size();
  const auto output_at = [&](size_t i) { return values.subspan(i * each, each); };
  std::vector<size_t> open;
  for (size_t i = 0; i < windows.size(); ++i)
    if (!by.kept || !by.kept->copy(of.model, windows[i], output_at(i))) open.push_back(i);
  at::parallel_for(0, std::ssize(open), 1, [&](int64_t begin, int64_t end) {
    const at::NoGradGuard no_grad;  // of this thread
    for (int64_t i = begin; i < end; ++i) {
      const size_t at = open[static_cast<size_t>(i)];
      const at::Tensor output = local_output(by, of, windows[at]);
      std::copy_n(output.const_data_ptr<float>(), each, output_at(at).begin());
    }
  });
  if (by.kept)
    for (const size_t i : open) by.kept->keep(of.model, windows[i], output_at(i));
  return outputs;
}

at::Tensor member_output(const PanelForecaster& by, const PanelModel& of,
                         std::span<const data::PanelWindow> windows) {
  if (of.model->local()) return local_outputs(by, of, windows);
  return forecast_output(*of.model,
                         data::gather_panel(*by.panel, by.scaler, of.config->window(), windows, by.ends), 0);
}

at::Tensor output_of(const PanelForecaster& by, std::span<const data::PanelWindow> windows) {
  const at::NoGradGuard no_grad;
  if (by.members.empty()) return member_output(by, {by.model, by.config}, windows);
  at::Tensor out;
  for (const PanelModel& member : by.members) {
    if (member.weight == 0) continue;
    const at::Tensor part = member_output(by, member, windows) * member.weight;
    out = out.defined() ? out + part : part;
  }
  return out;
}

ForecastBlock block_of(const PanelForecaster& by, std::span<const data::PanelWindow> windows,
                       const data::WindowBatch& batch, const at::Tensor& output) {
  ForecastBlock block;
  block.past = batch.past;
  block.future = batch.future;
  block.past_observed = batch.past_observed;
  block.future_observed = batch.future_observed;
  block.first_step = batch.first_step;
  block.widening = at::empty({std::ssize(windows)}, at::kFloat);
  for (size_t i = 0; i < windows.size(); ++i)
    block.widening.mutable_data_ptr<float>()[i] = static_cast<float>(interval_widening(windows[i].origin));
  if (const int64_t quantiles = by.model->shape().quantiles; quantiles > 0) {
    block.quantiles = output.contiguous();
    block.forecast = block.quantiles.select(-1, quantiles / 2).contiguous();
  } else {
    block.forecast = output.contiguous();
  }
  const std::span<const float> values = floats(block.forecast);
  for (size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i])) {
      const auto& window = windows[i / (values.size() / windows.size())];
      fail(ErrorKind::data, "{}: the forecast of '{}' after row {} is not finite", by.panel->source,
           by.panel->name(window.series), window.origin);
    }
  return block;
}

/// Series and origin, each below 2³², in one word.
uint64_t word_of(const data::PanelWindow& window) {
  return static_cast<uint64_t>(window.series) << 32U | static_cast<uint64_t>(window.origin);
}

int64_t median(std::vector<int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The first `steps` steps of the forecasts of a block of `windows`, in units.
PanelForecast in_units(const PanelForecaster& by, std::span<const data::PanelWindow> windows,
                       const ForecastBlock& block, std::span<const float> quantiles,
                       const std::vector<double>& levels, int64_t steps) {
  PanelForecast part;
  part.first = block.first_window;
  part.series = std::ssize(windows);
  part.steps = steps;
  part.variables = by.panel->variables();
  part.levels = levels;
  const std::span<const float> values = floats(block.forecast);
  const int64_t horizon = by.config->window().horizon, width = part.variables, count = std::ssize(levels);
  for (int64_t i = 0; i < part.series; ++i)
    for (int64_t v = 0; v < width; ++v) {
      const int64_t series = windows[static_cast<size_t>(i)].series;
      part.units.push_back(by.scaler.stddev[static_cast<size_t>(series * width + v)]);
      for (int64_t step = 0; step < steps; ++step) {
        const int64_t at = (i * width + v) * horizon + step;
        part.values.push_back(by.to_units(values[static_cast<size_t>(at)], series, v));
        for (int64_t level = 0; level < count; ++level)
          part.quantiles.push_back(
              by.to_units(quantiles[static_cast<size_t>(at * count + level)], series, v));
      }
    }
  return part;
}

}  // namespace

bool LocalOutputs::copy(const models::Forecaster* model, const data::PanelWindow& window,
                        std::span<float> out) const {
  const auto of_model = of_models_.find(model);
  if (of_model == of_models_.end()) return false;
  const auto place = of_model->second.places.find(word_of(window));
  if (place == of_model->second.places.end()) return false;
  std::copy_n(of_model->second.values.begin() + static_cast<std::ptrdiff_t>(place->second), out.size(),
              out.begin());
  return true;
}

void LocalOutputs::keep(const models::Forecaster* model, const data::PanelWindow& window,
                        std::span<const float> output) {
  Origins& origins = of_models_[model];
  if (!origins.places.try_emplace(word_of(window), origins.values.size()).second) return;
  origins.values.insert(origins.values.end(), output.begin(), output.end());
}

data::PanelSplits splits_of(const ForecastConfig& config, const data::Panel& panel) {
  return data::split_panel(panel, config.forecast.longest(), config.data.split_windows,
                           config.data.test_windows);
}

int64_t choose_panel_window(ForecastConfig& config, const data::Panel& panel) {
  std::vector<int64_t> rows;
  for (int64_t s = 0; s < panel.series(); ++s) rows.push_back(panel.rows(s));
  if (config.forecast.longest() == 0)
    config.forecast.horizon = usual_horizon(panel.clock, std::max<int64_t>(median(rows) / 4, 2));
  const int64_t horizon = config.forecast.longest();
  const data::PanelSplits splits = splits_of(config, panel);
  require(!splits.train.empty(), ErrorKind::data,
          "{}: no series is longer than the horizon of {} rows for test and validation", panel.source,
          horizon);
  rows.clear();
  for (const data::PanelWindow& window : splits.train)
    rows.push_back(splits.train_rows[static_cast<size_t>(window.series)]);
  const int64_t middle = median(rows), usual = std::max<int64_t>(2 * horizon, 3 * season_of(config, panel));
  if (config.forecast.lookback == 0)
    config.forecast.lookback = std::clamp<int64_t>(usual, 4, std::max<int64_t>(middle, 4));
  return middle;
}

int64_t season_of(const ForecastConfig& config, const data::Panel& panel) {
  return config.model.period > 0 ? config.model.period : season_of(panel.clock);
}

double interval_widening(int64_t rows) {
  // Fisher's expansion of t_ν(0.975) / t_∞(0.975) in 1/ν (Abramowitz and Stegun 26.7.5).
  const auto n = static_cast<double>(std::max<int64_t>(rows, 1));
  const double x = 1 / std::max(n - 1, 1.0);
  return std::sqrt(1 + 1 / n) * (1 + x * (1.2104 + x * (1.4402 + x * (1.3041 + x * 0.8117))));
}

models::ForecastShape panel_shape(const ForecastConfig& config, int64_t variables, int64_t features) {
  models::ForecastShape shape;
  shape.series = {variables};
  shape.ordered = {false};
  shape.lookback = config.forecast.lookback;
  shape.horizon = config.forecast.longest();
  shape.quantiles = config.forecast.probabilistic() ? std::ssize(config.forecast.quantiles) : 0;
  shape.missing = true;
  shape.known = features;
  if (config.forecast.probabilistic()) shape.levels = config.forecast.quantiles;
  return shape;
}

ForecastBlock PanelForecaster::forecast(std::span<const data::PanelWindow> windows) const {
  const data::WindowBatch batch = data::gather_panel(*panel, scaler, config->window(), windows, ends);
  return block_of(*this, windows, batch, output_of(*this, windows));
}

void PanelForecaster::stream(std::span<const data::PanelWindow> windows, const BlockVisitor& visit,
                             int64_t stride, train::Workers& workers) const {
  const nn::EvaluationMode evaluation(*model);
  std::vector<data::PanelWindow> chosen;
  for (size_t i = 0; i < windows.size(); i += static_cast<size_t>(stride)) chosen.push_back(windows[i]);
  const auto batch = static_cast<size_t>(config->forecast.evaluation_batch);
  const auto part = [&](int64_t number) {
    const size_t first = static_cast<size_t>(number) * batch;
    return std::span<const data::PanelWindow>(chosen).subspan(first, std::min(batch, chosen.size() - first));
  };
  const auto gather = [&](int64_t number) {
    return data::gather_panel(*panel, scaler, config->window(), part(number), ends);
  };
  const auto make = [&](int64_t number) -> train::Tensors {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    return {output_of(*this, part(number))};
  };
  const auto take = [&](int64_t number, const train::Tensors& output) {
    ForecastBlock block = block_of(*this, part(number), gather(number), output.front());
    block.first_window = number * static_cast<int64_t>(batch);
    visit(block);
  };
  train::distribute(workers, static_cast<int64_t>((chosen.size() + batch - 1) / batch), make, take);
}

double PanelForecaster::to_units(float scaled, int64_t series, int64_t variable) const {
  const auto at = static_cast<size_t>(series * panel->variables() + variable);
  return models::unscaled(scaled, scaler.mean[at], scaler.stddev[at]);
}

metrics::NaiveErrors naive_errors_before(const data::Panel& panel, const data::PanelWindow& window,
                                         int64_t variable, int64_t season) {
  const int64_t width = panel.variables(), begin = panel.offsets[static_cast<size_t>(window.series)];
  std::vector<double> history(static_cast<size_t>(window.origin));
  const auto mask = std::make_unique<bool[]>(history.size());
  for (size_t row = 0; row < history.size(); ++row) {
    const int64_t cell = (begin + static_cast<int64_t>(row)) * width + variable;
    history[row] = panel.values.const_data_ptr<double>()[cell];
    mask[row] = !panel.observed.defined() || panel.observed.const_data_ptr<bool>()[cell];
  }
  return metrics::NaiveErrors::of(history, {mask.get(), history.size()}, season);
}

bool has_mase(const data::Panel& panel, std::span<const data::PanelWindow> windows, int64_t season) {
  return std::ranges::any_of(windows, [&](const data::PanelWindow& window) {
    for (int64_t v = 0; v < panel.variables(); ++v)
      if (naive_errors_before(panel, window, v, season).seasonal > 0) return true;
    return false;
  });
}

metrics::NaiveErrors PanelForecaster::naive_errors(const data::PanelWindow& window, int64_t variable,
                                                   int64_t season) const {
  return naive_errors_before(*panel, window, variable, season);
}

void PanelForecaster::add_errors(metrics::PanelErrors& errors, std::span<const data::PanelWindow> windows,
                                 const ForecastBlock& block, std::span<const float> quantiles, int64_t season,
                                 const std::function<void(int64_t window, double mase)>& visit) const {
  const int64_t width = panel->variables(), horizon = config->window().horizon;
  const auto levels = std::ssize(errors.levels());
  // Targets in the precision of the forecasts, so that exact forecasts have no errors.
  const std::span<const float> forecasts = floats(block.forecast), targets = floats(block.future);
  const std::span<const bool> observed = flags(block.future_observed);
  std::vector<double> forecast(static_cast<size_t>(horizon)), truth(forecast.size()),
      bounds(static_cast<size_t>(horizon * levels));
  for (size_t i = 0; i < windows.size(); ++i) {
    const int64_t series = windows[i].series;
    double mase = 0;
    for (int64_t v = 0; v < width; ++v) {
      const int64_t first = (static_cast<int64_t>(i) * width + v) * horizon;
      for (int64_t step = 0; step < horizon; ++step) {
        const auto at = static_cast<size_t>(step);
        forecast[at] = to_units(forecasts[static_cast<size_t>(first + step)], series, v);
        truth[at] = to_units(targets[static_cast<size_t>(first + step)], series, v);
        for (int64_t level = 0; level < levels; ++level)
          bounds[static_cast<size_t>(step * levels + level)] =
              to_units(quantiles[static_cast<size_t>((first + step) * levels + level)], series, v);
      }
      mase +=
          errors.add({forecast, truth, bounds, observed.subspan(static_cast<size_t>(first), forecast.size()),
                      scaler.stddev[static_cast<size_t>(series * width + v)],
                      naive_errors(windows[i], v, season), season});
    }
    if (visit) visit(block.first_window + static_cast<int64_t>(i), mase / static_cast<double>(width));
  }
}

void predict_panel(const PanelForecaster& forecaster, const CalibratedForecaster& calibrated, int64_t steps,
                   const PanelForecastVisitor& visit) {
  const data::Panel& panel = *forecaster.panel;
  const int64_t horizon = forecaster.config->window().horizon;
  require(steps >= 0 && steps <= horizon, ErrorKind::usage,
          "the run forecasts {} rows, --steps is {}: train one with forecast.horizon={}", horizon, steps,
          steps);
  const int64_t count = steps == 0 ? horizon : steps;
  const std::vector<double> levels = calibrated.levels();
  std::vector<data::PanelWindow> windows;
  for (int64_t s = 0; s < panel.series(); ++s) windows.push_back({s, panel.rows(s)});
  Progress progress("forecasting", panel.series(), "series");
  forecaster.stream(windows, [&](const ForecastBlock& block) {
    const std::vector<float> quantiles = calibrated.quantiles(block);
    const auto of_block = std::span<const data::PanelWindow>(windows).subspan(
        static_cast<size_t>(block.first_window), static_cast<size_t>(block.windows()));
    const PanelForecast part = in_units(forecaster, of_block, block, quantiles, levels, count);
    visit(part);
    progress.update(part.first + part.series);
  });
  progress.finish();
}

PanelForecast predict_panel(const PanelForecaster& forecaster, const CalibratedForecaster& calibrated,
                            int64_t steps) {
  PanelForecast all;
  predict_panel(forecaster, calibrated, steps, [&](const PanelForecast& part) {
    all.series += part.series;
    all.steps = part.steps;
    all.variables = part.variables;
    all.levels = part.levels;
    all.units.insert(all.units.end(), part.units.begin(), part.units.end());
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
    all.quantiles.insert(all.quantiles.end(), part.quantiles.begin(), part.quantiles.end());
  });
  return all;
}

std::string csv_header(const std::vector<double>& levels, const data::Panel& panel,
                       report::CsvReader reader) {
  return cells_text(panel.layout.id, reader) + "," +
         time_names(panel.time_columns, panel.clock.dated, reader) +
         value_names(panel.layout.values, levels, reader) + "\n";
}

namespace {

/// Rows of one series from its row `first` on; `i` counts the series of the forecast.
std::string series_csv(const PanelForecast& forecast, int64_t i, const data::PanelWindow& from,
                       const data::Panel& panel, report::CsvReader reader) {
  std::string text;
  const size_t levels = forecast.levels.size();
  const std::string id = cells_text(panel.layout.series[static_cast<size_t>(from.series)], reader);
  for (int64_t step = 0; step < forecast.steps; ++step) {
    const int64_t row = from.origin + step;
    text +=
        id + "," +
        time_cells(panel.time_columns, panel.time_text(from.series, row), panel.time_at(from.series, row));
    for (int64_t v = 0; v < forecast.variables; ++v) {
      const auto at = static_cast<size_t>((i * forecast.variables + v) * forecast.steps + step);
      const double unit = forecast.units[static_cast<size_t>(i * forecast.variables + v)];
      text += "," + number_text(forecast.values[at], unit);
      for (size_t level = 0; level < levels; ++level)
        text += "," + number_text(forecast.quantiles[at * levels + level], unit);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string windows_csv(const PanelForecaster& by, std::span<const data::PanelWindow> windows,
                        const ForecastBlock& block, std::span<const float> quantiles,
                        const std::vector<double>& levels, report::CsvReader reader) {
  const PanelForecast part = in_units(by, windows, block, quantiles, levels, by.config->window().horizon);
  std::string text;
  for (int64_t i = 0; i < part.series; ++i) {
    const data::PanelWindow& window = windows[static_cast<size_t>(i)];
    const std::string from = report::csv_cell(by.panel->time_text(window.series, window.origin)) + ",";
    text += prefixed_rows(series_csv(part, i, window, *by.panel, reader), from);
  }
  return text;
}

std::string to_csv(const PanelForecast& forecast, const data::Panel& panel, report::CsvReader reader) {
  std::string text;
  for (int64_t i = 0; i < forecast.series; ++i)
    text += series_csv(forecast, i, {forecast.first + i, panel.rows(forecast.first + i)}, panel, reader);
  return text;
}

std::string to_npz(const PanelForecast& forecast, const data::Panel& panel) {
  std::vector<std::string> names;
  std::vector<int64_t> times;
  for (int64_t s = 0; s < panel.series(); ++s) {
    names.push_back(panel.name(s));
    for (int64_t step = 0; step < forecast.steps; ++step)
      times.push_back(panel.time_at(s, panel.rows(s) + step));
  }
  const int64_t series = panel.series(), levels = std::ssize(forecast.levels);
  std::map<std::string, io::Array> arrays = {
      {"times", io::make_array({series, forecast.steps}, std::span<const int64_t>(times))},
      {"forecast", io::make_array({series, forecast.variables, forecast.steps},
                                  std::span<const double>(forecast.values))},
      {"names", io::name_lines(names)}};
  if (levels > 0) {
    arrays["levels"] = io::make_array({levels}, std::span<const double>(forecast.levels));
    arrays["quantiles"] = io::make_array({series, forecast.variables, forecast.steps, levels},
                                         std::span<const double>(forecast.quantiles));
  }
  return io::format_npz(arrays);
}

nlohmann::ordered_json to_json(const PanelForecast& forecast, const data::Panel& panel) {
  nlohmann::ordered_json series = nlohmann::ordered_json::array();
  const size_t levels = forecast.levels.size(), steps = static_cast<size_t>(forecast.steps);
  for (int64_t s = 0; s < panel.series(); ++s) {
    std::vector<std::string> times;
    std::vector<int64_t> seconds;
    for (int64_t step = 0; step < forecast.steps; ++step) {
      const int64_t row = panel.rows(s) + step;
      times.push_back(panel.time_text(s, row));
      if (panel.clock.dated) seconds.push_back(clock_seconds(panel.clock.style, panel.time_at(s, row)));
    }
    for (int64_t v = 0; v < forecast.variables; ++v) {
      const auto first = static_cast<size_t>(s * forecast.variables + v) * steps;
      nlohmann::ordered_json quantiles = nlohmann::ordered_json::object();
      for (size_t level = 0; level < levels; ++level) {
        std::vector<double> values;
        for (size_t step = 0; step < steps; ++step)
          values.push_back(forecast.quantiles[(first + step) * levels + level]);
        quantiles[fmt::format("{:g}", forecast.levels[level])] = values;
      }
      const auto begin = forecast.values.begin() + static_cast<std::ptrdiff_t>(first);
      nlohmann::ordered_json one = {{"name", panel.name(s)},
                                    {"variable", panel.layout.values[static_cast<size_t>(v)]},
                                    {panel.clock.dated ? "dates" : "rows", times}};
      if (panel.clock.dated) one["seconds"] = seconds;
      one["forecast"] = std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(steps));
      one["quantiles"] = quantiles;
      series.push_back(std::move(one));
    }
  }
  return {{"series", series}};
}

}  // namespace modewise::tasks
