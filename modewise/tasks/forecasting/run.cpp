#include "modewise/tasks/forecasting/run.h"

#include <ATen/ops/empty.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/data/forecasting/load_series.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/tasks/forecasting/choose_defaults.h"
#include "modewise/tasks/forecasting/empty_lookbacks.h"
#include "modewise/tasks/forecasting/naive_errors.h"
#include "modewise/tasks/forecasting/panel_changes.h"
#include "modewise/tasks/forecasting/prediction_store.h"
#include "modewise/tasks/forecasting/task.h"
#include "modewise/tasks/run/test_split.h"
#include "modewise/train/checkpoint/run_weights.h"
#include "modewise/train/checkpoint/tensor_file.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;

/// Data error for missing cells if the model was trained without masks.
void require_masks_fit(const ForecastRun& run, const data::Series& series) {
  require(!series.observed.defined() || run.summary.missing, ErrorKind::data,
          "{}: {} {} missing, but the run was trained on data without missing cells ({}), so its "
          "model does not accept them: fill them, or train on data with missing cells",
          series.source, counted(series.missing_cells(), "cell"), is_or_are(series.missing_cells()),
          run.summary.source);
}

using Rows = RunSeries::Rows;

/// The rows with the run's scaler, without a split: windows.test covers all of them.
ForecastData whole_data(const ForecastRun& run, RunSeries rows) {
  ForecastData data;
  data.series = std::move(rows.series);
  require_masks_fit(run, data.series);
  data::check_window(run.config.window(), data.series);
  data.splits.test = {0, data.series.rows()};
  data.splits.rule = "all rows";
  data.windows.test = data::WindowSet("all rows", data.splits.test, run.config.window(), false);
  data.scaler = run.summary.scaler;
  data.source = run_source(run.summary, run.config.data, data.series);
  data.hash = std::move(rows.hash);
  data.row_offset = phase_offset(run, data.series);
  return data;
}

Rows compare_rows(const ForecastRun& run, const data::Series& series, const std::string& hash) {
  const DataSummary& summary = run.summary;
  if (hash == summary.hash) return Rows::same;
  const int64_t rows = summary.time.length;
  if (series.rows() <= rows || hash_of(data::first_rows(series, rows)) != summary.hash) return Rows::others;
  if (!data_json_leaves_test_out(run.folder(), run.config.train)) return Rows::appended;
  const bool same = summary.unread > 0 ? series.rows() == rows + summary.unread
                                       : data::make_splits(run.config.data, series).validation.end == rows;
  return same ? Rows::same : Rows::appended;
}

/// Data error if the run's own rows are others than in its training.
void require_same_rows(const ForecastRun& run, const RunSeries& own) {
  const int64_t then = run.summary.time.length + run.summary.unread, now = own.series.rows();
  require(own.rows == Rows::same, ErrorKind::data,
          "{0} has changed since the training of {1}: {2} then, {3}{4}; --data {5} evaluates all rows of the "
          "file as it is now and leaves the results of the run as they are",
          own.series.source, run.folder().path().string(), counted(then, "row"),
          then == now ? "as many now, with other values" : counted(now, "row") + " now",
          then != now && own.rows == Rows::others ? ", with other values" : "",
          command_word(own.series.source));
}

/// Rows of training and validation: all before the test split.
int64_t rows_before_test(const ForecastRun& run, const data::TimeAxis& like) {
  if (data_json_leaves_test_out(run.folder(), run.config.train)) return run.summary.time.length;
  data::Series trained;
  trained.source = run.summary.source;
  trained.values = at::empty({run.summary.time.length, 0});
  trained.time = run.summary.time;
  trained.time.style = like.style;  // of ambiguous dates in data.split_dates
  try {
    return data::make_splits(run.config.data, trained).validation.end;
  } catch (
      const Error&) {  // an earlier version has evaluated the run and left the rows before the test split
    return run.summary.time.length;
  }
}

/// Logs that all rows of data other than the run's own are taken, and a warning of those with dates that it
/// was trained on.
void announce_others(const ForecastRun& run, const data::Series& series) {
  spdlog::info(
      "{}: {}, which are not the training data of the run ({}): all of them are used, without a split",
      series.source, counted(series.rows(), "row"), run.summary.source);
  const data::TimeAxis& trained = run.summary.time;
  if (!trained.dated || !series.time.dated) return;
  const int64_t known = rows_before_test(run, series.time), offset = row_offset(run.summary, series);
  const int64_t common = std::min(offset + series.rows(), known) - std::max<int64_t>(offset, 0);
  if (common > 0)
    spdlog::warn(
        "{}: {} of its {} have dates of the training and validation rows of the run (until {}), which makes "
        "its results too good",
        series.source, common, counted(series.rows(), "row"), trained.text_at(known - 1));
}

