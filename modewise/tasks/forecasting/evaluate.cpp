#include "modewise/tasks/forecasting/evaluate.h"

#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/progress.h"
#include "modewise/core/stop_signal.h"
#include "modewise/data/forecasting/tensor_cells.h"
#include "modewise/nn/layers/evaluation_mode.h"
#include "modewise/tasks/forecasting/choose_defaults.h"
#include "modewise/tasks/forecasting/task.h"
#include "modewise/tasks/run/model_output.h"
#include "modewise/train/distributed/distribute.h"
#include "modewise/train/loop/task.h"

namespace modewise::tasks {
namespace {

using Scale = metrics::ForecastErrors::Scale;

/// [B, N_1…N_j, X…] -> [B, S, X…], contiguous, with `tail` axes X.
at::Tensor flatten_modes(const at::Tensor& x, int64_t tail) {
  if (!x.defined()) return x;
  return x.flatten(1, x.dim() - 1 - tail).contiguous();
}

/// A sentence about a lookback value of a window that is so large that float32 may overflow in a model; "":
/// none.
std::string overflow_text(const ForecastBlock& block, int64_t window, const data::Series& series) {
  constexpr float kModerate = 1e6F;  // standard deviations; squares and sums do not overflow
  const int64_t count = block.past.size(1), lookback = block.past.size(2);
  const std::span<const float> past =
      floats(block.past)
          .subspan(static_cast<size_t>(window * count * lookback), static_cast<size_t>(count * lookback));
  const auto largest =
      std::max_element(past.begin(), past.end(), [](float a, float b) { return std::abs(a) < std::abs(b); });
  if (!(std::abs(*largest) > kModerate)) return "";
  const int64_t at = largest - past.begin(), index = at / lookback;
  const int64_t row = block.first_step.const_data_ptr<int64_t>()[window] + at % lookback;
  return fmt::format(
      "{}: {} is {:.3g} standard deviations from the mean, more than the model can compute with: if it "
      "stands for a missing value, name it in data.missing_values",
      series.where(row, index), data::TensorCells(series.values)[row * count + index], *largest);
}

/// Throws for the first element of `values` [B, S, H, …] that is not finite.
void require_finite_values(std::span<const float> values, const char* what, const ForecastBlock& block,
                           const data::Series& series) {
  const auto found = std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  if (found == values.end()) return;
  const int64_t count = block.past.size(1), lookback = block.past.size(2), horizon = block.future.size(2);
  const int64_t tail = std::ssize(values) / (block.windows() * count * horizon);
  const int64_t cell = (found - values.begin()) / tail, window = cell / (count * horizon);
  const int64_t row = block.first_step.const_data_ptr<int64_t>()[window] + lookback + cell % horizon;
  const std::string cause = overflow_text(block, window, series);
  fail(cause.empty() ? ErrorKind::general : ErrorKind::data,
       "{}: {} of '{}' for {} is {}, which is not finite; {}", series.source, what,
       series.series_name(cell / horizon % count),
       series.time.dated ? series.time.text_at(row) : fmt::format("row {}", row + 1), *found,
       cause.empty() ? "no value of its lookback is large, so the model's weights are: training with a "
                       "smaller learning rate or clip_norm may help"
                     : cause);
}

/// `output` is the model output for the batch.
ForecastBlock block_of(const models::Forecaster& model, const data::WindowBatch& batch,
                       const at::Tensor& output) {
  ForecastBlock block;
  block.past = flatten_modes(batch.past, 1);
  block.future = flatten_modes(batch.future, 1);
  block.past_observed = flatten_modes(batch.past_observed, 1);
  block.future_observed = flatten_modes(batch.future_observed, 1);
  block.first_step = batch.first_step;
  if (model.shape().quantiles > 0) {
    block.quantiles = flatten_modes(output, 2);
    block.forecast = block.quantiles.select(-1, model.shape().quantiles / 2).contiguous();
  } else {
    block.forecast = flatten_modes(output, 1);
  }
  return block;
}

constexpr int64_t kMaxScores = int64_t{16} << 20;  // per side, 4 bytes each

/// Rows [B] of the first targets, counted from the first training row.
std::vector<int64_t> first_targets(const ForecastBlock& block) {
  std::vector<int64_t> rows;
  for (int64_t window = 0; window < block.windows(); ++window)
    rows.push_back(block.first_step.const_data_ptr<int64_t>()[window] + block.row_offset +
                   block.past.size(-1));
  return rows;
}

}  // namespace

void require_finite(const ForecastBlock& block, std::span<const float> quantiles,
                    const data::Series& series) {
  require_finite_values(floats(block.forecast), "the forecast", block, series);
  require_finite_values(quantiles, "a quantile", block, series);
}

at::Tensor forecast_output(models::Forecaster& model, const data::WindowBatch& batch, int64_t row_offset) {
  const at::NoGradGuard no_grad;
  return output_of(model, model_input(batch, row_offset)).to(at::kFloat);
}

ForecastBlock forecast_batch(models::Forecaster& model, const data::WindowBatch& batch, int64_t row_offset) {
  ForecastBlock block = block_of(model, batch, forecast_output(model, batch, row_offset));
  block.row_offset = row_offset;
  return block;
}

void stream_forecasts(models::Forecaster& model, const ForecastData& data, const data::WindowSet& set,
                      int64_t batch, const BlockVisitor& visit, int64_t stride, train::Workers& workers) {
  const nn::EvaluationMode evaluation(model);
  const int64_t count = (set.size() + stride - 1) / stride;
  struct {
    int64_t number = -1;
    data::WindowBatch windows;
  } gathered;  // local blocks are not gathered again
  const auto gather = [&](int64_t number) -> const data::WindowBatch& {
    if (gathered.number == number) return gathered.windows;
    std::vector<int64_t> windows;
    for (int64_t window = number * batch; window < std::min((number + 1) * batch, count); ++window)
      windows.push_back(window * stride);
    gathered = {number, data.source.gather(set, windows)};
    return gathered.windows;
  };
  const auto make = [&](int64_t number) -> train::Tensors {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    return {forecast_output(model, gather(number), data.row_offset)};
  };
  const auto take = [&](int64_t number, const train::Tensors& output) {
    ForecastBlock block = block_of(model, gather(number), output.front());
    block.first_window = number * batch;
    block.row_offset = data.row_offset;
    require_finite(block, block.quantiles.defined() ? floats(block.quantiles) : std::span<const float>{},
                   data.series);
    visit(block);
  };
  train::distribute(workers, (count + batch - 1) / batch, make, take);
}

std::span<const float> floats(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<float>(), static_cast<size_t>(tensor.numel())};
}

