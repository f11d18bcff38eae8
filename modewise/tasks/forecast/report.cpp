#include "modewise/tasks/forecast/report.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/report/html_page.h"
#include "modewise/tasks/forecast/figures.h"
#include "modewise/tasks/run_figures.h"
#include "modewise/tasks/test_part.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using report::Cell;

constexpr int64_t kWindowsShown = 2;

void add_facts(report::HtmlPage& page, const ForecastRun& run, const ForecastData& data) {
  std::string shape;
  for (const data::SeriesMode& mode : data.series.modes)
    shape += fmt::format("{}{} {}", shape.empty() ? "" : " × ", mode.labels.size(), mode.name);
  add_run_facts(page, run.folder);
  page.add_fact("data", fmt::format("{}: {} × {} rows", data.series.source, shape, data.series.rows()));
  page.add_fact("model", model_fact(model_title(run.config), *run.model));
  page.add_fact("window", fmt::format("lookback {}, horizon {}", run.config.forecast.lookback,
                                      run.config.forecast.longest()));
  page.add_fact("seed", std::to_string(run.config.train.seed));
}

void add_errors(report::HtmlPage& page, const Json& evaluation, const std::string& part) {
  page.add_section(fmt::format("Errors on the {} rows", part));
  report::Table table({{"horizon"}, {"MSE"}, {"MAE"}, {"RMSE"}, {"SMAPE %"}});
  for (const auto& [steps, errors] : evaluation["horizons"].items())
    table.add_row({steps, Cell(number(errors, "mse"), 4), Cell(number(errors, "mae"), 4),
                   Cell(number(errors, "rmse"), 4), Cell(number(errors, "smape"), 2)});
  page.add_table(
      table, fmt::format("{} windows, each value scaled by the mean and deviation of its series' training "
                         "rows; missing targets are not counted.",
                         Cell::count(evaluation["windows"]).text()));
  if (!evaluation.contains("quantiles")) return;
  report::Table intervals({{"interval"}, {"holds"}, {"mean width"}, {"mean width in units"}});
  const Json& scaled = evaluation["quantiles"]["intervals"];
  for (size_t i = 0; i < scaled.size(); ++i)
    intervals.add_row({fmt::format("{:.3g} %", 100 * number(scaled[i], "nominal")),
                       Cell::number(number(scaled[i], "coverage"),
                                    fmt::format("{:.1f} %", 100 * number(scaled[i], "coverage"))),
                       Cell(number(scaled[i], "width"), 3),
                       Cell(number(evaluation["quantiles_units"]["intervals"][i], "width"), 3)});
  page.add_table(intervals, fmt::format("Share of the {} targets inside each interval. CRPS {:.4f}.", part,
                                        number(evaluation["quantiles"], "crps")));
}

void add_forecasts(report::HtmlPage& page, const KeptPredictions& kept) {
  page.add_section("Forecasts against truth");
  for (const int64_t window : spread_samples(kept.windows, kWindowsShown)) {
    std::vector<report::CaptionedFigure> figures;
    for (const int64_t series : spread_samples(kept.series, kSeriesShown))
      figures.push_back({forecast_figure(kept, window, series), ""});
    page.add_figure_grid(figures);
  }
}

void add_curves(report::HtmlPage& page, const train::RunFolder& folder, const Json& metrics) {
  const auto lines = folder.read_metric_lines();
  const Json& test = metrics[judged_part(metrics)];
  if (lines.size() > 1) {
    page.add_section("Learning");
    page.add_figure(learning_figure(lines, metrics.value("criterion", "")));
  }
  page.add_section("Error by step");
  std::vector<report::CaptionedFigure> figures = {
      {by_step_figure({{"MSE", &test}}, "mse", "MSE by steps ahead"), ""},
      {by_step_figure({{"MAE", &test}}, "mae", "MAE by steps ahead"), ""}};
  if (!test["by_step"].empty())
    for (const auto& [key, value] : test["by_step"][0].items())
      if (key.starts_with("coverage_"))
        figures.push_back({by_step_figure({{"covered", &test}}, key,
                                          fmt::format("Share inside the {} % interval", key.substr(9))),
                           ""});
  page.add_figure_grid(figures);
  page.add_section("Error by series");
  page.add_figure(by_series_figure(test));
}

