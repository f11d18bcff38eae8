#include "modewise/tasks/forecast/stream.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/core/stop_signal.h"
#include "modewise/nn/evaluation_mode.h"
#include "modewise/train/task.h"

namespace modewise::tasks {
namespace {

/// [B, N_1…N_j, X…] -> [B, S, X…], contiguous, with `tail` axes X.
at::Tensor flatten_modes(const at::Tensor& x, int64_t tail) {
  if (!x.defined()) return x;
  return x.flatten(1, x.dim() - 1 - tail).contiguous();
}

/// Of the values that a window looks back on, one that is so large that float32 may overflow on the way
/// through a model; "" when all are moderate.
std::string overflow_text(const ForecastBlock& block, int64_t window, const data::Series& series) {
  constexpr float kModerate = 1e6F;  // deviations; their squares and sums are far from the limit
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
      "{}: {} is {:.3g} deviations from the mean, more than the model can compute with: if it "
      "stands for a missing value, name it in data.missing_values",
      series.where(row, index), series.values.const_data_ptr<double>()[row * count + index], *largest);
}

/// The first element of `values` [B, S, H, …] that is not finite.
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
       "{}: {} of '{}' for {} is {}, which is no finite number; {}", series.source, what,
       series.series_name(cell / horizon % count),
       series.time.dated ? series.time.text_at(row) : fmt::format("row {}", row + 1), *found,
       cause.empty() ? "no value that it looks back on is large, so the model's weights are: training with a "
                       "smaller learning rate or clip_norm may help"
                     : cause);
}

}  // namespace

void require_finite(const ForecastBlock& block, std::span<const float> quantiles,
                    const data::Series& series) {
  require_finite_values(floats(block.forecast), "the forecast", block, series);
  require_finite_values(quantiles, "a quantile", block, series);
}

ForecastBlock forecast_batch(models::Forecaster& model, const data::WindowBatch& batch, int64_t row_offset) {
  const at::NoGradGuard no_grad;
  const models::ForecastInput input{batch.past, batch.past_observed, batch.first_step.add(row_offset)};
  const at::Tensor output = model.forward(input);
  ForecastBlock block;
  block.past = flatten_modes(batch.past, 1);
  block.future = flatten_modes(batch.future, 1);
  block.past_observed = flatten_modes(batch.past_observed, 1);
  block.future_observed = flatten_modes(batch.future_observed, 1);
  block.first_step = batch.first_step;
  if (model.shape().quantiles > 0) {
    block.quantiles = flatten_modes(output.to(at::kFloat), 2);
    block.forecast = block.quantiles.select(-1, model.shape().quantiles / 2).contiguous();
  } else {
    block.forecast = flatten_modes(output.to(at::kFloat), 1);
  }
  return block;
}

void stream_forecasts(models::Forecaster& model, const ForecastData& data, const data::WindowSet& set,
                      int64_t batch, const BlockVisitor& visit, int64_t stride) {
  const nn::EvaluationMode evaluation(model);
  const int64_t count = (set.size() + stride - 1) / stride;
  std::vector<int64_t> windows;
  for (int64_t first = 0; first < count; first += batch) {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    windows.clear();
    for (int64_t window = first; window < std::min(first + batch, count); ++window)
      windows.push_back(window * stride);
    ForecastBlock block = forecast_batch(model, data.source.gather(set, windows), data.row_offset);
    block.first_window = first;
    require_finite(block, block.quantiles.defined() ? floats(block.quantiles) : std::span<const float>{},
                   data.series);
    visit(block);
  }
}

std::span<const float> floats(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<float>(), static_cast<size_t>(tensor.numel())};
}

std::span<const bool> flags(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  return {tensor.const_data_ptr<bool>(), static_cast<size_t>(tensor.numel())};
}

std::vector<float> lookback_deviations(const ForecastBlock& block) {
  const std::span<const float> past = floats(block.past);
  const std::span<const bool> observed = flags(block.past_observed);
  const auto lookback = static_cast<size_t>(block.past.size(-1));
  std::vector<float> result(past.size() / lookback);
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<float>(
        window_deviation(past.subspan(i * lookback, lookback),
                         observed.empty() ? observed : observed.subspan(i * lookback, lookback)));
  return result;
}

}  // namespace modewise::tasks