/// Loads the weights of `init`, a file or a run.
void start_from(const models::Forecaster& model, const fs::path& init) {
  const std::vector<train::NamedTensor> tensors = train::module_tensors(model);
  require(!tensors.empty(), ErrorKind::config, "init: this model has no weights to load from {}",
          init.string());
  if (fs::is_directory(init))
    train::load_weights(model, train::RunFolder::open(init));
  else
    train::load_tensors(init, tensors);
}

fs::path calibration_file(const ForecastRun& run) {
  return run.folder().file("calibration.npz");
}

/// Data error if the calibration is of another number of series or steps than the model's.
void require_calibration_fits(const ForecastRun& run) {
  if (!run.calibration) return;
  const models::ForecastShape& shape = run.model->shape();
  require(run.calibration->series == shape.series_count() && run.calibration->horizon == shape.horizon,
          ErrorKind::data, "{}: margins for {} series × {} steps, but the model forecasts {} × {}",
          calibration_file(run).string(), run.calibration->series, run.calibration->horizon,
          shape.series_count(), shape.horizon);
}

}  // namespace

void ForecastRun::load(const DataRequest& request) {
  if (request.training) {
    require(!config.data.path.empty() || !config.data.simulate.empty(), ErrorKind::usage,
            "no data: give --data FILE, or --set data.simulate=lorenz96");
    if (!has_folder()) refuse_idle_steps(config);
    take_members(config);
    data = load_forecast_data(config);
    require(!config.train.test || config.forecast.test_drop_last <= data.windows.test.size(),
            ErrorKind::config, "forecast.test_drop_last = {} needs as many test windows, and {} has {}",
            config.forecast.test_drop_last, data.series.source, data.windows.test.size());
    summary = summarize(data);
    models::validate(config.model, shape());
  } else if (request.moved && request.path.empty() && !request.with_test) {  // the rows of the training
    ForecastConfig copy = config;
    copy.data = run_series_config(*this, {});
    data = load_forecast_data(copy);
  } else {
    load_rows(request);
  }
}

void ForecastRun::load_rows(const DataRequest& request) {
  RunSeries rows = load_run_series(*this, request.path);
  if (request.unchanged) require_same_rows(*this, rows);
  if (request.path.empty()) warn_of_changes(*this, rows);
  const bool others = !request.path.empty() && rows.rows != Rows::same;
  data = whole_data(*this, std::move(rows));
  if (others) announce_others(*this, data.series);
  whole_ = others || request.split == "all";
  if (whole_) return;
  data.splits = data::make_splits(config.data, data.series);
  data.windows = cut_forecast_windows(config, data.splits);
}

void ForecastRun::restore(const nlohmann::ordered_json& json, const std::string& file) {
  summary = data_summary(nlohmann::json(json), file);
  if (fs::exists(calibration_file(*this))) calibration = metrics::read_calibration(calibration_file(*this));
}

void ForecastRun::announce() {
  for (const std::string& note : data.series.notes) spdlog::info("{}", note);
  print_warnings(data.series);
  if (!data.chosen.empty()) spdlog::info("{}", data.chosen);
  for (const std::string& note : data.scaler.notes) spdlog::warn("{}", note);
  warn_of_empty_end(*this, data.series);
  spdlog::info("{}: {} × {} rows ({}); windows: {} train, {} validation, {}; model {}", data.series.source,
               data::modes_text(data.series.modes), data.series.rows(), data.splits.rule,
               data.windows.train.size(), data.windows.validation.size(),
               test_count(config.train.test, static_cast<size_t>(data.windows.test.size())),
               model_title(config));
}

void ForecastRun::make_model(Purpose purpose) {
  model = models::make_forecaster(config.model, shape(), static_cast<uint64_t>(config.train.seed));
  if (purpose == Purpose::open) return require_calibration_fits(*this);
  if (const int64_t cycle = model->cycle_to_start(); cycle > 0)
    model->start_cycle(cycle_profile(data, cycle));
  load_members(*model, config, data);
  earlier_splits = load_earlier_splits(config);
  split_weights = fit_model(*model, data, config.model.ensemble.picks, earlier_splits);
  if (const std::string text = members_text(*model, config); !text.empty())
    spdlog::info("ensemble: {}", text);
  if (purpose == Purpose::train && !config.init.empty()) start_from(*model, config.init);
}

nn::ModelCost ForecastRun::cost() const {
  return models::forecaster_cost(config.model, shape());
}

std::unique_ptr<train::ModuleTask> ForecastRun::task() {
  return std::make_unique<ForecastTask>(config, data, *model);
}

nlohmann::ordered_json ForecastRun::evaluate(const std::string& split, bool keep, train::Workers& workers) {
  const data::WindowSet& windows = this->windows(split);
  const CalibratedForecaster calibrated = forecaster();
  const int64_t stored = keep ? config.output.predictions : 0;
  PredictionStore store(data, windows, calibrated.levels(), stored);
  NaiveForecastErrors naive(config, data, model->shape());
  const metrics::ForecastErrors errors = evaluate_forecaster(
      calibrated, data, windows,
      [&](const ForecastBlock& block, std::span<const float> quantiles) {
        store.add(block, quantiles);
        naive.add(block);
      },
      workers);
  if (!workers.is_rank_zero()) return {};
  warn_of_empty_lookbacks(data, windows, whole_ ? "all rows" : split);
  if (stored > 0) store.write(folder().file("predictions.npz"));
  nlohmann::ordered_json evaluation =
      evaluation_json(whole_ ? "all" : split, errors, config.forecast, data.series);
  evaluation["naive"] = naive.json();
  return evaluation;
}

