#include "modewise/tasks/forecasting/task.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/full.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/nn/layers/device.h"
#include "modewise/tasks/forecasting/evaluate.h"
#include "modewise/tasks/forecasting/figures.h"
#include "modewise/tasks/run/attention_figures.h"
#include "modewise/tasks/run/model_output.h"
#include "modewise/tasks/run/run_figures.h"

namespace modewise::tasks {
namespace {

at::Tensor elementwise_loss(const at::Tensor& forecast, const at::Tensor& future,
                            const ForecastOptions& options) {
  if (options.loss == "quantile") return pinball_loss(forecast, future, options.quantiles);
  if (options.loss == "huber")
    return at::huber_loss(forecast, future, at::Reduction::None, options.huber_delta);
  const at::Tensor error = forecast.sub(future);
  return options.loss == "mse" ? error.mul(error) : error.abs();
}

/// Sum over samples and series, [B, N_1…N_j, H] -> [H]: first over series, then over samples. (A sum to a
/// single element would depend on the number of threads; these have H or B·H results.)
at::Tensor sum_by_step(const at::Tensor& x) {
  return x.reshape({x.size(0), -1, x.size(-1)}).sum(1).sum(0);
}

struct ForecastBatch final : train::Batch {
  data::WindowBatch windows;
};

}  // namespace

at::Tensor pinball_loss(const at::Tensor& quantiles, const at::Tensor& future,
                        const std::vector<double>& levels) {
  require(quantiles.size(-1) == std::ssize(levels), ErrorKind::internal,
          "pinball_loss: {} levels need equally many quantiles, got {}", levels.size(), quantiles.size(-1));
  std::vector<at::Tensor> each;
  for (const double level : levels) each.push_back(at::full({}, level, quantiles.options()));
  const at::Tensor level = at::stack(each);
  const at::Tensor gap = future.unsqueeze(-1).sub(quantiles);
  return at::maximum(gap.mul(level), gap.mul(level.sub(1))).mean(-1);
}

namespace {

/// Mean over the reported horizons of the mean loss of their steps.
at::Tensor mean_loss(const at::Tensor& forecast, const at::Tensor& future, const at::Tensor& observed,
                     const ForecastOptions& options,
                     const std::function<at::Tensor(const at::Tensor& sum, size_t horizon)>& mean) {
  // Missing targets are replaced first: a NaN would reach the gradient even when multiplied by 0.
  const at::Tensor target = observed.defined() ? at::where(observed, future, at::zeros_like(future)) : future;
  at::Tensor loss = elementwise_loss(forecast, target, options);
  if (observed.defined()) loss = at::where(observed, loss, at::zeros_like(loss));
  const at::Tensor sums = sum_by_step(loss);
  at::Tensor total;
  const std::vector<int64_t> horizons = options.reported();
  for (size_t i = 0; i < horizons.size(); ++i) {
    const at::Tensor one = mean(sums.narrow(0, 0, horizons[i]).sum(), i);
    total = total.defined() ? total.add(one) : one;
  }
  return horizons.size() > 1 ? total.div(static_cast<double>(horizons.size())) : total;
}

int64_t cells_of_a_step(const at::Tensor& future) {
  return future.numel() / future.size(-1);
}

}  // namespace

at::Tensor forecast_loss(const at::Tensor& forecast, const at::Tensor& future, const at::Tensor& observed,
                         const ForecastOptions& options) {
  const std::vector<int64_t> horizons = options.reported();
  at::Tensor counts;  // [H]
  if (observed.defined()) counts = sum_by_step(observed.to(forecast.scalar_type()));
  return mean_loss(forecast, future, observed, options, [&](const at::Tensor& sum, size_t i) {
    return counts.defined() ? sum.div(counts.narrow(0, 0, horizons[i]).sum().clamp_min(1))
                            : sum.div(static_cast<double>(cells_of_a_step(future) * horizons[i]));
  });
}

metrics::ForecastErrors make_errors(const ForecastConfig& config, const data::Scaler& scaler,
                                    std::vector<double> levels) {
  const std::vector<double> mean = scaler_means(scaler);
  return {std::ssize(mean), config.forecast.longest(), mean, scaler_stddevs(scaler), std::move(levels)};
}

std::unique_ptr<train::Batch> WindowTask::batch_of(data::WindowBatch windows) {
  auto batch = std::make_unique<ForecastBatch>();
  batch->windows = std::move(windows);
  return batch;
}

std::unique_ptr<train::Batch> ForecastTask::load(std::span<const int64_t> samples) const {
  return batch_of(data_.source.gather(data_.windows.train, samples));
}

at::Tensor WindowTask::loss(const train::Batch& batch, uint64_t seed, uint64_t step) {
  const data::WindowBatch& windows = static_cast<const ForecastBatch&>(batch).windows;
  const auto [forecast, future] = forecast_and_future(windows, seed, step);
  return forecast_loss(forecast, future, nn::placed(windows.future_observed, nn::device_of(model_)),
                       config_.forecast);
}

std::pair<at::Tensor, at::Tensor> WindowTask::forecast_and_future(const data::WindowBatch& windows,
                                                                  uint64_t seed, uint64_t step) {
  const at::Device device = nn::device_of(model_);
  models::set_dropout_step(model_, seed, step);
  at::Tensor forecast = model_.forward(model_input(windows).to(device)),
             future = nn::placed(windows.future, device);
  if (windows.weight.defined()) {
    const at::Tensor weight = nn::placed(windows.weight, device);
    forecast = forecast.mul(config_.forecast.probabilistic() ? weight.unsqueeze(-1) : weight);
    future = future.mul(weight);
  }
  return {forecast, future};
}

std::vector<double> WindowTask::loss_counts(const train::Batch& batch) const {
  const data::WindowBatch& windows = static_cast<const ForecastBatch&>(batch).windows;
  at::Tensor counts;  // [H]
  if (windows.future_observed.defined()) counts = sum_by_step(windows.future_observed.to(at::kDouble));
  std::vector<double> out;
  for (const int64_t steps : config_.forecast.reported())
    out.push_back(counts.defined() ? counts.narrow(0, 0, steps).sum().item<double>()
                                   : static_cast<double>(cells_of_a_step(windows.future) * steps));
  return out;
}

at::Tensor WindowTask::loss_share(const train::Batch& part, uint64_t seed, uint64_t step,
                                  std::span<const double> all) {
  const data::WindowBatch& windows = static_cast<const ForecastBatch&>(part).windows;
  const auto [forecast, future] = forecast_and_future(windows, seed, step);
  return mean_loss(forecast, future, nn::placed(windows.future_observed, nn::device_of(model_)),
                   config_.forecast,
                   [&](const at::Tensor& sum, size_t i) { return sum.div(std::max(all[i], 1.0)); });
}

metrics::ForecastErrors ForecastTask::no_errors() const {
  return make_errors(config_, data_.scaler,
                     config_.forecast.probabilistic() ? config_.forecast.quantiles : std::vector<double>{});
}

at::Tensor ForecastTask::sums(const train::Share& share) {
  metrics::ForecastErrors errors = no_errors();
  const data::WindowSet windows = data_.windows.validation.part(share.first(data_.windows.validation.size()),
                                                                share.last(data_.windows.validation.size()));
  stream_forecasts(
      model_, data_, windows, config_.forecast.evaluation_batch, [&](const ForecastBlock& block) {
        errors.add(floats(block.forecast), floats(block.future), flags(block.future_observed),
                   config_.forecast.probabilistic() ? floats(block.quantiles) : std::span<const float>{});
      });
  return at::tensor(errors.sums());
}

train::Metrics ForecastTask::metrics_of(const at::Tensor& sums) {
  const bool probabilistic = config_.forecast.probabilistic();
  metrics::ForecastErrors errors = no_errors();
  errors.set_sums({sums.const_data_ptr<double>(), static_cast<size_t>(sums.numel())});
  const std::vector<int64_t> horizons = config_.forecast.reported();
  train::Metrics means, single;
  const auto add = [&](const std::string& name, int64_t steps, double value) {
    means.set(name, means.find(name).value_or(0) + value / static_cast<double>(horizons.size()));
    if (horizons.size() > 1) single.set(fmt::format("{}_{}", name, steps), value);
  };
  for (const int64_t steps : horizons) {
    const metrics::PointErrors point = errors.total(metrics::ForecastErrors::Scale::standard, steps);
    add("val_mse", steps, point.mse);
    add("val_mae", steps, point.mae);
    if (!probabilistic) continue;
    const metrics::QuantileErrors quantiles =
        errors.quantiles(metrics::ForecastErrors::Scale::standard, steps);
    add("val_pinball", steps, quantiles.mean_pinball);
    add("val_crps", steps, quantiles.crps);
  }
  for (const auto& [name, value] : single) means.set(name, value);
  if (config_.train.tracks("stable_rank")) track_stable_rank(means);
  return means;
}

void ForecastTask::track_stable_rank(train::Metrics& metrics) {
  const auto add = [&](const data::WindowSet& windows, const std::string& split) {
    const data::WindowBatch batch =
        data_.source.gather(windows, spread_samples(windows.size(), kTrackedSamples));
    ranks_.add(metrics, analysis::layer_ranks(attention_of(model_, model_input(batch))), split);
  };
  add(data_.windows.validation, "");
  add(data_.windows.train, "train_");
}

std::vector<train::Image> ForecastTask::images() {
  std::vector<train::Image> figures = forecast_figures(model_, data_);
  if (!draws_attention(models::forecaster_cost(config_.model, config_.model_shape(data_.series))))
    return figures;
  const data::WindowSet& windows = data_.windows.validation;
  const data::WindowBatch batch = data_.source.gather(windows, std::array{windows.size() / 2});
  for (train::Image& one : attention_figures(attention_of(model_, model_input(batch))))
    figures.push_back(std::move(one));
  return figures;
}

train::Criterion ForecastTask::criterion() const {
  std::string metric = config_.forecast.select;
  if (metric == "auto") {
    const std::string& loss = config_.forecast.loss;
    metric = loss == "quantile" ? "pinball" : loss == "mse" ? "mse" : "mae";
  }
  return {"val_" + metric, true};
}

}  // namespace modewise::tasks
