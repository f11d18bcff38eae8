#include "modewise/tasks/forecast/compare.h"

#include <fmt/format.h>

#include <cmath>

#include "modewise/tasks/forecast/config.h"
#include "modewise/tasks/forecast/figures.h"
#include "modewise/tasks/run_figures.h"

namespace modewise::tasks {
namespace {

std::string forecast_title(const ForecastConfig& config) {
  return fmt::format("{}, lookback {}, horizon {}", data_title(config), config.forecast.lookback,
                     config.forecast.longest());
}

FinishedRun read_forecaster(const std::filesystem::path& path) {
  return read_finished<ForecastConfig>(path, "forecast", {"forecast.evaluation_batch"}, forecast_title);
}

/// The coverage of the interval whose nominal coverage is `nominal`.
FigurePlace coverage(double nominal) {
  return FigurePlace([nominal](const RunGroup& group) -> std::string {
    const auto& metrics = group.runs.front().metrics;
    const nlohmann::ordered_json::json_pointer intervals("/test/quantiles/intervals");
    if (!metrics.contains(intervals)) return "";
    const auto& list = metrics[intervals];
    for (size_t i = 0; i < list.size(); ++i)
      if (std::abs(list[i].value("nominal", 0.0) - nominal) < 1e-6)
        return fmt::format("/test/quantiles/intervals/{}/coverage", i);
    return "";
  });
}

/// Errors as bars and by step, and forecasts of the same windows.
void draw_forecasters(report::HtmlPage& page, std::span<const RunGroup> groups) {
  report::BarChart bars;
  bars.title = "MSE, scaled";
  report::BarSeries series;
  series.label = "MSE";
  std::vector<NamedEvaluation> evaluations;
  std::vector<NamedPredictions> predictions;
  for (const RunGroup& group : groups) {
    const std::vector<double> values = group.values("/test/scaled/mse");
    bars.categories.push_back(group.name);
    series.values.push_back(mean(values));
    series.errors.push_back(standard_deviation(values).value_or(0));
    evaluations.push_back({group.name, &group.runs.front().metrics["test"]});
    const std::filesystem::path kept = group.runs.front().path / "predictions.npz";
    if (std::filesystem::exists(kept)) predictions.push_back({group.name, read_predictions(kept)});
  }
  bars.series.push_back(std::move(series));
  page.add_figure_grid({{bars, ""},
                        {by_step_figure(evaluations, "mse", "MSE by steps ahead"), ""},
                        {by_step_figure(evaluations, "mae", "MAE by steps ahead"), ""}});
  // Runs keep the same windows when they keep equally many.
  std::erase_if(predictions, [&](const NamedPredictions& p) {
    return p.kept.times != predictions.front().kept.times || p.kept.series != predictions.front().kept.series;
  });
  std::vector<report::CaptionedFigure> figures;
  if (!predictions.empty())
    for (const int64_t s : spread_samples(predictions.front().kept.series, kSeriesShown))
      figures.push_back({forecasts_figure(predictions, predictions.front().kept.windows - 1, s), ""});
  if (!figures.empty()) page.add_figure_grid(figures);
}

}  // namespace

const Comparison& forecast_comparison() {
  using Best = report::Column::Best;
  static const Comparison comparison = {read_forecaster,
                                        {{{"MSE", Best::lowest}, "/test/scaled/mse", 4},
                                         {{"MAE", Best::lowest}, "/test/scaled/mae", 4},
                                         {{"validation MSE"}, "/best/val_mse", 4},
                                         {{"CRPS", Best::lowest}, "/test/quantiles/crps", 4},
                                         {{"80 % holds"}, coverage(0.8), 3},
                                         {{"95 % holds"}, coverage(0.95), 3}},
                                        {{"mse", "/test/scaled/mse"},
                                         {"mae", "/test/scaled/mae"},
                                         {"validation_mse", "/best/val_mse"},
                                         {"validation_mae", "/best/val_mae"},
                                         {"crps", "/test/quantiles/crps"},
                                         {"coverage_80", coverage(0.8)},
                                         {"coverage_95", coverage(0.95)}},
                                        "Forecasters side by side",
                                        "Errors on the test rows",
                                        draw_forecasters};
  return comparison;
}

}  // namespace modewise::tasks
