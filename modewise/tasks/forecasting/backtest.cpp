#include "modewise/tasks/forecasting/backtest.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/output_file.h"
#include "modewise/core/stop_signal.h"
#include "modewise/tasks/forecasting/forecast_csv.h"
#include "modewise/tasks/forecasting/panel_changes.h"
#include "modewise/tasks/forecasting/predict.h"
#include "modewise/tasks/forecasting/spec.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/tasks/run/result_tables.h"
#include "modewise/tasks/run/same_work.h"
#include "modewise/tasks/run/test_split.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kHistory = 2;  // rows of a series before a window

/// Columns of a row per origin, with the coverage of each interval.
report::Table origin_table(std::vector<JsonColumn> columns, const Json& result) {
  const Json intervals = result.value("intervals", Json::array());
  for (size_t i = 0; i < intervals.size(); ++i) {
    const double nominal = intervals[i]["nominal"];
    columns.push_back({fmt::format("coverage {:g} %", std::round(1000 * nominal) / 10),
                       fmt::format("intervals/{}/coverage", i), 3});
  }
  report::Table table = json_table(columns, result["origins"]);
  Json all = result;
  all["time"] = fmt::format("all {}", result["origins"].size());
  table.add_rule();
  table.add_row(json_row(columns, all));
  return table;
}

/// Seasonal naive forecasts of the panel of `by`, without quantiles.
struct SeasonalNaive {
  SeasonalNaive(const PanelForecaster& of, int64_t season) : config(*of.config), by(of) {
    config.model = {};
    config.model.use_model("seasonal");
    config.model.name = "seasonal";
    config.model.period = season;
    config.forecast.loss = "mae";
    config.forecast.lookback = std::max(config.forecast.lookback, season);
    model = models::make_forecaster(config.model, panel_shape(config, of.panel->variables()), 0);
    by.model = model.get();
    by.config = &config;
    by.members.clear();
  }
  ForecastConfig config;
  std::shared_ptr<models::Forecaster> model;
  PanelForecaster by;
};

bool is_local(const PanelForecaster& by) {
  if (by.members.empty()) return by.model->local();
  return std::ranges::all_of(by.members,
                             [](const PanelModel& one) { return one.weight == 0 || one.model->local(); });
}

}  // namespace

Json backtest(const PanelRun& run, int64_t stride, int64_t windows, const std::string& split,
              const std::function<void(const std::string& rows)>& visit) {
  const data::Panel& panel = run.panel;
  const int64_t horizon = run.config.window().horizon, season = season_of(run.config, panel);
  if (stride == 0) stride = horizon;
  const PanelForecaster by = run.forecaster();
  const std::vector<data::PanelWindow>& of_split =
      split == "validation" ? run.splits.validation : run.splits.test;
  require(!of_split.empty(), ErrorKind::data, "{}: no series is long enough for a {} window", panel.source,
          split);
  std::vector<int64_t> begins(static_cast<size_t>(panel.series()), -1), ends(begins.size());
  for (const data::PanelWindow& window : of_split) {
    const auto s = static_cast<size_t>(window.series);
    if (begins[s] < 0) begins[s] = window.origin;
    ends[s] = window.origin + horizon;
  }
  if (windows == 0) {
    const int64_t rows = run.config.data.split_windows * horizon;
    windows = (rows - horizon) / stride + 1;
  }
  const CalibratedForecaster with = run.calibrated();
  SeasonalNaive naive(by, season);
  metrics::PanelErrors all(with.levels()), all_naive;
  Json origins = Json::array();
  for (int64_t number = 0; number < windows; ++number) {
    const int64_t before = horizon + (windows - 1 - number) * stride;
    std::vector<data::PanelWindow> chosen;
    for (int64_t s = 0; s < panel.series(); ++s) {
      const int64_t origin = ends[static_cast<size_t>(s)] - before;
      if (begins[static_cast<size_t>(s)] < 0 || origin < kHistory) continue;
      require(
          origin >= begins[static_cast<size_t>(s)] || is_local(by), ErrorKind::usage,
          "--windows {} --stride {}: the window of '{}' from row {} on begins before its {} rows, which the "
          "model was trained on: at most {} windows, or train with data.split_windows = {}",
          windows, stride, panel.name(s), origin, split,
          (ends[static_cast<size_t>(s)] - begins[static_cast<size_t>(s)] - horizon) / stride + 1,
          ((windows - 1) * stride + 2 * horizon - 1) / horizon);
      chosen.push_back({s, origin});
    }
    if (chosen.empty()) continue;
    metrics::PanelErrors one(with.levels()), one_naive;
    const auto part = [&](const ForecastBlock& block) {
      return std::span<const data::PanelWindow>(chosen).subspan(static_cast<size_t>(block.first_window),
                                                                static_cast<size_t>(block.windows()));
    };
    by.stream(
        chosen,
        [&](const ForecastBlock& block) {
          const std::vector<float> quantiles = with.quantiles(block);
          for (metrics::PanelErrors* errors : {&one, &all})
            by.add_errors(*errors, part(block), block, quantiles, season);
          if (visit)
            visit(windows_csv(by, part(block), block, quantiles, with.levels(), report::CsvReader::program));
        },
        1, train::workers());
    naive.by.stream(
        chosen,
        [&](const ForecastBlock& block) {
          for (metrics::PanelErrors* errors : {&one_naive, &all_naive})
            naive.by.add_errors(*errors, part(block), block, {}, season);
        },
        1, train::workers());
    Json row = {{"time", fmt::format("{} of {}, {} rows before the end", number + 1, windows, before)},
                {"rows", before}};
    row.update(one.to_json());
    row["seasonal_mase"] = one_naive.mase();
    origins.push_back(std::move(row));
  }
  if (!train::workers().is_rank_zero()) return {};
  require(!origins.empty(), ErrorKind::data, "{}: no series has rows for a window", panel.source);
  Json result = {{"split", split},
                 {"stride", stride},
                 {"lookback", run.config.forecast.lookback},
                 {"horizon", horizon},
                 {"season", season}};
  result.update(all.to_json());
  result["seasonal_mase"] = all_naive.mase();
  result["origins"] = std::move(origins);
  return result;
}

