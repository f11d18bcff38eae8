#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "modewise/analysis/forecaster_cost.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/output_file.h"
#include "modewise/core/stop_signal.h"
#include "modewise/data/forecasting/describe.h"
#include "modewise/data/forecasting/future_covariates.h"
#include "modewise/data/forecasting/load_series.h"
#include "modewise/tasks/forecasting/candidates.h"
#include "modewise/tasks/forecasting/choose_defaults.h"
#include "modewise/tasks/forecasting/members.h"
#include "modewise/tasks/forecasting/predict.h"
#include "modewise/tasks/forecasting/report.h"
#include "modewise/tasks/forecasting/run.h"
#include "modewise/tasks/forecasting/spec.h"
#include "modewise/tasks/load_config.h"
#include "modewise/tasks/same_work.h"
#include "modewise/tasks/test_split.h"
#include "modewise/tasks/training.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class ForecastJob final : public ConfiguredTraining<ForecastConfig> {
 public:
  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config_ = tasks::load_config<ForecastConfig>(file, assignments);
    require(!config_.data.path.empty() || !config_.data.simulate.empty(), ErrorKind::usage,
            "no data: give --data FILE, or --set data.simulate=lorenz96");
    take_members(config_);
  }

  void load_data() override {
    data_ = load_forecast_data(config_);
    models::validate(config_.model, config_.model_shape(data_.series));
  }

  Json describe_data() const override { return to_json(summarize(data_)); }

  void announce() const override {
    for (const std::string& note : data_.series.notes) spdlog::info("{}", note);
    print_warnings(data_.series);
    if (!data_.chosen.empty()) spdlog::info("{}", data_.chosen);
    for (const std::string& note : data_.scaler.notes) spdlog::warn("{}", note);
    spdlog::info("{}: {} × {} rows ({}); windows: {} train, {} validation, {}; model {}", data_.series.source,
                 modes_text(data_.series), data_.series.rows(), data_.splits.rule, data_.windows.train.size(),
                 data_.windows.validation.size(),
                 test_count(reads_test(), static_cast<size_t>(data_.windows.test.size())),
                 model_title(config_));
  }

  analysis::ModelCost cost() const override {
    return analysis::forecaster_cost(config_.model, config_.model_shape(data_.series));
  }

  TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    return train_forecast(config_, data_, folder, resume, accept_changes);
  }

  void write_report(const train::RunFolder& folder) override {
    write_forecast_report(open_forecast_run(folder.path()), data_, folder.file("report.html"));
  }

  std::string summary(const Json& metrics) const override {
    return forecast_text(metrics[evaluated_part(metrics)], false);
  }

 private:
  ForecastData data_;
};

Result evaluate(const EvaluateRequest& options) {
  const ForecastRun run = open_forecast_run(options.run);
  const ForecastData data =
      options.split == "all" ? load_run_rows(run, options.data) : load_run_data(run, options.data);
  require_same_work(run.folder, options.split, data.hash);
  if (options.data.empty() && options.split == "test" && test_is_unread(run.folder)) {
    const Json result = evaluate_left_out_test(run, data);
    return train::workers().is_rank_zero() ? Result(result, forecast_text(result, options.detail)) : Result();
  }
  const metrics::ForecastErrors errors = evaluate_forecaster(
      run.forecaster(), data, windows_of(data.windows, options.split), {}, train::workers());
  if (!train::workers().is_rank_zero()) return {};
  const Json result = evaluation_json(options.split, errors, run.config.forecast, data.series);
  return {result, forecast_text(result, options.detail)};
}

Result predict(const PredictRequest& options) {
  const fs::path out = options.out;
  const bool npz = wants_npz(options.out);
  require_new(out, options.force);
  const ForecastRun run = open_forecast_run(options.run);
  data::Series series = load_run_series(run, options.data);
  require_same_work(run.folder, std::to_string(options.steps), hash_of(series));
  if (!train::workers().is_rank_zero()) return {};  // one batch
  if (!options.future.empty())
    data::take_future(series, run_series_config(run, ""), options.future, run.config.window().horizon);
  const Forecast forecast = predict_beyond(run, series, options.steps);
  throw_if_stopped();
  const std::string file = npz ? to_npz(forecast) : to_csv(forecast, options.csv_reader);
  if (!out.empty()) {
    write_file_atomically(out, file);
    spdlog::info("{}: {} rows from {} to {}, {} series, after the last row of {}", options.out,
                 forecast.steps(), forecast.times.front(), forecast.times.back(), forecast.names.size(),
                 series.source);
  }
  Json json = to_json(forecast);
  if (out.empty()) return {std::move(json), file};
  json["file"] = options.out;
  return {std::move(json), ""};
}

void write_report(const std::string& path, const std::string& data, const fs::path& out) {
  const ForecastRun run = open_forecast_run(path);
  const bool unread = data.empty() && test_is_unread(run.folder);
  ForecastConfig config = run.config;
  write_forecast_report(run, unread ? load_forecast_data(config) : load_run_data(run, data), out);
}

Explanation explain(const ExplainRequest& options) {
  const ForecastRun run = open_forecast_run(options.run);
  return explain_forecast(run, load_run_data(run, options.data), options.options);
}

Result describe_data(const std::string& file, const std::vector<std::string>& assignments) {
  ForecastConfig config = load_config<ForecastConfig>(file, assignments);
  require(!config.data.path.empty() || !config.data.simulate.empty(), ErrorKind::usage,
          "no data: give a file, or --set data.simulate=lorenz96");
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
    .summary = "Trains a forecaster, calibrates its intervals, and evaluates it on the test rows.",
    .example = "modewise train forecast --data ETTh1.csv",
    .data_help = "data file or folder: CSV, numeric text, NPY, NPZ (data.path)",
    .model_help = "model (model.name): hot, dlinear, patchtst, repeat, …, or auto (selected by validation)",
    .options = {{"--init", "init", "initial weights: a .safetensors file, or a run of the same model"}},
    .in_shares = true,
    .validation = {{"/best/val_mse", "validation MSE"}, {"/best/val_mae", "validation MAE"}},
    .defaults = default_config<ForecastConfig>,
    .config = any_config<load_config<ForecastConfig>>,
    .candidates = forecast_candidates,
    .ensemble = {"model.name=ensemble", "model.ensemble.runs={runs}", "model.ensemble.splits={splits}"},
    .splits = forecast_splits,
    .refit = forecast_refit,
    .training = make_training<ForecastJob>,
    .evaluate = evaluate,
    .predict = predict,
    .write_report = write_report,
    .comparison = forecast_comparison,
    .explain = explain,
    .describe_data = describe_data,
};

}  // namespace modewise::tasks