std::span<const bool> flags(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  return {tensor.const_data_ptr<bool>(), static_cast<size_t>(tensor.numel())};
}

std::vector<float> lookback_stddevs(const ForecastBlock& block) {
  const std::span<const float> past = floats(block.past);
  const std::span<const bool> observed = flags(block.past_observed);
  const auto lookback = static_cast<size_t>(block.past.size(-1));
  std::vector<float> result(past.size() / lookback);
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<float>(
        metrics::window_stddev(past.subspan(i * lookback, lookback),
                               observed.empty() ? observed : observed.subspan(i * lookback, lookback)));
  return result;
}

std::vector<double> CalibratedForecaster::levels() const {
  if (calibration) return calibration->levels();
  return config->forecast.probabilistic() ? config->forecast.quantiles : std::vector<double>{};
}

std::vector<float> CalibratedForecaster::quantiles(const ForecastBlock& block) const {
  const std::span<const float> raw =
      block.quantiles.defined() ? floats(block.quantiles) : std::span<const float>{};
  if (!calibration) return {raw.begin(), raw.end()};
  return metrics::calibrated_quantiles(
      *calibration, floats(block.forecast), raw, lookback_stddevs(block), first_targets(block),
      block.widening.defined() ? floats(block.widening) : std::span<const float>{});
}

std::optional<metrics::Calibration> calibrate_forecaster(const std::vector<ValidationSplit>& splits,
                                                         const ForecastConfig& config) {
  const ValidationSplit& own = splits.back();
  const int64_t named = config.calibration.season;
  std::vector<int64_t> windows;
  for (const ValidationSplit& split : splits) windows.push_back(split.data->windows.validation.size());
  std::optional<metrics::Calibration> result = calibrate_blocks(
      own.model->shape(), config, windows, named > 0 ? named : season_of(own.data->series.time),
      [&](const BlockVisitor& visit, int64_t stride) {
        int64_t first = 0;
        for (const auto& [model, data] : splits) {
          // The scaled unit of this split in that of the run.
          const at::Tensor unit =
              (data->scaler.stddev / own.data->scaler.stddev).flatten().to(at::kFloat).unsqueeze(-1);
          const data::WindowSet& validation = data->windows.validation;
          const bool own_data = data == own.data;
          stream_forecasts(
              *model, *data, validation, config.forecast.evaluation_batch,
              [&](const ForecastBlock& block) {
                if (own_data && first == 0) return visit(block);
                ForecastBlock there = block;
                there.first_window += first;
                there.past = block.past * unit;
                there.future = block.future * unit;
                there.forecast = block.forecast * unit;
                if (block.quantiles.defined()) there.quantiles = block.quantiles * unit.unsqueeze(-1);
                visit(there);
              },
              stride);
          first += (validation.size() + stride - 1) / stride;
        }
      });
  if (result && named > 1 && result->season == 1)
    spdlog::warn(
        "calibration.season = {}: the validation targets are fewer than three seasons, so the "
        "margins of the intervals do not follow it",
        named);
  return result;
}