namespace {

constexpr const char* kOriginColumn = "forecast_from,";  // the column before those of predict

void add_rows(OutputFile& file, const std::string& text) {
  file.write(std::as_bytes(std::span(text)));
}

/// Bytes of the first row of a CSV, whose cells may have line breaks.
size_t header_size(std::string_view csv) {
  bool quoted = false;
  for (size_t i = 0; i < csv.size(); ++i) {
    if (csv[i] == '"') quoted = !quoted;
    if (csv[i] == '\n' && !quoted) return i + 1;
  }
  return csv.size();
}

Json backtest_panel(const PanelRun& run, const BacktestRequest& request, std::optional<OutputFile>& file) {
  if (!file) return backtest(run, request.stride, request.windows, request.split);
  add_rows(*file,
           kOriginColumn + csv_header(run.calibrated().levels(), run.panel, report::CsvReader::program));
  return backtest(run, request.stride, request.windows, request.split,
                  [&](const std::string& rows) { add_rows(*file, rows); });
}

Json backtest_tensor(const ForecastRun& run, const BacktestRequest& request,
                     std::optional<OutputFile>& file) {
  if (!file) return backtest(run, request.stride, request.split);
  bool begun = false;
  return backtest(run, request.stride, request.split, [&](const Forecast& forecast) {
    const std::string csv = to_csv(forecast), from = report::csv_cell(forecast.times.front()) + ",";
    const size_t rows = header_size(csv);
    if (!std::exchange(begun, true)) add_rows(*file, kOriginColumn + csv.substr(0, rows));
    add_rows(*file, prefixed_rows(std::string_view(csv).substr(rows), from));
  });
}

/// Logs that the rows of the run's file are split in another way than in its training.
void note_other_split(const ForecastRun& run) {
  const data::Series& series = run.data.series;
  const int64_t then = run.summary.time.length + run.summary.unread;
  if (series.rows() <= then || data_json_leaves_test_out(run.folder(), run.config.train)) return;
  const data::Splits before = data::make_splits(run.config.data, data::first_rows(series, then));
  if (before.test.begin != run.data.splits.test.begin)
    warn_of_other_test_rows(
        fmt::format("{} has {} rows, {} in the training: its test rows begin at {} now, they began at {}",
                    series.source, series.rows(), then, series.time.text_at(run.data.splits.test.begin),
                    series.time.text_at(before.test.begin)));
}

void note_other_split(const PanelRun& run) {
  if (data_json_leaves_test_out(run.folder(), run.config.train)) return;
  const std::optional<PanelChanges> changes = run.changes(run.panel);
  if (changes && changes->longer > 0)
    warn_of_other_test_rows(
        fmt::format("{} has more rows of {} of {} series than in the training: their test rows begin later "
                    "now",
                    run.panel.source, changes->longer, changes->trained));
}

}  // namespace

Result backtest_run(const BacktestRequest& request) {
  require(request.out.empty() || lower_extension(request.out) == ".csv", ErrorKind::usage,
          "--out must end in .csv, got '{}'", request.out);
  prepare_output(request.out, request.force);
  const std::unique_ptr<Run> run = open_run(forecasting_spec, request.run);
  if (request.data.empty() && request.split == "test")
    warn_of_unread_test(run->folder(), "this backtest reads its test rows");
  run->load({.path = request.data, .split = request.split});
  require_same_work(run->folder(), fmt::format("{} {}", request.stride, request.windows), run->hash());
  const auto* panel = dynamic_cast<PanelRun*>(run.get());
  require(panel != nullptr || request.windows == 0, ErrorKind::usage,
          "--windows is for runs on panels: {} forecasts all origins of the test rows", request.run);
  if (request.data.empty()) {
    if (panel != nullptr)
      note_other_split(*panel);
    else
      note_other_split(as<ForecastRun>(*run));
  }
  std::optional<OutputFile> file;
  if (!request.out.empty() && train::workers().is_rank_zero()) file.emplace(request.out);
  Json result = panel != nullptr ? backtest_panel(*panel, request, file)
                                 : backtest_tensor(as<ForecastRun>(*run), request, file);
  if (!train::workers().is_rank_zero()) return {};
  if (file) {
    throw_if_stopped();
    file->finish();
    spdlog::info("{}: forecasts from {} origins", request.out, result["origins"].size());
    result["file"] = request.out;
  }
  std::vector<JsonColumn> columns = {{"forecast from", "time"}};
  if (panel != nullptr) {
    const std::vector<JsonColumn> errors = {
        {"windows", "windows"},
        {fmt::format("MASE (season {})", result["season"].get<int64_t>()), "mase", 4},
        {"of seasonal naive", "seasonal_mase", 4},
        {"RMSSE", "rmsse", 4},
        {"SMAPE %", "smape", 2}};
    columns.insert(columns.end(), errors.begin(), errors.end());
    if (result.contains("wql")) columns.push_back({"WQL", "wql", 4});
  } else {
    const std::vector<JsonColumn> errors = {
        {"MSE", "scaled/mse", 4}, {"MAE", "scaled/mae", 4}, {"MAE of repeat", "repeat_mae", 4}};
    columns.insert(columns.end(), errors.begin(), errors.end());
  }
  std::string text = origin_table(std::move(columns), result).to_text();
  return {std::move(result), std::move(text)};
}

}  // namespace modewise::tasks