void ForecastRun::finish(nlohmann::ordered_json& metrics) {
  std::vector<ValidationSplit> validation = {{model.get(), &data}};
  for (const EarlierSplit& split : earlier_splits) validation.push_back({split.model.get(), &split.data});
  std::reverse(validation.begin(), validation.end());
  if (config.train.test) warn_of_empty_lookbacks(data, data.windows.validation, "validation");
  calibration = calibrate_forecaster(validation, config);
  if (split_weights) {
    metrics["best"]["val_mse"] = split_weights->error;
    metrics["splits"] = {{"val_mse", split_weights->error},
                         {"val_mse_of_mix_by_other_splits", split_weights->mixed},
                         {"val_mse_of_one_by_other_splits", split_weights->single}};
  }
  if (nlohmann::ordered_json members = members_json(*model, config); !members.is_null())
    metrics["members"] = std::move(members);
  if (calibration) {
    metrics::write_calibration(calibration_file(*this), *calibration);
    metrics["calibration"] = to_json(*calibration);
  }
  const auto evaluated = [&](const char* split) { return evaluate(split, true, train::single_process()); };
  metrics["test_read"] = config.train.test;
  if (config.train.test && data.series.known &&
      data.series.known->rows() - data.series.rows() < config.window().horizon)
    metrics["needs_future"] = true;
  if (config.train.test)
    metrics["test"] = timed_test([&] { return evaluated("test"); });
  else
    metrics["validation"] = evaluated("validation");
  if (const std::string text =
          naive_is_better(metrics[config.train.test ? "test" : "validation"], trains_in_steps(config));
      !text.empty())
    spdlog::warn("{}", text);
}

data::ForecastDataConfig run_series_config(const ForecastRun& run, const std::string& path) {
  data::ForecastDataConfig config = run.config.data;
  if (!path.empty()) {
    config.path = path;
    config.simulate.clear();
    config.format = "auto";
  }
  // Decisions for the training data apply to later files.
  if (config.header == "auto" && run.summary.header) config.header = *run.summary.header ? "yes" : "no";
  config.usual_decimal = run.summary.decimal;
  config.date_order = run.summary.date_order;
  config.words = run.summary.categories;
  if (config.calendar_days == "auto" && run.summary.calendar_days == "all") config.calendar_days = "all";
  config.week = run.summary.time.week;
  config.variables = run.summary.modes.back().labels;
  if (run.summary.known) {
    const std::vector<std::string>& known = run.summary.known->modes.back().labels;
    config.variables.insert(config.variables.end(), known.begin(), known.end());
  }
  return config;
}

RunSeries load_run_series(const ForecastRun& run, const std::string& path) {
  RunSeries result;
  data::Series& series = result.series;
  series = data::load_series(run_series_config(run, path));
  print_warnings(series);
  require_fits(run.summary, series);
  result.hash = hash_of(series);
  result.rows = compare_rows(run, series, result.hash);
  for (const std::string& sentence : data::leave_out(series, run.summary.scaler.left_out))
    spdlog::warn("{}: {}", series.source, sentence);
  return result;
}

void warn_of_changes(const ForecastRun& run, const RunSeries& own) {
  if (own.rows != Rows::others) return;
  const int64_t then = run.summary.time.length, now = own.series.rows();
  warn_of_changed_rows(
      own.series.source, run.folder().path(),
      now < then ? fmt::format("{} then, {} now", counted(then, "row"), now)
                 : fmt::format("the values of the {} of its training are others now", counted(then, "row")));
}

void warn_of_empty_end(const ForecastRun& run, const data::Series& series) {
  if (const std::string text =
          empty_end_text(series, run.summary.scaler.left_out, run.config.forecast.lookback);
      !text.empty())
    spdlog::warn("{}", text);
}

int64_t phase_offset(const ForecastRun& run, const data::Series& series) {
  const int64_t offset = row_offset(run.summary, series);
  const int64_t period = std::lcm(std::max<int64_t>(run.config.model.window.cycle, 1),
                                  run.calibration ? run.calibration->season : 1);
  require(period == 1 || !run.summary.time.dated || series.time.dated, ErrorKind::data,
          "{}: its rows have no dates, but the run was trained on {} with dates, which give the phase of its "
          "period of {}: add the dates, or data.start and data.step",
          series.source, run.summary.source, counted(period, "row"));
  return offset >= 0 ? offset : (offset % period + period) % period;
}

}  // namespace modewise::tasks
