#pragma once
// Judging a trained forecaster on one split: errors, intervals, and calibration on the validation rows.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "modewise/tasks/forecast/conformal.h"
#include "modewise/tasks/forecast/data.h"
#include "modewise/tasks/forecast/metrics.h"
#include "modewise/tasks/forecast/stream.h"

namespace modewise::tasks {

/// A forecaster and what turns its output into forecasts with quantiles.
struct CalibratedForecaster {
  models::Forecaster* model = nullptr;
  const ForecastConfig* config = nullptr;
  std::optional<Calibration> calibration;

  /// Levels of quantiles(); empty for a point model without calibration.
  std::vector<double> levels() const;
  /// [B, S, H, Q] of a block: calibrated, or as the model gave them. Empty when there are none.
  std::vector<float> quantiles(const ForecastBlock& block) const;
};

/// Margins from the forecasts over the validation windows (thinned when they would take more than 128 MB).
/// Nothing when the config wants none.
std::optional<Calibration> calibrate_forecaster(models::Forecaster& model, const ForecastConfig& config,
                                                const ForecastData& data);

/// Errors over all windows of `set`; `visit` (may be empty) sees each block with its quantiles.
using QuantileVisitor = std::function<void(const ForecastBlock& block, std::span<const float> quantiles)>;
ForecastErrors evaluate_forecaster(const CalibratedForecaster& forecaster, const ForecastData& data,
                                   const data::WindowSet& set, const QuantileVisitor& visit = {});

/// The whole result: scaled and in units, per horizon, step and series.
nlohmann::ordered_json evaluation_json(const std::string& split, const ForecastErrors& errors,
                                       const ForecastOptions& options, const data::Series& series);

}  // namespace modewise::tasks
