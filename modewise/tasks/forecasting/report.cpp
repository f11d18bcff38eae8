#include "modewise/tasks/forecasting/report.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/report/table.h"
#include "modewise/tasks/forecasting/config.h"
#include "modewise/tasks/forecasting/panel_run.h"
#include "modewise/tasks/forecasting/prediction_store.h"
#include "modewise/tasks/forecasting/run.h"
#include "modewise/tasks/forecasting/spec.h"
#include "modewise/tasks/run/model_output.h"
#include "modewise/tasks/run/run_figures.h"
#include "modewise/tasks/run/run_report.h"
#include "modewise/tasks/run/test_split.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;
using report::LineSeries;
namespace fs = std::filesystem;

std::vector<JsonColumn> error_columns(const JsonColumn& first) {
  return {first, {"MSE", "mse", 4}, {"MAE", "mae", 4}, {"RMSE", "rmse", 4}, {"SMAPE %", "smape", 2}};
}

Json error_rows(const Json& evaluation) {
  const auto scaled = [&](const std::string& steps) {
    return evaluation.at("horizons").size() > 1 ? "scaled, horizon " + steps : std::string("scaled");
  };
  Json rows = Json::array();
  for (const auto& [steps, errors] : evaluation.at("horizons").items()) {
    rows.push_back(errors);
    rows.back()["name"] = scaled(steps);
  }
  for (const Json& naive : evaluation.value("naive", Json::array())) {  // absent from older runs
    const auto season = naive.at("season").get<int64_t>();
    rows.push_back(naive.at("scaled"));
    rows.back()["name"] = fmt::format("{}, {}", season == 1 ? "repeat" : fmt::format("seasonal ({})", season),
                                      scaled(fmt::format("{}", evaluation.at("horizon").get<int64_t>())));
  }
  rows.push_back(evaluation.at("units"));
  rows.back()["name"] = "in units";
  if (evaluation.contains("quantiles_units")) rows.back()["quantiles"] = evaluation.at("quantiles_units");
  return rows;
}

Json interval_rows(const Json& evaluation) {
  Json rows = evaluation.at("quantiles").at("intervals");
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i]["interval"] = fmt::format("{:g} %", 100 * number(rows[i], "nominal"));
    rows[i]["units"] = evaluation.at("quantiles_units").at("intervals").at(i).at("width");
  }
  return rows;
}

constexpr int64_t kSeriesShown = 6;  // in one figure

/// Stored predictions of one of several compared runs.
struct NamedPredictions {
  std::string name;
  KeptPredictions kept;
};

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

constexpr int64_t kWindowsShown = 2;

