#include "modewise/tasks/forecast/task.h"

#include <fmt/format.h>

#include "modewise/tasks/forecast/loss.h"
#include "modewise/tasks/forecast/stream.h"
#include "modewise/tasks/rank_tracking.h"
#include "modewise/tasks/run_figures.h"

namespace modewise::tasks {
namespace {

struct ForecastBatch final : train::Batch {
  data::WindowBatch windows;
};

}  // namespace

ForecastErrors make_errors(const ForecastConfig& config, const data::Scaler& scaler,
                           std::vector<double> levels) {
  const std::vector<double> mean = scaler_means(scaler);
  return {std::ssize(mean), config.forecast.longest(), mean, scaler_deviations(scaler), std::move(levels)};
}

ForecastTask::ForecastTask(const ForecastConfig& config, const ForecastData& data)
    : config_(config),
      data_(data),
      model_(models::make_forecaster(config.model, config.model_shape(data.series),
                                     static_cast<uint64_t>(config.train.seed))) {
  if (const int64_t cycle = model_->cycle_to_start(); cycle > 0)
    model_->start_cycle(cycle_profile(data, cycle));
}

std::unique_ptr<train::Batch> ForecastTask::load(std::span<const int64_t> samples) const {
  auto batch = std::make_unique<ForecastBatch>();
  batch->windows = data_.source.gather(data_.windows.train, samples);
  return batch;
}

at::Tensor ForecastTask::loss(const train::Batch& batch, uint64_t seed, uint64_t step) {
  const data::WindowBatch& windows = static_cast<const ForecastBatch&>(batch).windows;
  models::set_dropout_step(*model_, seed, step);
  const at::Tensor forecast = model_->forward({windows.past, windows.past_observed, windows.first_step});
  return forecast_loss(forecast, windows.future, windows.future_observed, config_.forecast);
}

train::Metrics ForecastTask::evaluate() {
  const bool probabilistic = config_.forecast.probabilistic();
  ForecastErrors errors =
      make_errors(config_, data_.scaler, probabilistic ? config_.forecast.quantiles : std::vector<double>{});
  stream_forecasts(*model_, data_, data_.windows.validation, config_.forecast.evaluation_batch,
                   [&](const ForecastBlock& block) {
                     errors.add(floats(block.forecast), floats(block.future), flags(block.future_observed),
                                probabilistic ? floats(block.quantiles) : std::span<const float>{});
                   });
  const std::vector<int64_t> horizons = config_.forecast.reported();
  train::Metrics means, single;
  const auto add = [&](const std::string& name, int64_t steps, double value) {
    means.set(name, means.find(name).value_or(0) + value / static_cast<double>(horizons.size()));
    if (horizons.size() > 1) single.set(fmt::format("{}_{}", name, steps), value);
  };
  for (const int64_t steps : horizons) {
    const PointErrors point = errors.total(ForecastErrors::Scale::standard, steps);
    add("val_mse", steps, point.mse);
    add("val_mae", steps, point.mae);
    if (!probabilistic) continue;
    const QuantileErrors quantiles = errors.quantiles(ForecastErrors::Scale::standard, steps);
    add("val_pinball", steps, quantiles.mean_pinball);
    add("val_crps", steps, quantiles.crps);
  }
  for (const auto& [name, value] : single) means.set(name, value);
  if (config_.train.tracks("stable_rank")) track_stable_rank(means);
  return means;
}

void ForecastTask::track_stable_rank(train::Metrics& metrics) const {
  const std::vector<int64_t> windows = spread_samples(data_.windows.validation.size(), kTrackedSamples);
  const data::WindowBatch batch = data_.source.gather(data_.windows.validation, windows);
  const models::ForecastInput input{batch.past, batch.past_observed, batch.first_step};
  add_stable_ranks(metrics, analysis::layer_ranks(model_->attention(input)));
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
