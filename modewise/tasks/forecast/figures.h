#pragma once
// The figures of forecasting reports, made from a run's files.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modewise/models/forecast/forecaster.h"
#include "modewise/report/figure.h"
#include "modewise/tasks/forecast/prediction_store.h"

namespace modewise::tasks {

constexpr int64_t kSeriesShown = 6;  // of one figure of a report

/// Lookback and truth of one kept window and series, with the forecast and its bands.
report::LineChart forecast_figure(const KeptPredictions& kept, int64_t window, int64_t series);

/// The same window and series forecast by several runs, without bands.
struct NamedPredictions {
  std::string name;
  KeptPredictions kept;
};
report::LineChart forecasts_figure(const std::vector<NamedPredictions>& all, int64_t window, int64_t series);

/// One curve a run of a metric ("mse", "coverage_80") by step, from evaluation JSON.
struct NamedEvaluation {
  std::string name;
  const nlohmann::ordered_json* evaluation;
};
report::LineChart by_step_figure(const std::vector<NamedEvaluation>& runs, const std::string& metric,
                                 const std::string& title);
/// Errors of the series, worst first, at most `most`.
report::BarChart by_series_figure(const nlohmann::ordered_json& evaluation, size_t most = 30);

}  // namespace modewise::tasks