std::optional<metrics::Calibration> calibrate_blocks(
    const models::ForecastShape& shape, const ForecastConfig& config, const std::vector<int64_t>& windows,
    int64_t season, const std::function<void(const BlockVisitor& visit, int64_t stride)>& stream) {
  if (config.calibration.method == "none") return std::nullopt;
  metrics::CalibrationSample sample;
  sample.series = shape.series_count();
  sample.horizon = shape.horizon;
  sample.shared_forecast = !config.forecast.probabilistic();
  const std::vector<double>& levels = config.forecast.quantiles;
  if (sample.shared_forecast)
    sample.nominal = config.calibration.intervals;
  else
    for (size_t i = levels.size() / 2 + 1; i < levels.size(); ++i)
      sample.nominal.push_back(levels[i] - levels[levels.size() - 1 - i]);
  const int64_t cells = sample.series * sample.horizon;
  const int64_t blocks = sample.shared_forecast ? 1 : std::ssize(sample.nominal);
  const int64_t max_windows = std::max<int64_t>(kMaxScores / (cells * blocks), 1);
  const int64_t all = std::accumulate(windows.begin(), windows.end(), int64_t{0});
  const int64_t stride = (all + max_windows - 1) / max_windows;
  for (const int64_t count : windows) sample.windows += (count + stride - 1) / stride;
  sample.below.resize(static_cast<size_t>(blocks * sample.windows * cells));
  sample.above.resize(sample.below.size());
  sample.stddev.resize(static_cast<size_t>(sample.windows * sample.series));
  sample.season = season;
  sample.first_target.resize(static_cast<size_t>(sample.windows));
  const size_t middle = levels.size() / 2, count = levels.size();
  stream(
      [&](const ForecastBlock& block) {
        const std::vector<float> stddev = lookback_stddevs(block);
        const std::vector<int64_t> targets = first_targets(block);
        std::copy(targets.begin(), targets.end(), sample.first_target.begin() + block.first_window);
        const std::span<const float> units =
            block.widening.defined() ? floats(block.widening) : std::span<const float>{};
        const std::span<const float> truth = floats(block.future);
        const std::span<const bool> observed = flags(block.future_observed),
                                    past = flags(block.past_observed);
        const auto lookback = static_cast<size_t>(shape.lookback);
        const std::span<const float> values =
            sample.shared_forecast ? floats(block.forecast) : floats(block.quantiles);
        size_t i = 0;
        for (int64_t window = block.first_window; window < block.first_window + block.windows(); ++window)
          for (int64_t s = 0; s < sample.series; ++s) {
            const float unit = units.empty() ? 1.0F : units[static_cast<size_t>(window - block.first_window)];
            const auto row = static_cast<size_t>((window - block.first_window) * sample.series + s);
            sample.stddev[static_cast<size_t>(s * sample.windows + window)] = stddev[row];
            const bool seen =
                past.empty() || std::ranges::count(past.subspan(row * lookback, lookback), true) > 0;
            for (int64_t step = 0; step < sample.horizon; ++step, ++i)
              for (int64_t interval = 0; interval < blocks; ++interval) {
                const size_t at = sample.at(interval, s, step, window);
                const bool known = seen && (observed.empty() || observed[i]);
                const auto wider = static_cast<size_t>(interval) + 1;
                const float lower = sample.shared_forecast ? values[i] : values[i * count + middle - wider];
                const float upper = sample.shared_forecast ? values[i] : values[i * count + middle + wider];
                sample.below[at] =
                    known ? (lower - truth[i]) / unit : std::numeric_limits<float>::quiet_NaN();
                sample.above[at] =
                    known ? (truth[i] - upper) / unit : std::numeric_limits<float>::quiet_NaN();
              }
          }
      },
      stride);
  metrics::Calibration result = metrics::calibrate(sample, config.calibration);
  if (const std::string text = few_scores_text(to_json(result)); !text.empty()) spdlog::warn("{}", text);
  return result;
}

