#include "modewise/tasks/forecasting/run.h"

#include "modewise/core/error.h"
#include "modewise/data/forecasting/load_series.h"
#include "modewise/tasks/forecasting/members.h"
#include "modewise/tasks/forecasting/prediction_store.h"
#include "modewise/tasks/forecasting/task.h"
#include "modewise/tasks/load_config.h"
#include "modewise/tasks/test_split.h"
#include "modewise/train/checkpoint/checkpoint.h"
#include "modewise/train/checkpoint/tensor_file.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;

/// Data error for missing cells if the model was trained without masks.
void require_masks_fit(const ForecastRun& run, const data::Series& series) {
  require(!series.observed.defined() || run.data.missing, ErrorKind::data,
          "{}: {} cells are missing, but the run was trained on data without missing cells ({}), so its "
          "model does not accept them",
          series.source, series.missing_cells(), run.data.source);
}

/// Evaluates the windows of `split` and stores some forecasts in the run folder. With several `workers` only
/// rank 0 has a result and stores them; other ranks get null.
nlohmann::ordered_json evaluate(const CalibratedForecaster& forecaster, const ForecastData& data,
                                const std::string& split, const train::RunFolder& run,
                                train::Workers& workers = train::single_process()) {
  const data::WindowSet& windows = windows_of(data.windows, split);
  const ForecastConfig& config = *forecaster.config;
  PredictionStore kept(data, windows, forecaster.levels(), config.output.predictions);
  const metrics::ForecastErrors errors = evaluate_forecaster(
      forecaster, data, windows,
      [&](const ForecastBlock& block, std::span<const float> quantiles) { kept.add(block, quantiles); },
      workers);
  if (!workers.is_rank_zero()) return {};
  if (config.output.predictions > 0) kept.write(run.file("predictions.npz"));
  return evaluation_json(split, errors, config.forecast, data.series);
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

}  // namespace

TrainedRun train_forecast(const ForecastConfig& config, const ForecastData& data, train::RunFolder& run,
                          bool resume, bool accept_changes) {
  ForecastTask task(config, data);
  const bool begun = resume && !train::CheckpointStore(run.checkpoints()).empty();
  if (!config.init.empty() && !begun) start_from(task.model(), config.init);
  TrainedRun result;
  result.training = train::train(task, config.train, run, resume, accept_changes);
  if (!result.training.to_be_evaluated()) return result;
  CalibratedForecaster forecaster{&task.model(), &config, std::nullopt};
  forecaster.calibration = calibrate_forecaster(task.model(), config, data);
  result.metrics = run.read_metrics();
  if (const std::optional<models::SplitWeights>& chosen = task.split_weights()) {
    result.metrics["best"]["val_mse"] = chosen->error;
    result.metrics["splits"] = {{"val_mse", chosen->error},
                                {"val_mse_of_mix_by_other_splits", chosen->mixed},
                                {"val_mse_of_one_by_other_splits", chosen->single}};
  }
  if (nlohmann::ordered_json members = members_json(task.model(), config); !members.is_null())
    result.metrics["members"] = std::move(members);
  if (forecaster.calibration) {
    metrics::write_calibration(run.file("calibration.npz"), *forecaster.calibration);
    result.metrics["calibration"] = to_json(*forecaster.calibration);
  }
  const std::string split = config.train.test ? "test" : "validation";
  result.metrics["test_read"] = config.train.test;
  result.metrics[split] = evaluate(forecaster, data, split, run);
  run.write_metrics(result.metrics);
  return result;
}

nlohmann::ordered_json evaluate_left_out_test(const ForecastRun& run, const ForecastData& data) {
  train::Workers& workers = train::workers();
  nlohmann::ordered_json evaluation = evaluate(run.forecaster(), data, "test", run.folder, workers);
  if (!workers.is_rank_zero()) return {};
  write_test_figures(run.folder, {{"test", evaluation}}, data.hash);
  return evaluation;
}

ForecastRun open_forecast_run(const fs::path& path) {
  ForecastRun run =
      open_run<ForecastRun>(path, "forecasting", read_run_config<ForecastConfig>, [](ForecastRun& opened) {
        opened.data = read_run_data<nlohmann::json>(opened.folder, data_summary);
        return models::make_forecaster(opened.config.model, opened.config.model_shape(shape_of(opened.data)),
                                       static_cast<uint64_t>(opened.config.train.seed));
      });
  const fs::path calibration = run.folder.file("calibration.npz");
  if (!fs::exists(calibration)) return run;
  const models::ForecastShape& shape = run.model->shape();
  run.calibration = metrics::read_calibration(calibration);
  require(run.calibration->series == shape.series_count() && run.calibration->horizon == shape.horizon,
          ErrorKind::data, "{}: margins for {} series × {} steps, but the model forecasts {} × {}",
          calibration.string(), run.calibration->series, run.calibration->horizon, shape.series_count(),
          shape.horizon);
  return run;
}

data::ForecastDataConfig run_series_config(const ForecastRun& run, const std::string& path) {
  data::ForecastDataConfig config = run.config.data;
  if (!path.empty()) {
    config.path = path;
    config.simulate.clear();
    config.format = "auto";
  }
  // Decisions for the training data apply to later files.
  if (config.header == "auto" && run.data.header) config.header = *run.data.header ? "yes" : "no";
  config.words = run.data.categories;
  return config;
}

data::Series load_run_series(const ForecastRun& run, const std::string& path) {
  data::Series series = data::load_series(run_series_config(run, path));
  print_warnings(series);
  require_fits(run.data, series);
  return series;
}

ForecastData load_run_data(const ForecastRun& run, const std::string& path) {
  ForecastData data = load_run_rows(run, path);
  data.splits = data::make_splits(run.config.data, data.series);
  data.windows = cut_forecast_windows(run.config, data.splits);
  return data;
}

ForecastData load_run_rows(const ForecastRun& run, const std::string& path) {
  ForecastData data;
  data.series = load_run_series(run, path);
  require_masks_fit(run, data.series);
  data::check_window(run.config.window(), data.series);
  data.splits.test = {0, data.series.rows()};
  data.splits.rule = "all rows";
  data.windows.test = data::WindowSet("all rows", data.splits.test, run.config.window(), false);
  data.scaler = run.data.scaler;
  data.source = run_source(run.data, run.config.data, data.series);
  data.hash = hash_of(data.series);
  data.row_offset = phase_offset(run, data.series);
  return data;
}

int64_t phase_offset(const ForecastRun& run, const data::Series& series) {
  const int64_t offset = row_offset(run.data, series);
  const int64_t period = std::max<int64_t>(run.config.model.window.cycle, 1);
  return offset >= 0 ? offset : (offset % period + period) % period;
}

}  // namespace modewise::tasks
