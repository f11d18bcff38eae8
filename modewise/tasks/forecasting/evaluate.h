#pragma once
// A model's forecasts over a set of windows, batch by batch in the order of time, without gradients; and how
// good they are: errors, intervals, and calibration on the validation rows.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "modewise/data/forecasting/windows.h"
#include "modewise/metrics/conformal.h"
#include "modewise/metrics/forecast_errors.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/tasks/forecasting/data.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::tasks {

/// B windows, contiguous float32, scaled; S series in row-major order over the modes.
struct ForecastBlock {
  int64_t first_window = 0;                   // number of the block's first window in what is streamed
  at::Tensor past, future;                    // [B, S, L], [B, S, H]
  at::Tensor past_observed, future_observed;  // of those shapes, bool; undefined when nothing is missing
  at::Tensor forecast;                        // [B, S, H]; the median of a quantile model
  at::Tensor quantiles;                       // [B, S, H, Q]; undefined for point models
  at::Tensor first_step;                      // [B] int64

  int64_t windows() const { return past.size(0); }
};

using BlockVisitor = std::function<void(const ForecastBlock&)>;

/// What the model gives for one gathered batch, float32, without gradients; `row_offset` (ForecastData) is
/// added to its first steps. The module is left in its mode.
at::Tensor forecast_output(models::Forecaster& model, const data::WindowBatch& batch, int64_t row_offset);
/// The same beside the batch, whose first steps the block keeps as they are.
ForecastBlock forecast_batch(models::Forecaster& model, const data::WindowBatch& batch,
                             int64_t row_offset = 0);

/// Error that names series and row of the first forecast, or of the first of `quantiles` [B, S, H, Q],
/// that is not finite: a data error with the place of the value of its lookback that a model cannot compute
/// with, where there is one, else a general one. `block` is of windows of `series`.
void require_finite(const ForecastBlock& block, std::span<const float> quantiles, const data::Series& series);

/// Visits every `stride`-th window of `set`, `batch` windows at a time; of several `workers`, who forecast
/// in shares (train::distribute), the lead does. Throws train::EvaluationInterrupted when a stop signal came,
/// and the errors of require_finite for the model's output. The module is put into evaluation mode, and back.
void stream_forecasts(models::Forecaster& model, const ForecastData& data, const data::WindowSet& set,
                      int64_t batch, const BlockVisitor& visit, int64_t stride = 1,
                      train::Workers& workers = train::alone());

/// A contiguous tensor's elements.
std::span<const float> floats(const at::Tensor& tensor);
/// The same for masks; empty when undefined.
std::span<const bool> flags(const at::Tensor& tensor);

/// Deviations [B·S] of the lookbacks of a block (conformal.h).
std::vector<float> lookback_stddevs(const ForecastBlock& block);

/// A forecaster and what turns its output into forecasts with quantiles.
struct CalibratedForecaster {
  models::Forecaster* model = nullptr;
  const ForecastConfig* config = nullptr;
  std::optional<metrics::Calibration> calibration;

  /// Levels of quantiles(); empty for a point model without calibration.
  std::vector<double> levels() const;
  /// [B, S, H, Q] of a block: calibrated, or as the model gave them. Empty when there are none.
  std::vector<float> quantiles(const ForecastBlock& block) const;
};

/// Margins from the forecasts over the validation windows (thinned when they would take more than 128 MB).
/// Nothing when the config wants none.
std::optional<metrics::Calibration> calibrate_forecaster(models::Forecaster& model,
                                                         const ForecastConfig& config,
                                                         const ForecastData& data);

/// Errors over all windows of `set`; `visit` (may be empty) sees each block with its quantiles. Of several
/// `workers` the lead has them and sees those; the others get none.
using QuantileVisitor = std::function<void(const ForecastBlock& block, std::span<const float> quantiles)>;
metrics::ForecastErrors evaluate_forecaster(const CalibratedForecaster& forecaster, const ForecastData& data,
                                            const data::WindowSet& set, const QuantileVisitor& visit = {},
                                            train::Workers& workers = train::alone());

/// The whole result: scaled and in units, per horizon, step and series.
nlohmann::ordered_json evaluation_json(const std::string& split, const metrics::ForecastErrors& errors,
                                       const ForecastOptions& options, const data::Series& series);

}  // namespace modewise::tasks
