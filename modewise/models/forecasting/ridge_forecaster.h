#pragma once
// Ridge regression forecaster: closed-form linear map from all lags of a window to its forecast.

#include <memory>
#include <span>
#include <vector>

#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/models/forecasting/window_sums.h"
#include "modewise/nn/embedding/window_normalization.h"
#include "modewise/nn/initializer.h"

namespace modewise::models {

/// Linear map y ≈ weight · x + bias for windows z = (x, y).
struct RidgeMap {
  at::Tensor weight, bias;  // [H, L], [H] float64
};

/// Ridge regressions of H steps on L lags, one per penalty of `alphas`: minimize Σ ‖y − Wx − b‖² + α ‖W‖²
/// over the windows of `sums`, of L + H rows each. Without windows, weight and bias are 0.
std::vector<RidgeMap> ridge_maps(const WindowSums& sums, int64_t lookback, std::span<const double> alphas);

/// Σ (y − Wx − b)² over the windows of `sums`, per step [H].
at::Tensor squared_errors(const WindowSums& sums, const RidgeMap& map);

/// One map for all series or one per series, on windows minus their last value or mean (window.centre),
/// fitted in closed form to all fully observed training windows. The penalty, in units of the windows' mean Σ
/// x² of a lag, is ridge.penalty, or the one of 10^−6, 10^−5.5 … 10^2 with the lowest squared error on the
/// validation windows. Quantiles assume normal errors with each step's standard deviation over the validation
/// windows (training windows if there are none).
class RidgeForecaster : public Forecaster {
 public:
  RidgeForecaster(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

  at::Tensor forward(const ForecastInput& input) override;
  void fit(const FittingRows& rows) override;
  bool fits_windows() const override { return true; }

 private:
  void fit_map(int64_t map, WindowSums training, WindowSums validation);

  std::string centre_;
  bool individual_;
  double penalty_;
  std::shared_ptr<nn::WindowNormalization> window_;
  at::Tensor weight_, bias_, stddev_;  // [M, H, L], [M, H], [M, H] with M maps: 1, or one per series
  at::Tensor penalties_;               // [M] float64: the penalties used
  at::Tensor normal_;                  // [Q] float64; undefined for point forecasts
};

}  // namespace modewise::models
