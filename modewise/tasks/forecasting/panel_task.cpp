#include "modewise/tasks/forecasting/panel_task.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <vector>

#include "modewise/metrics/panel_errors.h"
#include "modewise/tasks/forecasting/panel_run.h"
#include "modewise/tasks/forecasting/task.h"

namespace modewise::tasks {
namespace {

/// Factors [S, V] from scaled errors to those of MASE within the first `rows` of each series, so that the
/// loss is the mean of what selects the model; at most 10, and 1 where MASE is undefined.
std::vector<float> error_weights(const PanelForecaster& by, std::span<const int64_t> rows, int64_t season) {
  constexpr double kMaxWeight = 10;
  const int64_t width = by.panel->variables();
  std::vector<float> weights(by.scaler.stddev.size(), 1);
  at::parallel_for(0, by.panel->series(), 256, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s)
      for (int64_t v = 0; v < width; ++v) {
        const auto at = static_cast<size_t>(s * width + v);
        const double naive = by.naive_errors({s, rows[static_cast<size_t>(s)]}, v, season).seasonal;
        if (naive > 0) weights[at] = static_cast<float>(std::min(by.scaler.stddev[at] / naive, kMaxWeight));
      }
  });
  return weights;
}

/// Training windows drawn from each series, and validation by mean MASE.
class PanelTask final : public WindowTask {
 public:
  PanelTask(const PanelRun& run, models::Forecaster& model)
      : WindowTask(run.config, model),
        run_(run),
        season_(season_of(run.config, run.panel)),
        forecaster_(run.forecaster()),
        training_ends_(run.splits.train_rows),
        weights_(error_weights(forecaster_, training_ends_, season_)),
        has_mase_(has_mase(run.panel, run.splits.validation, season_)) {}

  int64_t training_samples() const override { return std::ssize(run_.splits.train); }
  std::unique_ptr<train::Batch> load(std::span<const int64_t> samples) const override {
    return load_batch(samples, 0);
  }
  std::unique_ptr<train::Batch> load_batch(std::span<const int64_t> samples, int64_t batch) const override {
    std::vector<data::PanelWindow> windows;
    for (const int64_t sample : samples) {
      data::PanelWindow window = run_.splits.train[static_cast<size_t>(sample)];
      window.origin = data::draw_origin(training_ends_[static_cast<size_t>(window.series)], config_.window(),
                                        static_cast<uint64_t>(config_.train.seed),
                                        static_cast<uint64_t>(batch), static_cast<uint64_t>(window.series));
      windows.push_back(window);
    }
    data::WindowBatch gathered =
        data::gather_panel(run_.panel, forecaster_.scaler, config_.window(), windows, training_ends_);
    const int64_t width = run_.panel.variables();
    gathered.weight = at::empty({std::ssize(windows), width, 1}, at::kFloat);
    for (size_t i = 0; i < windows.size(); ++i)
      std::copy_n(weights_.begin() + windows[i].series * width, width,
                  gathered.weight.mutable_data_ptr<float>() + static_cast<int64_t>(i) * width);
    return batch_of(std::move(gathered));
  }

  at::Tensor sums(const train::Share& share) override {
    metrics::PanelErrors errors = no_errors();
    const std::span<const data::PanelWindow> all = run_.splits.validation;
    const int64_t first = share.first(std::ssize(all)), count = share.last(std::ssize(all)) - first;
    const auto windows = all.subspan(static_cast<size_t>(first), static_cast<size_t>(count));
    forecaster_.stream(windows, [&](const ForecastBlock& block) {
      forecaster_.add_errors(
          errors,
          windows.subspan(static_cast<size_t>(block.first_window), static_cast<size_t>(block.windows())),
          block, block.quantiles.defined() ? floats(block.quantiles) : std::span<const float>{}, season_);
    });
    return at::tensor(errors.sums());
  }
  train::Metrics metrics_of(const at::Tensor& sums) override {
    metrics::PanelErrors errors = no_errors();
    errors.set_sums({sums.const_data_ptr<double>(), static_cast<size_t>(sums.numel())});
    train::Metrics metrics{{"val_mase", errors.mase()}, {"val_mse", errors.mse()}, {"val_mae", errors.mae()}};
    if (config_.forecast.probabilistic()) metrics.set("val_wql", errors.wql());
    return metrics;
  }
  train::Criterion criterion() const override { return {has_mase_ ? "val_mase" : "val_mae", true}; }
  std::string data_hash() const override { return run_.content; }

 private:
  metrics::PanelErrors no_errors() const {
    return metrics::PanelErrors(config_.forecast.probabilistic() ? config_.forecast.quantiles
                                                                 : std::vector<double>{});
  }

  const PanelRun& run_;
  int64_t season_;
  PanelForecaster forecaster_;
  std::vector<int64_t> training_ends_;
  std::vector<float> weights_;
  bool has_mase_;  // of a validation window
};

}  // namespace

std::unique_ptr<train::ModuleTask> make_panel_task(const PanelRun& run) {
  return std::make_unique<PanelTask>(run, *run.model);
}

}  // namespace modewise::tasks
