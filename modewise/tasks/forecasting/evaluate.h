#pragma once
// Evaluation of forecasters: batched forecasts over windows in time order, errors, intervals, and calibration
// on the validation rows.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/forecasting/windows.h"
#include "modewise/metrics/conformal.h"
#include "modewise/metrics/forecast_errors.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/tasks/forecasting/data.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::tasks {

/// B windows, contiguous float32, scaled; S series in row-major order over the modes.
struct ForecastBlock {
  int64_t first_window = 0;                   // index of the block's first window in the stream
  at::Tensor past, future;                    // [B, S, L], [B, S, H]
  at::Tensor past_observed, future_observed;  // same shapes, bool; undefined if nothing is missing
  at::Tensor forecast;                        // [B, S, H]; median of quantile models
  at::Tensor quantiles;                       // [B, S, H, Q]; undefined for point models
  at::Tensor first_step;                      // [B] int64
  int64_t row_offset = 0;                     // of the rows (ForecastData), for the phase of a season
  /// [B] float32: factors of the margins of each window, such as for a series with few rows; undefined: 1.
  at::Tensor widening;

  int64_t windows() const { return past.size(0); }
};

using BlockVisitor = std::function<void(const ForecastBlock&)>;

/// Model output for a batch, float32, without gradients; `row_offset` (ForecastData) is added to its first
/// steps. Does not change the module's mode.
at::Tensor forecast_output(models::Forecaster& model, const data::WindowBatch& batch, int64_t row_offset);
/// Model output with its batch; the block's first steps are without `row_offset`.
ForecastBlock forecast_batch(models::Forecaster& model, const data::WindowBatch& batch,
                             int64_t row_offset = 0);

/// Error with series and row of the first forecast or quantile [B, S, H, Q] that is not finite: a data error
/// with the location of an overflowing value in its lookback, if there is one, else a general error. `block`
/// has windows of `series`.
void require_finite(const ForecastBlock& block, std::span<const float> quantiles, const data::Series& series);

/// Visits every `stride`-th window of `set`, `batch` windows at a time. Several `workers` distribute the
/// forecasts (train::distribute), rank 0 visits them. Throws train::EvaluationInterrupted on a stop signal,
/// and the errors of require_finite. The module is in evaluation mode during the call.
void stream_forecasts(models::Forecaster& model, const ForecastData& data, const data::WindowSet& set,
                      int64_t batch, const BlockVisitor& visit, int64_t stride = 1,
                      train::Workers& workers = train::single_process());

/// Elements of a contiguous tensor.
std::span<const float> floats(const at::Tensor& tensor);
/// Elements of a contiguous mask; empty if undefined.
std::span<const bool> flags(const at::Tensor& tensor);

/// Standard deviations [B·S] of the lookbacks of a block (conformal.h).
std::vector<float> lookback_stddevs(const ForecastBlock& block);

/// A forecaster with the calibration of its quantiles.
struct CalibratedForecaster {
  models::Forecaster* model = nullptr;
  const ForecastConfig* config = nullptr;
  std::optional<metrics::Calibration> calibration;

  /// Levels of quantiles(); empty for point models without calibration.
  std::vector<double> levels() const;
  /// Quantiles [B, S, H, Q] of a block, calibrated or from the model; empty if there are none.
  std::vector<float> quantiles(const ForecastBlock& block) const;
};

/// A validation split and a model that was trained on the rows before it.
struct ValidationSplit {
  models::Forecaster* model = nullptr;
  const ForecastData* data = nullptr;
};

/// Conformal margins from forecasts of the validation windows (a subset above 128 MB) of all splits, in time
/// order: the last is that of the run, whose scaled values are the unit of the margins. A window whose
/// lookback has no value of a series does not count for it. Nothing if calibration is off.
std::optional<metrics::Calibration> calibrate_forecaster(const std::vector<ValidationSplit>& splits,
                                                         const ForecastConfig& config);

/// The same for a model of this shape and sets of `windows` windows: `stream` visits every stride-th of each
/// set, one set after the other. `season`: rows of the season that margins may follow; 1: none.
std::optional<metrics::Calibration> calibrate_blocks(
    const models::ForecastShape& shape, const ForecastConfig& config, const std::vector<int64_t>& windows,
    int64_t season, const std::function<void(const BlockVisitor& visit, int64_t stride)>& stream);

/// A sentence about the intervals of a calibration (JSON) whose levels its scores do not support; "": none.
std::string few_scores_text(const nlohmann::ordered_json& calibration);

/// Errors over all windows of `set`; `visit` (may be empty) is called for each block with its quantiles. With
/// several `workers` only rank 0 has errors and visits.
using QuantileVisitor = std::function<void(const ForecastBlock& block, std::span<const float> quantiles)>;
metrics::ForecastErrors evaluate_forecaster(const CalibratedForecaster& forecaster, const ForecastData& data,
                                            const data::WindowSet& set, const QuantileVisitor& visit = {},
                                            train::Workers& workers = train::single_process());

/// Evaluation as JSON: scaled and in units, per horizon, step and series.
nlohmann::ordered_json evaluation_json(const std::string& split, const metrics::ForecastErrors& errors,
                                       const ForecastOptions& options, const data::Series& series);

}  // namespace modewise::tasks