std::string few_scores_text(const nlohmann::ordered_json& calibration) {
  if (!calibration.contains("few_scores")) return "";
  const nlohmann::ordered_json& few = calibration.at("few_scores");
  const auto largest = few.at("largest_nominal").get<double>();
  std::vector<std::string> levels;
  for (const double nominal : calibration.at("nominal").get<std::vector<double>>())
    if (nominal > largest) levels.push_back(fmt::format("{:.4g} %", 100 * nominal));
  return fmt::format(
      "A margin of the prediction intervals is made from {} of the validation windows, which {} at most "
      "{:.4g} "
      "%: at {} it is the largest score, whose coverage is lower. More validation rows support higher levels",
      counted(few.at("scores").get<int64_t>(), "score"), few.at("scores") == 1 ? "supports" : "support",
      100 * largest, fmt::join(levels, " and "));
}

metrics::ForecastErrors evaluate_forecaster(const CalibratedForecaster& forecaster, const ForecastData& data,
                                            const data::WindowSet& set, const QuantileVisitor& visit,
                                            train::Workers& workers) {
  metrics::ForecastErrors errors = make_errors(*forecaster.config, data.scaler, forecaster.levels());
  Progress progress("evaluating", set.size(), "windows");
  const auto evaluate = [&](const ForecastBlock& block) {
    const std::vector<float> quantiles = forecaster.quantiles(block);
    require_finite(block, quantiles, data.series);
    errors.add(floats(block.forecast), floats(block.future), flags(block.future_observed), quantiles);
    if (visit) visit(block, quantiles);
    progress.update(block.first_window + block.windows());
  };
  stream_forecasts(*forecaster.model, data, set, forecaster.config->forecast.evaluation_batch, evaluate, 1,
                   workers);
  progress.finish();
  return errors;
}

nlohmann::ordered_json evaluation_json(const std::string& split, const metrics::ForecastErrors& errors,
                                       const ForecastOptions& options, const data::Series& series) {
  nlohmann::ordered_json result = {{"split", split},
                                   {"windows", errors.windows()},
                                   {"lookback", options.lookback},
                                   {"horizon", options.longest()},
                                   {"scaled", to_json(errors.total())},
                                   {"units", to_json(errors.total(Scale::units))}};
  if (errors.has_quantiles()) {
    result["quantiles"] = to_json(errors.quantiles());
    result["quantiles_units"] = to_json(errors.quantiles(Scale::units));
  }
  nlohmann::ordered_json horizons = nlohmann::ordered_json::object();
  for (const int64_t steps : options.reported()) {
    horizons[std::to_string(steps)] = to_json(errors.total(Scale::standard, steps));
    if (errors.has_quantiles())
      horizons[std::to_string(steps)]["quantiles"] = to_json(errors.quantiles(Scale::standard, steps));
  }
  result["horizons"] = horizons;
  const std::vector<metrics::QuantileErrors::Interval> intervals =
      errors.has_quantiles() ? errors.quantiles().intervals
                             : std::vector<metrics::QuantileErrors::Interval>{};
  nlohmann::ordered_json by_step = nlohmann::ordered_json::array();
  for (int64_t step = 0; step < errors.horizon(); ++step) {
    nlohmann::ordered_json row = to_json(errors.of_step(step));
    row["step"] = step + 1;
    for (const metrics::QuantileErrors::Interval& interval : intervals)
      if (const auto coverage = errors.coverage_of_step(step, interval.nominal);
          coverage && std::isfinite(*coverage))
        row[fmt::format("coverage_{:g}", std::round(interval.nominal * 1e6) / 1e4)] = *coverage;
    by_step.push_back(std::move(row));
  }
  result["by_step"] = by_step;
  nlohmann::ordered_json by_series = nlohmann::ordered_json::array();
  for (int64_t s = 0; s < errors.series(); ++s) {
    const metrics::PointErrors units = errors.of_series(s, Scale::units);
    require(units.count == 0 || std::isfinite(units.mse), ErrorKind::data,
            "{}: the squared errors of '{}' in its units overflow 64-bit floats", series.source,
            series.series_name(s));
    by_series.push_back({{"name", series.series_name(s)},
                         {"scaled", to_json(errors.of_series(s))},
                         {"units", to_json(units)}});
  }
  result["by_series"] = by_series;
  return result;
}

}  // namespace modewise::tasks