/// Lookback and truth of one stored window and series, with the forecast and its bands.
report::LineChart forecast_figure(const KeptPredictions& kept, int64_t window, int64_t series) {
  LineSeries forecast = forecast_curve(kept, window, series, "forecast");
  const auto levels = kept.levels.size();
  for (size_t outer = 0; outer < levels / 2; ++outer) {
    const double nominal = kept.levels[levels - 1 - outer] - kept.levels[outer];
    if (nominal < 0.75 && outer > 0) break;  // at most two bands
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

/// The same window and series forecast by several runs, without bands.
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

/// A metric ("mse", "coverage_80") by step, one curve per name, from evaluation JSON.
report::LineChart by_step_figure(const std::vector<NamedLines>& all, const std::string& metric,
                                 const std::string& title) {
  report::LineChart chart;
  chart.title = title;
  chart.x.label = "forecast step";
  for (const auto& [name, lines] : all) {
    LineSeries curve;
    curve.label = name;
    for (const Json& row : lines) {
      curve.x.push_back(number(row, "step"));
      curve.y.push_back(number(row, metric));
    }
    chart.series.push_back(std::move(curve));
  }
  return chart;
}

/// Errors by series, largest first, at most 30.
report::BarChart by_series_figure(const Json& evaluation) {
  constexpr size_t maximum = 30;
  std::vector<std::pair<std::string, double>> rows;
  for (const Json& row : evaluation.at("by_series"))
    rows.emplace_back(row.at("name").get<std::string>(), number(row.at("scaled"), "mse"));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  report::BarChart chart;
  chart.title = rows.size() > maximum
                    ? fmt::format("Largest MSE: {} of {} series, scaled", maximum, rows.size())
                    : "MSE of each series, scaled";
  if (rows.size() > maximum) rows.resize(maximum);
  report::BarSeries bars;
  bars.label = "MSE";
  for (const auto& [name, mse] : rows) {
    chart.categories.push_back(name);
    bars.values.push_back(mse);
  }
  chart.series.push_back(std::move(bars));
  return chart;
}

void add_forecasts(report::HtmlPage& page, const KeptPredictions& kept) {
  page.add_section("Forecasts and true values");
  for (const int64_t window : spread_samples(kept.windows, kWindowsShown)) {
    std::vector<report::CaptionedFigure> figures;
    for (const int64_t series : spread_samples(kept.series, kSeriesShown))
      figures.push_back({forecast_figure(kept, window, series), ""});
    page.add_figure_grid(figures);
  }
}

void add_curves(report::HtmlPage& page, const train::RunFolder& folder, const Json& metrics) {
  const Json& test = metrics[evaluated_part(metrics)];
  add_learning(
      page, folder,
      {{"Learning curves",
        {"val_mse", "val_mae", "val_pinball", {"train_loss", "training loss", LearningCurve::Style::dashed}},
        "best " + metrics.value("criterion", "")}});
  page.add_section("Error by step");
  const auto steps = test.at("by_step").get<MetricLines>();
  std::vector<report::CaptionedFigure> figures = {
      {by_step_figure({{"MSE", steps}}, "mse", "MSE by forecast step"), ""},
      {by_step_figure({{"MAE", steps}}, "mae", "MAE by forecast step"), ""}};
  if (!steps.empty())
    for (const auto& [key, value] : steps.front().items())
      if (key.starts_with("coverage_"))
        figures.push_back({by_step_figure({{"coverage", steps}}, key,
                                          fmt::format("Coverage of the {} % interval", key.substr(9))),
                           ""});
  page.add_figure_grid(figures);
  page.add_section("Error by series");
  page.add_figure(by_series_figure(test));
}

std::vector<models::ModeMaps> factors_of(const ForecastRun& run, const std::string& part) {
  const at::NoGradGuard no_grad;
  const data::WindowSet& windows = windows_of(run.data.windows, part);
  const int64_t window = windows.size() - 1;
  const data::WindowBatch batch = run.data.source.gather(windows, std::span(&window, 1));
  return attention_of(*run.model, model_input(batch)).maps;
}

void add_calibration(report::HtmlPage& page, const Json& metrics) {
  if (!metrics.contains("calibration")) return;
  const Json& calibration = metrics.at("calibration");
  page.add_section("Calibration of the intervals");
  Json trials = calibration.at("trials");
  const bool by_pinball = !trials.empty() && trials.front().contains("pinball");
  page.add_paragraph(
      fmt::format("The margins from each half of {} validation windows are checked on the other half; the "
                  "variant with the smallest {} is used. The test rows are not used.",
                  Cell::count(calibration.at("windows")).text(),
                  by_pinball ? "pinball loss" : "gap between nominal and empirical coverage"));
  if (const std::string text = few_scores_text(calibration); !text.empty()) page.add_paragraph(text);
  if (calibration.contains("season")) {
    const Json& season = calibration.at("season");
    page.add_paragraph(fmt::format(
        "Mean pinball loss with margins that follow the season of {} rows: {:.4g}, without: {:.4g}. The "
        "margins {} the season.",
        season.at("rows").get<int64_t>(), number(season, "pinball"), number(season, "pinball_without"),
        season.at("used").get<bool>() ? "follow" : "do not follow"));
  }
  std::vector<JsonColumn> columns = {{"margins scale with", "grows"}, {"sides", "sides"}};
  for (size_t i = 0; i < calibration.at("nominal").size(); ++i)
    columns.push_back({fmt::format("coverage {:.3g} %", 100 * calibration.at("nominal").at(i).get<double>()),
                       fmt::format("coverage/{}", i), 3});
  columns.push_back({"gap", "gap", 4, 1, report::Column::Best::lowest});
  if (by_pinball) columns.push_back({"pinball", "pinball", 4, 1, report::Column::Best::lowest});
  for (Json& trial : trials) {
    const double exponent = number(trial, "exponent");
    trial["grows"] = exponent == 0 ? std::string("constant") : fmt::format("std^{:g}", exponent);
    trial["sides"] = trial.value("shared_sides", true) ? "shared" : "own";
  }
  page.add_table(json_table(columns, trials));
}

std::string forecast_title(Run& run) {
  const auto* const panel = dynamic_cast<PanelRun*>(&run);
  const ForecastConfig& config = panel != nullptr ? panel->config : as<ForecastRun>(run).config;
  return fmt::format("{}, lookback {}, horizon {}", data_title(config), config.forecast.lookback,
                     config.forecast.longest());
}

/// Location of the coverage of the interval with nominal coverage `nominal`, of tensors or panels.
FigurePlace coverage(double nominal) {
  return FigurePlace([nominal](const RunGroup& group) -> std::string {
    const auto& metrics = group.runs.front().metrics;
    for (const std::string intervals : {"/test/quantiles/intervals", "/test/intervals"}) {
      if (!metrics.contains(Json::json_pointer(intervals))) continue;
      const auto& list = metrics.at(Json::json_pointer(intervals));
      for (size_t i = 0; i < list.size(); ++i)
        if (std::abs(list[i].value("nominal", 0.0) - nominal) < 1e-6)
          return fmt::format("{}/{}/coverage", intervals, i);
    }
    return "";
  });
}

/// The levels over which a CRPS is a mean: "0.1 0.5 0.9".
std::string crps_levels(const RunGroup& group) {
  const auto& metrics = group.runs.front().metrics;
  const Json::json_pointer losses("/test/quantiles/pinball");
  std::string text;
  if (metrics.contains(losses))
    for (const auto& [level, loss] : metrics.at(losses).items()) text += level + " ";
  return text;
}

/// Bar charts of errors, errors by step, and forecasts of the same windows.
void draw_forecasters(report::HtmlPage& page, std::span<const RunGroup> groups) {
  std::vector<NamedLines> evaluations;
  std::vector<NamedPredictions> predictions;
  for (const RunGroup& group : groups) {
    evaluations.push_back(mean_lines(group, [](const FinishedRun& run) {
      return run.metrics.at("test").at("by_step").get<MetricLines>();
    }));
    const std::filesystem::path kept = group.runs.front().path / "predictions.npz";
    if (std::filesystem::exists(kept)) predictions.push_back({first_run_name(group), read_predictions(kept)});
  }
  page.add_figure_grid({{group_bars("MSE, scaled", groups, "/test/scaled/mse"), ""},
                        {by_step_figure(evaluations, "mse", "MSE by forecast step"), ""},
                        {by_step_figure(evaluations, "mae", "MAE by forecast step"), ""}});
  // Runs that store equally many windows store the same ones.
  std::erase_if(predictions, [&](const NamedPredictions& p) {
    return p.kept.times != predictions.front().kept.times || p.kept.series != predictions.front().kept.series;
  });
  std::vector<report::CaptionedFigure> figures;
  if (!predictions.empty())
    for (const int64_t s : spread_samples(predictions.front().kept.series, kSeriesShown))
      figures.push_back({forecasts_figure(predictions, predictions.front().kept.windows - 1, s), ""});
  if (!figures.empty()) page.add_figure_grid(figures);
}

/// Tables of an evaluation (evaluate.h): errors per horizon and in units, interval coverage; as details
/// errors per series and step.
std::vector<ResultTable> forecast_tables(const Json& evaluation) {
  const auto part = evaluation.at("split").get<std::string>();
  std::vector<JsonColumn> errors = error_columns({"errors", "name"});
  const bool quantiles = evaluation.contains("quantiles");
  if (quantiles)
    errors.insert(errors.end(), {{"CRPS", "quantiles/crps", 4}, {"pinball", "quantiles/mean_pinball", 4}});
  std::vector<ResultTable> tables = {
      {fmt::format("Errors on the {} rows", part),
       fmt::format(
           "{} windows, values scaled by mean and standard deviation of the training rows of each series; "
           "missing targets are excluded.",
           Cell::count(evaluation.at("windows")).text()),
       json_table(errors, error_rows(evaluation))}};
  if (quantiles)
    tables.push_back({"", fmt::format("Empirical coverage of the intervals on the {} split.", part),
                      json_table({{"interval", "interval"},
                                  {"coverage %", "coverage", 1, 100},
                                  {"mean width", "width", 4},
                                  {"in units", "units", 4}},
                                 interval_rows(evaluation))});
  tables.push_back({"",
                    "",
                    json_table({{"series", "name"},
                                {"MSE", "scaled/mse", 4},
                                {"MAE", "scaled/mae", 4},
                                {"MAE in units", "units/mae", 4},
                                {"RMSE in units", "units/rmse", 4},
                                {"SMAPE %", "units/smape", 2}},
                               evaluation.at("by_series")),
                    {},
                    true});
  tables.push_back({"", "", json_table(error_columns({"step", "step"}), evaluation.at("by_step")), {}, true});
  return tables;
}

}  // namespace

std::vector<ResultTable> ForecastRun::tables(const Json& metrics) const {
  const Json parts = evaluated_parts(metrics);
  const Json& evaluation = parts.at(parts.size() - 1);  // the test split comes after the validation split
  std::vector<ResultTable> all = forecast_tables(evaluation);
  all.front().line =
      fmt::format("{}: {} windows, lookback {}, horizon {}\n\n", evaluation.at("split").get<std::string>(),
                  Cell::count(evaluation.at("windows")).text(), evaluation.at("lookback").get<int64_t>(),
                  evaluation.at("horizon").get<int64_t>());
  return all;
}

std::string description_text(const data::Description& d) {
  std::string text =
      fmt::format("{}: {} row{}", d.source, Cell::count(d.rows).text(), d.rows == 1 ? "" : "s");
  for (const data::SeriesMode& mode : d.modes)
    text += fmt::format(" × {}{}", mode.text(), mode.ordered ? " (ordered)" : "");
  text += fmt::format(", {} of {} cells missing\n", Cell::count(d.missing_cells).text(),
                      Cell::count(d.cells).text());
  if (d.dated) text += fmt::format("from {} to {}, every {}\n", d.first_time, d.last_time, d.frequency);
  for (const std::string& note : d.notes) text += "note: " + note + "\n";
  report::Table variables({{"variable"}, {"missing"}, {"min"}, {"mean"}, {"max"}, {"deviation"}});
  const auto value = [](double x) { return Cell::number(x, fmt::format("{:.6g}", x)); };
  for (const data::SeriesStatistics& v : d.variables)
    variables.add_row({v.name, v.missing, value(v.min), value(v.mean), value(v.max), value(v.stddev)});
  text += "\n" + variables.to_text();
  if (!d.gaps.empty()) {
    report::Table gaps({{"gap from"}, {"to"}, {"rows"}});
    for (const data::Gap& gap : d.gaps) gaps.add_row({gap.first_time, gap.last_time, gap.rows});
    text += "\n" + gaps.to_text();
  }
  if (!d.split_problem.empty()) return text + "\nno split: " + d.split_problem + "\n";
  report::Table splits({{"split"}, {"rows"}, {"windows"}, {"from"}, {"to"}});
  for (const data::SplitLine& line : d.splits)
    splits.add_row({line.name, line.rows, line.windows, line.first_time, line.last_time});
  return text + fmt::format("\nsplit: {}\n", d.split_rule) + splits.to_text();
}

report::HtmlPage ForecastRun::page(const Json& metrics) {
  const data::Series& series = data.series;
  report::HtmlPage page =
      open_page(*this, {fs::path(series.source).filename().string(),
                        "Forecasting run",
                        {{"data", fmt::format("{}: {} × {} rows", series.source,
                                              data::modes_text(series.modes), series.rows())}},
                        {{"window", fmt::format("lookback {}, horizon {}", config.forecast.lookback,
                                                config.forecast.longest())}}});
  add_tables(page, tables(metrics));
  if (fs::exists(folder().file("predictions.npz")))
    add_forecasts(page, read_predictions(folder().file("predictions.npz")));
  add_curves(page, folder(), metrics);
  std::vector<NamedMode> modes;
  for (const data::SeriesMode& mode : series.modes) modes.push_back({mode.name, mode.labels});
  modes.push_back({"time patches"});
  const std::string part = evaluated_part(metrics);
  add_attention(page, factors_of(*this, part), {fmt::format("the last {} window", part), "tensor"}, modes);
  add_calibration(page, metrics);
  return page;
}

const Comparison& forecast_comparison() {
  using Best = report::Column::Best;
  // Only runs on panels have them.
  const auto of_panels = [](Comparison::Figure figure) {
    figure.where_any = true;
    return figure;
  };
  Comparison::Figure crps({"CRPS", Best::lowest}, "/test/quantiles/crps", 4);
  crps.levels = crps_levels;
  static const Comparison comparison = {{of_panels({{"MASE", Best::lowest}, "/test/mase", 4}),
                                         of_panels({{"RMSSE", Best::lowest}, "/test/rmsse", 4}),
                                         of_panels({{"validation MASE"}, "/best/val_mase", 4}),
                                         {{"MSE", Best::lowest}, "/test/scaled/mse", 4},
                                         {{"MAE", Best::lowest}, "/test/scaled/mae", 4},
                                         {{"validation MSE"}, "/best/val_mse", 4},
                                         crps,
                                         {{"coverage 80 %"}, coverage(0.8), 3},
                                         {{"coverage 95 %"}, coverage(0.95), 3}},
                                        {{"mase", "/test/mase"},
                                         {"rmsse", "/test/rmsse"},
                                         {"validation_mase", "/best/val_mase"},
                                         {"mse", "/test/scaled/mse"},
                                         {"mae", "/test/scaled/mae"},
                                         {"validation_mse", "/best/val_mse"},
                                         {"validation_mae", "/best/val_mae"},
                                         {"crps", "/test/quantiles/crps"},
                                         {"coverage_80", coverage(0.8)},
                                         {"coverage_95", coverage(0.95)}},
                                        "Comparison of forecasters",
                                        "Errors on the test rows",
                                        draw_forecasters,
                                        {"forecast.evaluation_batch"},
                                        forecast_title};
  return comparison;
}

}  // namespace modewise::tasks
