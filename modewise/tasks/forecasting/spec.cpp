#include "modewise/tasks/forecasting/spec.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/output_file.h"
#include "modewise/core/stop_signal.h"
#include "modewise/data/forecasting/describe.h"
#include "modewise/data/forecasting/future_covariates.h"
#include "modewise/data/forecasting/load_series.h"
#include "modewise/data/forecasting/sources.h"
#include "modewise/tasks/forecasting/candidates.h"
#include "modewise/tasks/forecasting/choose_defaults.h"
#include "modewise/tasks/forecasting/members.h"
#include "modewise/tasks/forecasting/panel_describe.h"
#include "modewise/tasks/forecasting/panel_run.h"
#include "modewise/tasks/forecasting/predict.h"
#include "modewise/tasks/forecasting/report.h"
#include "modewise/tasks/forecasting/run.h"
#include "modewise/tasks/run/commands.h"
#include "modewise/tasks/run/load_config.h"
#include "modewise/tasks/run/same_work.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;

/// Usage error if several horizons replace a given one.
void require_one_horizon(const ForecastConfig& config, const std::vector<std::string>& given) {
  const ForecastOptions& forecast = config.forecast;
  const bool has_one =
      std::ranges::any_of(given, [](const std::string& one) { return one.starts_with("forecast.horizon="); });
  require(
      !has_one || forecast.horizon == 0 || forecast.horizon == forecast.longest(), ErrorKind::usage,
      "--horizon {} (forecast.horizon) contradicts forecast.horizons = [{}], which replace it: give one of "
      "them",
      forecast.horizon, fmt::join(forecast.horizons, ", "));
}

/// Config error for settings of panels on one tensor, of one tensor on a panel, and of arrays on a table.
void refuse_settings_of_others(const ForecastConfig& config) {
  const ForecastConfig usual;
  const bool panel = config.data.panel == "yes";
  const auto [array, axis] = std::pair(!config.data.array.empty(), config.data.time_axis != 0);
  const bool table = (array || axis) && data::reads_table(config.data);
  struct Row {
    const char* key;
    bool refused;
    const char *owner, *found, *advice;
  };
  constexpr const char* kAsPanel = "set data.panel = yes";
  const Row rows[] = {
      {"data.split_windows", !panel && config.data.split_windows != usual.data.split_windows, "panels",
       "one tensor", kAsPanel},
      {"data.test_windows", !panel && config.data.test_windows > 0, "panels", "one tensor", kAsPanel},
      {"output.predictions",
       panel && config.output.predictions > 0 && config.output.predictions != usual.output.predictions,
       "one tensor", "a panel", "set data.panel = no"},
      {"data.array", table && array, "NPZ files", "a table", "name an NPZ file"},
      {"data.time_axis", table && axis, "arrays (NPY, NPZ)", "a table", "name an array"}};
  for (const Row& row : rows)
    require(!row.refused, ErrorKind::config, "{} is for {}, and the data are read as {}: leave it out, or {}",
            row.key, row.owner, row.found, row.advice);
}

/// A run on a panel or on one tensor; for a new training the table decides, if data.panel is auto.
std::unique_ptr<Run> create(const Settings& settings) {
  auto config = load_config<ForecastConfig>(settings);
  require_one_horizon(config, settings.assignments);
  data::PanelChoice choice{config.data.panel == "yes", "", {}};
  if (settings.training) {
    if (config.data.panel == "auto") config.data.panel = panel_of(config);
    choice = data::choose_panel(config.data);
    if (!choice.reason.empty()) spdlog::info("{}", choice.reason);
    config.data.panel = choice.panel ? "yes" : "no";
    refuse_settings_of_others(config);
  }
  if (choice.panel) return std::make_unique<PanelRun>(std::move(config), std::move(choice.table));
  return std::make_unique<ForecastRun>(std::move(config));
}

/// Logs how many series of other data the training did not have: ids may be written in another way.
void note_new_series(const PanelRun& run, const data::Panel& panel) {
  const std::optional<PanelChanges> found = run.changes(panel);
  if (found && !found->added.empty())
    spdlog::info("{}: {} of {} series are new, the training had none of these ids: {}", panel.source,
                 found->added.size(), panel.series(), data::first_names(found->added));
}