void add_attention(report::HtmlPage& page, const ForecastRun& run, const ForecastData& data,
                   const std::string& part) {
  const at::NoGradGuard no_grad;
  const data::WindowSet& windows = part == "test" ? data.windows.test : data.windows.validation;
  const int64_t window = windows.size() - 1;
  const data::WindowBatch batch = data.source.gather(windows, std::span(&window, 1));
  const auto layers = run.model->attention({batch.past, batch.past_observed, batch.first_step}).maps;
  if (layers.empty()) return;
  page.add_section("What attends to what");
  page.add_paragraph(fmt::format(
      "Factors S_i of the last {} window: one small matrix a layer, mode and head. A row shows where one "
      "position of the mode looks; rows sum to 1. Attention over the whole tensor is the Kronecker product "
      "(or sum) of them.",
      part));
  for (size_t layer = 0; layer < layers.size(); ++layer)
    for (size_t i = 0; i < layers[layer].factors.size(); ++i) {
      const at::Tensor& factor = layers[layer].factors[i];
      if (!factor.defined() || factor.size(-1) < 2) continue;
      const auto mode = static_cast<size_t>(layers[layer].modes[i]);
      const bool time = mode >= data.series.modes.size();
      const std::string name = time ? "time patches" : data.series.modes[mode].name;
      const std::string title = fmt::format("Layer {}, {}", layer + 1, name);
      if (factor.size(-1) > kLargestFactor) {
        page.add_paragraph(fmt::format("{}: {} positions, too many to draw.", title, factor.size(-1)));
        continue;
      }
      page.add_figure(attention_figure(factor, title,
                                       time ? std::vector<std::string>{} : data.series.modes[mode].labels));
    }
}

void add_calibration(report::HtmlPage& page, const Json& metrics) {
  if (!metrics.contains("calibration")) return;
  const Json& calibration = metrics["calibration"];
  page.add_section("How the intervals were calibrated");
  page.add_paragraph(
      "Each half of the validation windows checks the margins made from the other half; the way with the "
      "smallest gap "
      "between promised and found coverage was taken. The test rows took no part.");
  std::vector<report::Column> columns = {{"margins grow with"}, {"sides"}};
  for (const Json& nominal : calibration["nominal"])
    columns.push_back({fmt::format("{:.3g} % held", 100 * nominal.get<double>())});
  columns.push_back({"gap", report::Column::Best::lowest});
  report::Table table(columns);
  for (const Json& trial : calibration["trials"]) {
    const double exponent = number(trial, "exponent");
    std::vector<Cell> cells = {
        exponent == 0 ? std::string("nothing") : fmt::format("deviation^{:g}", exponent),
        trial.value("shared_sides", true) ? "shared" : "own"};
    for (const Json& coverage : trial["coverage"]) cells.emplace_back(coverage.get<double>(), 3);
    cells.emplace_back(number(trial, "gap"), 4);
    table.add_row(std::move(cells));
  }
  page.add_table(table);
}

}  // namespace

void write_forecast_report(const ForecastRun& run, const ForecastData& data, const fs::path& out) {
  const Json metrics = run.folder.read_metrics();
  require_judged(metrics, run.folder);
  const std::string part = judged_part(metrics);
  report::HtmlPage page(
      fmt::format("{} on {}", model_title(run.config), fs::path(data.series.source).filename().string()),
      "Forecasting run");
  add_facts(page, run, data);
  add_errors(page, metrics[part], part);
  if (fs::exists(run.folder.file("predictions.npz")))
    add_forecasts(page, read_predictions(run.folder.file("predictions.npz")));
  add_curves(page, run.folder, metrics);
  add_attention(page, run, data, part);
  add_calibration(page, metrics);
  page.add_section("Settings");
  page.add_preformatted(run.folder.read_config(), "config.toml");
  page.write(out);
}

}  // namespace modewise::tasks
