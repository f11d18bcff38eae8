#include "modewise/models/forecasting/theta_forecaster.h"

#include <ATen/ops/ones.h>

#include <vector>

#include "modewise/models/forecasting/seasonal_adjustment.h"

namespace modewise::models {

ThetaForecaster::ThetaForecaster(const ForecasterConfig& config, const ForecastShape& shape, ThetaForm form)
    : LocalForecaster(shape, config.season()),
      form_(form),
      seasonal_(register_buffer("seasonal", at::ones({shape.series_count()}, at::kLong))) {}

void ThetaForecaster::fit_series(int64_t series, std::span<const double> history) {
  seasonal_.mutable_data_ptr<int64_t>()[series] = is_seasonal(history, period()) ? 1 : 0;
}

void ThetaForecaster::forecast(int64_t series, std::span<const double> history, std::span<double> out) const {
  const bool seasonal = seasonal_.const_data_ptr<int64_t>()[series] != 0;
  const Season season = seasonal ? season_of_history(history, period()) : Season();
  std::vector<double> adjusted(history.begin(), history.end());
  for (size_t t = 0; t < adjusted.size(); ++t)
    adjusted[t] = season.take_off(adjusted[t], static_cast<int64_t>(t));
  StepForecast steps = forecast_theta(fit_theta(form_, adjusted), adjusted, shape().horizon);
  for (size_t step = 0; step < steps.mean.size(); ++step) {
    const auto row = static_cast<int64_t>(history.size() + step);
    steps.mean[step] = season.put_back(steps.mean[step], row);
    if (season.multiplicative) steps.stddev[step] = season.put_back(steps.stddev[step], row);
  }
  write_normal(steps, out);
}

}  // namespace modewise::models