Result predict_series(const PanelRun& run, const PredictRequest& request) {
  data::Panel panel = run.load_panel(request.data);
  for (const std::string& warning : panel.warnings) spdlog::warn("{}: {}", panel.source, warning);
  require_same_work(run.folder(), std::to_string(request.steps), data::hash_of(panel));
  if (request.data.empty())
    run.warn_of_changes(panel);
  else
    note_new_series(run, panel);
  if (!train::workers().is_rank_zero()) return {};
  const int64_t horizon = run.config.window().horizon;
  if (!request.future.empty()) data::take_future(panel, run.series_config(), request.future, horizon);
  data::require_future_covariates(panel, horizon);
  std::vector<int64_t> rows;
  for (int64_t s = 0; s < panel.series(); ++s) rows.push_back(panel.rows(s));
  const PanelForecaster forecaster = run.forecaster(panel, rows);
  const CalibratedForecaster calibrated = run.calibrated();
  const std::string header = csv_header(calibrated.levels(), panel, request.csv_reader);
  if (request.out.empty()) {
    const PanelForecast forecast = predict_panel(forecaster, calibrated, request.steps);
    throw_if_stopped();
    return {to_json(forecast, panel), header + to_csv(forecast, panel, request.csv_reader)};
  }
  if (wants_npz(request.out)) {
    const PanelForecast forecast = predict_panel(forecaster, calibrated, request.steps);
    throw_if_stopped();
    write_file_atomically(request.out, to_npz(forecast, panel));
  } else {
    OutputFile file(request.out);
    file.write(as_bytes(header));
    predict_panel(forecaster, calibrated, request.steps, [&](const PanelForecast& part) {
      file.write(as_bytes(to_csv(part, panel, request.csv_reader)));
    });
    throw_if_stopped();
    file.finish();
  }
  const int64_t steps = request.steps == 0 ? horizon : request.steps;
  spdlog::info("{}: {} rows after the last row of each of {} series of {}", request.out, steps,
               panel.series(), panel.source);
  return {{{"file", request.out}, {"steps", steps}, {"series_count", panel.series()}}, ""};
}

Result predict(Run& opened, const PredictRequest& request) {
  if (const auto* panel = dynamic_cast<PanelRun*>(&opened)) return predict_series(*panel, request);
  const auto& run = as<ForecastRun>(opened);
  RunSeries rows = load_run_series(run, request.data);
  require_same_work(run.folder(), std::to_string(request.steps), rows.hash);
  if (request.data.empty()) warn_of_changes(run, rows);
  data::Series& series = rows.series;
  if (!train::workers().is_rank_zero()) return {};  // one batch
  if (!request.future.empty())
    data::take_future(series, run_series_config(run, ""), request.future, run.config.window().horizon);
  const Forecast forecast = predict_beyond(run, series, request.steps);
  throw_if_stopped();
  const std::string file = wants_npz(request.out) ? to_npz(forecast) : to_csv(forecast, request.csv_reader);
  Json json = to_json(forecast);
  if (request.out.empty()) return {std::move(json), file};
  write_file_atomically(request.out, file);
  spdlog::info("{}: {} rows from {} to {}, {} series, after the last row of {}", request.out,
               forecast.steps(), forecast.times.front(), forecast.times.back(), forecast.names.size(),
               series.source);
  json["file"] = request.out;
  return {std::move(json), ""};
}

Result describe_data(const Settings& settings) {
  auto config = load_config<ForecastConfig>(settings);
  require(!config.data.path.empty() || !config.data.simulate.empty(), ErrorKind::usage,
          "no data: give a file, or --set data.simulate=lorenz96");
  if (data::PanelChoice choice = data::choose_panel(config.data); choice.panel)
    return describe_panel(std::move(config), std::move(choice));
  const data::Series series = data::load_series(config.data);
  print_warnings(series);
  const int64_t rows = series.rows(), train = rows * 7 / 10, test = rows * 8 / 10;
  choose_defaults(config, series, {{0, train}, {train, test}, {test, rows}, ""});
  const data::Description description = data::describe(series, config.data, config.window());
  return {to_json(description), description_text(description)};
}

}  // namespace

const TaskSpec forecasting_spec = {
    .name = "forecasting",
    .command = "forecast",
    .subject = "a forecaster",
    .summary = "Trains a forecaster, calibrates its intervals, and evaluates it on the test rows.",
    .example = "modewise train forecast --data ETTh1.csv",
    .data_help = "data file or folder: CSV, numeric text, NPY, NPZ (data.path)",
    .model_help = "model (model.name): hot, dlinear, patchtst, repeat, …, or auto (selected by validation)",
    .options = {{"--horizon", "forecast.horizon", "rows to forecast; 0: from the time step of the data"},
                {"--lookback", "forecast.lookback", "rows that a forecast reads; 0: from the data"},
                {"--init", "init", "initial weights: a .safetensors file, or a run of the same model"}},
    .in_shares = true,
    .validation = {{"/best/val_mse", "validation MSE"}, {"/best/val_mae", "validation MAE"}},
    .create = create,
    .describe_data = describe_data,
    .comparison = forecast_comparison,
    .predict = {.predict = predict, .steps = true},
    .explain = explain_forecast,
    .search = Search{.choose = forecast_choices,
                     .candidates = forecast_candidates,
                     .ensemble = {"model.name=ensemble", "model.ensemble.runs={runs}",
                                  "model.ensemble.splits={splits}"},
                     .splits = forecast_splits,
                     .refit = forecast_refit},
};

}  // namespace modewise::tasks
