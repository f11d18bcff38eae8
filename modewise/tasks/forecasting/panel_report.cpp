#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/report/table.h"
#include "modewise/tasks/forecasting/panel_run.h"
#include "modewise/tasks/run/run_figures.h"
#include "modewise/tasks/run/run_report.h"
#include "modewise/tasks/run/test_split.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using report::Cell;

/// "MASE (season 7)"; evaluations of earlier versions do not name the season.
std::string mase_title(const Json& evaluation) {
  return evaluation.contains("season")
             ? fmt::format("MASE (season {})", evaluation.at("season").get<int64_t>())
             : "MASE";
}

}  // namespace

std::vector<ResultTable> PanelRun::tables(const Json& metrics) const {
  const Json parts = evaluated_parts(metrics);
  Json row = parts.at(parts.size() - 1);
  const auto split = row.at("split").get<std::string>();
  std::vector<JsonColumn> columns = {
      {mase_title(row), "mase", 4}, {"RMSSE", "rmsse", 4}, {"SMAPE %", "smape", 2}};
  if (row.contains("wql")) {
    columns.push_back({"WQL", "wql", 4});
    for (size_t i = 0; i < row.at("intervals").size(); ++i)
      columns.push_back({fmt::format("coverage {:g} % ", 100 * number(row.at("intervals").at(i), "nominal")),
                         fmt::format("intervals/{}/coverage", i), 1, 100});
  }
  std::vector<ResultTable> tables = {
      {fmt::format("Errors on the {} windows", split),
       fmt::format("Means over {} windows. MASE and RMSSE are relative to naive forecasts within the rows "
                   "before: of the row a season before, and of the row before.",
                   Cell::count(row.at("windows")).text()),
       json_table(columns, Json::array({row}))}};
  tables.front().line =
      fmt::format("{}: {} windows of {} series, lookback {}, horizon {}\n\n", split,
                  Cell::count(row.at("windows")).text(), Cell::count(row.at("series")).text(),
                  row.at("lookback").get<int64_t>(), row.at("horizon").get<int64_t>());
  for (const char* part : {"best", "median", "worst"})
    tables.push_back(
        {"",
         fmt::format("Series with the {} MASE.", part),
         json_table({{fmt::format("{} series", part), "name"}, {"MASE", "mase", 4}}, row.at(part)),
         {},
         true});
  return tables;
}

report::HtmlPage PanelRun::page(const Json& metrics) {
  report::HtmlPage page =
      open_page(*this, {fs::path(panel.source).filename().string(),
                        "Forecasting run on a panel",
                        {{"data", fmt::format("{}: {}", panel.source, panel_text())}},
                        {{"window", fmt::format("lookback {}, horizon {}", config.forecast.lookback,
                                                config.forecast.longest())}}});
  add_tables(page, tables(metrics));
  const PanelForecaster by = forecaster();
  const CalibratedForecaster with = calibrated();
  const Json& evaluation = metrics.at(evaluated_part(metrics));
  const int64_t horizon = config.window().horizon;
  const auto time = [&](int64_t s, int64_t row) { return static_cast<double>(panel.time_at(s, row)); };
  const auto figure_of = [&](const data::PanelWindow& window) {
    const ForecastBlock block = by.forecast(std::span(&window, 1));
    const std::vector<float> quantiles = with.quantiles(block);
    const size_t levels = with.levels().size();
    report::LineSeries truth, forecast;
    truth.label = "truth";
    truth.color = report::kInkColor;
    const int64_t width = panel.variables(), begin = panel.offsets[static_cast<size_t>(window.series)];
    for (int64_t row = std::max<int64_t>(window.origin - 3 * horizon, 0);
         row < std::min(window.origin + horizon, panel.rows(window.series)); ++row) {
      const int64_t cell = (begin + row) * width;
      const bool seen = !panel.observed.defined() || panel.observed.const_data_ptr<bool>()[cell];
      truth.x.push_back(time(window.series, row));
      truth.y.push_back(seen ? panel.values.const_data_ptr<double>()[cell] : std::nan(""));
    }
    forecast.label = "forecast";
    report::Band band{
        {},
        {},
        levels > 1 ? fmt::format("{:.3g} %", 100 * (with.levels().back() - with.levels().front())) : ""};
    for (int64_t step = 0; step < horizon; ++step) {
      const auto at = static_cast<size_t>(step);
      forecast.x.push_back(time(window.series, window.origin + step));
      forecast.y.push_back(by.to_units(floats(block.forecast)[at], window.series, 0));
      if (levels < 2) continue;
      band.lower.push_back(by.to_units(quantiles[at * levels], window.series, 0));
      band.upper.push_back(by.to_units(quantiles[at * levels + levels - 1], window.series, 0));
    }
    if (levels > 1) forecast.bands.push_back(std::move(band));
    report::LineChart chart;
    chart.title = panel.name(window.series);
    if (panel.clock.dated) chart.x.scale = report::AxisScale::date;
    chart.series = {std::move(truth), std::move(forecast)};
    return chart;
  };
  for (const char* part : {"best", "median", "worst"}) {
    std::vector<report::CaptionedFigure> figures;
    for (const Json& one : evaluation.at(part))
      figures.push_back({figure_of({one.at("series").get<int64_t>(), one.at("origin").get<int64_t>()}),
                         fmt::format("MASE {:.3f}", number(one, "mase"))});
    page.add_section(fmt::format("Forecasts of the series with the {} MASE", part));
    if (!figures.empty()) page.add_figure_grid(figures);
  }
  add_learning(
      page, folder(),
      {{"Learning curves",
        {"val_mase", "val_mse", "val_mae", {"train_loss", "training loss", LearningCurve::Style::dashed}},
        "best " + metrics.value("criterion", "")}});
  return page;
}

}  // namespace modewise::tasks
