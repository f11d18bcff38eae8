#pragma once
// Training task of forecasting: training windows, loss, and validation errors. Missing targets are excluded
// from the loss; sums have a fixed order, so that results are bit-exact for any number of threads.

#include <ATen/core/Tensor.h>

#include <memory>
#include <utility>

#include "modewise/metrics/forecast_errors.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/tasks/forecasting/config.h"
#include "modewise/tasks/forecasting/data.h"
#include "modewise/tasks/run/rank_tracking.h"
#include "modewise/train/loop/module_task.h"

namespace modewise::tasks {

/// Mean loss over observed targets: `forecast` [B, N_1…N_j, H] (with quantiles [B, N_1…N_j, H, Q]), `future`
/// [B, N_1…N_j, H], `observed` of that shape (bool) or undefined. With several horizons the mean of the
/// losses of their prefixes. 0 if nothing is observed.
at::Tensor forecast_loss(const at::Tensor& forecast, const at::Tensor& future, const at::Tensor& observed,
                         const ForecastOptions& options);

/// Quantile (pinball) loss, mean over levels: `quantiles` [..., Q], `future` [...] -> [...].
at::Tensor pinball_loss(const at::Tensor& quantiles, const at::Tensor& future,
                        const std::vector<double>& levels);

/// Loss of batches of windows.
class WindowTask : public train::ModuleTask {
 public:
  /// The arguments must outlive the task.
  WindowTask(const ForecastConfig& config, models::Forecaster& model) : config_(config), model_(model) {}

  torch::nn::Module& module() override { return model_; }
  at::Tensor loss(const train::Batch& batch, uint64_t seed, uint64_t step) override;
  std::vector<double> loss_counts(const train::Batch& batch) const override;
  at::Tensor loss_share(const train::Batch& part, uint64_t seed, uint64_t step,
                        std::span<const double> all) override;

 protected:
  static std::unique_ptr<train::Batch> batch_of(data::WindowBatch windows);

  const ForecastConfig& config_;
  models::Forecaster& model_;

 private:
  /// Forecasts and targets of windows, times their weight.
  std::pair<at::Tensor, at::Tensor> forecast_and_future(const data::WindowBatch& windows, uint64_t seed,
                                                        uint64_t step);
};

class ForecastTask final : public WindowTask {
 public:
  /// The arguments must outlive the task.
  ForecastTask(const ForecastConfig& config, const ForecastData& data, models::Forecaster& model)
      : WindowTask(config, model), data_(data) {}

  int64_t training_samples() const override { return data_.windows.train.size(); }
  std::unique_ptr<train::Batch> load(std::span<const int64_t> samples) const override;
  at::Tensor sums(const train::Share& share) override;
  /// val_mse, val_mae, for quantile models val_pinball and val_crps; with several horizons the mean of the
  /// prefixes, followed by each (val_mse_96 …).
  train::Metrics metrics_of(const at::Tensor& sums) override;
  /// Forecasts of a validation window, and attention maps if they are small.
  std::vector<train::Image> images() override;
  train::Criterion criterion() const override;
  std::string data_hash() const override { return data_.hash; }

 private:
  metrics::ForecastErrors no_errors() const;
  void track_stable_rank(train::Metrics& metrics);

  const ForecastData& data_;
  RankTracker ranks_;
};

/// Empty error sums for this config and scale; `levels`: levels of the quantiles.
metrics::ForecastErrors make_errors(const ForecastConfig& config, const data::Scaler& scaler,
                                    std::vector<double> levels);

}  // namespace modewise::tasks
