#include "modewise/tasks/forecast/report.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "modewise/tasks/forecast/figures.h"
#include "modewise/tasks/run_report.h"
#include "modewise/tasks/test_part.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using report::Cell;

constexpr int64_t kWindowsShown = 2;

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
  const Json& test = metrics[judged_part(metrics)];
  add_learning(
      page, folder,
      {{"Learning curves",
        {"val_mse", "val_mae", "val_pinball", {"train_loss", "training loss", LearningCurve::Style::dashed}},
        "best " + metrics.value("criterion", "")}});
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

std::vector<models::ModeMaps> factors_of(const ForecastRun& run, const ForecastData& data,
                                         const std::string& part) {
  const at::NoGradGuard no_grad;
  const data::WindowSet& windows = part == "test" ? data.windows.test : data.windows.validation;
  const int64_t window = windows.size() - 1;
  const data::WindowBatch batch = data.source.gather(windows, std::span(&window, 1));
  return run.model->attention({batch.past, batch.past_observed, batch.first_step}).maps;
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
  const Json metrics = judged_metrics(run.folder);
  const std::string part = judged_part(metrics);
  const data::Series& series = data.series;
  report::HtmlPage page = open_page(
      run, {fs::path(series.source).filename().string(),
            "Forecasting run",
            {{"data", fmt::format("{}: {} × {} rows", series.source, modes_text(series), series.rows())}},
            {{"window", fmt::format("lookback {}, horizon {}", run.config.forecast.lookback,
                                    run.config.forecast.longest())}}});
  add_errors(page, metrics[part], part);
  if (fs::exists(run.folder.file("predictions.npz")))
    add_forecasts(page, read_predictions(run.folder.file("predictions.npz")));
  add_curves(page, run.folder, metrics);
  std::vector<NamedMode> modes;
  for (const data::SeriesMode& mode : series.modes) modes.push_back({mode.name, mode.labels});
  modes.push_back({"time patches"});
  add_attention(page, factors_of(run, data, part), {fmt::format("the last {} window", part), "tensor"},
                modes);
  add_calibration(page, metrics);
  write_page(page, run.folder, out);
}

}  // namespace modewise::tasks
