#include "modewise/tasks/forecast/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "modewise/tasks/run_figures.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using report::LineSeries;

/// Elements [begin, begin + count) of a row of `values`.
std::vector<double> slice(const std::vector<double>& values, int64_t begin, int64_t count) {
  return {values.begin() + begin, values.begin() + begin + count};
}

report::Axis time_axis(const KeptPredictions& kept) {
  report::Axis axis;
  if (kept.dated)
    axis.scale = report::AxisScale::date;
  else
    axis.label = "row";
  return axis;
}

/// Lookback and truth as one curve.
LineSeries truth_curve(const KeptPredictions& kept, int64_t window, int64_t series) {
  const int64_t row = window * kept.series + series;
  LineSeries curve;
  curve.label = "truth";
  curve.x = slice(kept.times, window * (kept.lookback + kept.horizon), kept.lookback + kept.horizon);
  curve.y = slice(kept.past, row * kept.lookback, kept.lookback);
  const std::vector<double> future = slice(kept.truth, row * kept.horizon, kept.horizon);
  curve.y.insert(curve.y.end(), future.begin(), future.end());
  curve.color = report::kInkColor;
  return curve;
}

LineSeries forecast_curve(const KeptPredictions& kept, int64_t window, int64_t series,
                          const std::string& name) {
  LineSeries curve;
  curve.label = name;
  curve.x = slice(kept.times, window * (kept.lookback + kept.horizon) + kept.lookback, kept.horizon);
  curve.y = slice(kept.forecast, (window * kept.series + series) * kept.horizon, kept.horizon);
  return curve;
}

}  // namespace

report::LineChart forecast_figure(const KeptPredictions& kept, int64_t window, int64_t series) {
  LineSeries forecast = forecast_curve(kept, window, series, "forecast");
  const auto levels = kept.levels.size();
  for (size_t outer = 0; outer < levels / 2; ++outer) {
    const double nominal = kept.levels[levels - 1 - outer] - kept.levels[outer];
    if (nominal < 0.75 && outer > 0) break;  // two bands read well, more do not
    report::Band band{{}, {}, fmt::format("{:.3g} %", 100 * nominal)};
    for (int64_t step = 0; step < kept.horizon; ++step) {
      const auto at = static_cast<size_t>(((window * kept.series + series) * kept.horizon + step)) * levels;
      band.lower.push_back(kept.quantiles[at + outer]);
      band.upper.push_back(kept.quantiles[at + levels - 1 - outer]);
    }
    forecast.bands.push_back(std::move(band));
  }
  report::LineChart chart;
  chart.title = kept.names[static_cast<size_t>(series)];
  chart.x = time_axis(kept);
  chart.series = {truth_curve(kept, window, series), std::move(forecast)};
  return chart;
}

report::LineChart forecasts_figure(const std::vector<NamedPredictions>& all, int64_t window, int64_t series) {
  report::LineChart chart;
  const KeptPredictions& first = all.front().kept;
  chart.title = first.names[static_cast<size_t>(series)];
  chart.x = time_axis(first);
  chart.series.push_back(truth_curve(first, window, series));
  for (const NamedPredictions& run : all)
    chart.series.push_back(forecast_curve(run.kept, window, series, run.name));
  return chart;
}

report::LineChart by_step_figure(const std::vector<NamedEvaluation>& runs, const std::string& metric,
                                 const std::string& title) {
  report::LineChart chart;
  chart.title = title;
  chart.x.label = "steps ahead";
  for (const NamedEvaluation& run : runs) {
    LineSeries curve;
    curve.label = run.name;
    for (const Json& row : (*run.evaluation)["by_step"]) {
      curve.x.push_back(number(row, "step"));
      curve.y.push_back(number(row, metric));
    }
    chart.series.push_back(std::move(curve));
  }
  return chart;
}

report::BarChart by_series_figure(const Json& evaluation, size_t most) {
  std::vector<std::pair<std::string, double>> rows;
  for (const Json& row : evaluation["by_series"])
    rows.emplace_back(row["name"].get<std::string>(), number(row["scaled"], "mse"));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  report::BarChart chart;
  chart.title = rows.size() > most
                    ? fmt::format("MSE of the {} worst of {} series, scaled", most, rows.size())
                    : "MSE of each series, scaled";
  if (rows.size() > most) rows.resize(most);
  report::BarSeries bars;
  bars.label = "MSE";
  for (const auto& [name, mse] : rows) {
    chart.categories.push_back(name);
    bars.values.push_back(mse);
  }
  chart.series.push_back(std::move(bars));
  return chart;
}

}  // namespace modewise::tasks
