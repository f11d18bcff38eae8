#pragma once
// Errors of naive forecasts, which have no parameters, beside those of a model.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/metrics/forecast_errors.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/tasks/forecasting/data.h"
#include "modewise/tasks/forecasting/evaluate.h"

namespace modewise::tasks {

/// Repeats the last `season` rows of each window; 1: the last value. Missing cells as in the model
/// `seasonal`.
class NaiveForecast {
 public:
  NaiveForecast(const models::ForecastShape& shape, int64_t season);
  /// [B, S, H], float32, scaled.
  at::Tensor operator()(const ForecastBlock& block) const;

 private:
  std::shared_ptr<models::Forecaster> model_;
};

/// Errors of the last value repeated, and of the last season if the time step has one (season_of) and the
/// lookback contains it.
class NaiveForecastErrors {
 public:
  NaiveForecastErrors(const ForecastConfig& config, const ForecastData& data,
                      const models::ForecastShape& shape);
  void add(const ForecastBlock& block);
  /// A list: `name` (repeat or seasonal), `season` in rows, and errors, `scaled` and in `units`.
  nlohmann::ordered_json json() const;

 private:
  struct Row {
    int64_t season;
    NaiveForecast forecast;
    metrics::ForecastErrors errors;
  };
  std::vector<Row> rows_;
};

/// A sentence if a naive forecast of the evaluation (evaluation_json with "naive") has both a lower MSE and a
/// lower MAE than the model, with advice by whether the model is `trained` in steps; "": none.
std::string naive_is_better(const nlohmann::ordered_json& evaluation, bool trained);

}  // namespace modewise::tasks
