#include "modewise/tasks/forecasting/members.h"

#include <ATen/ops/equal.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/ensemble.h"
#include "modewise/tasks/forecasting/run.h"
#include "modewise/tasks/forecasting/spec.h"
#include "modewise/tasks/run/load_config.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/train/checkpoint/tensor_file.h"

namespace modewise::tasks {
namespace {

ForecastConfig config_of(const train::RunFolder& run) {
  return load_config<ForecastConfig>({run.file("config.toml").string(), {}, true});
}

bool is_ensemble(const ForecastConfig& config) {
  return config.model.name == "ensemble";
}

bool reads_panel(const ForecastConfig& config) {
  return config.data.panel == "yes";
}

/// Settings that must be equal for all members.
struct ForecastContract {
  int64_t horizon;
  bool quantiles;
  std::vector<double> levels;
  std::vector<std::string> known, calendar, statics;
  std::string calendar_code;

  explicit ForecastContract(const ForecastConfig& config)
      : horizon(config.forecast.longest()),
        quantiles(config.forecast.probabilistic()),
        levels(config.forecast.probabilistic() ? config.forecast.quantiles : std::vector<double>()),
        known(config.data.known),
        calendar(config.data.calendar),
        statics(config.data.statics),
        calendar_code(config.data.calendar_code) {}
  bool operator==(const ForecastContract&) const = default;
};

EarlierSplit load_split(const ForecastConfig& config, int64_t split) {
  const models::EnsembleConfig& options = config.model.ensemble;
  ForecastConfig there = config;
  there.model.ensemble.members.clear();
  there.model.ensemble.runs.clear();
  there.model.ensemble.splits = 1;
  for (int64_t i = 0; i < options.models(); ++i)
    there.model.ensemble.runs.push_back(options.runs[static_cast<size_t>(i * options.splits + split)]);
  there.train.test = false;
  there.data = config_of(train::RunFolder::open(there.model.ensemble.runs.front())).data;
  take_members(there);
  EarlierSplit result{load_forecast_data(there), nullptr};
  result.model = models::make_forecaster(there.model, there.model_shape(result.data.series), 0);
  load_members(*result.model, there, result.data);
  return result;
}

}  // namespace

void take_members(ForecastConfig& config) {
  if (!is_ensemble(config) || !config.model.ensemble.members.empty()) return;
  models::EnsembleConfig& ensemble = config.model.ensemble;
  require(!ensemble.runs.empty(), ErrorKind::usage,
          "an ensemble needs runs: --set model.ensemble.runs=RUN,RUN");
  const auto splits = static_cast<size_t>(ensemble.splits);
  require(ensemble.runs.size() % splits == 0, ErrorKind::config,
          "model.ensemble: {} runs are not a multiple of splits = {}", ensemble.runs.size(), splits);
  config.forecast.lookback = 0;
  std::optional<ForecastContract> promise;
  for (size_t i = 0; i < ensemble.runs.size(); ++i) {
    const std::string& run = ensemble.runs[i];
    const train::RunFolder folder = train::RunFolder::open(run);
    folder.require_task("forecasting");
    const ForecastConfig of_run = config_of(folder);
    require(!is_ensemble(of_run), ErrorKind::config, "{}: an ensemble cannot be a member of an ensemble",
            run);
    require(reads_panel(of_run) == reads_panel(config), ErrorKind::config,
            "{}: the run is on {}, but the ensemble on {}: all runs and data.panel must be of one kind", run,
            reads_panel(of_run) ? "a panel" : "one tensor", reads_panel(config) ? "a panel" : "one tensor");
    if (!promise) {
      promise.emplace(of_run);
      config.data.known = of_run.data.known;
      config.data.calendar = of_run.data.calendar;
      config.data.calendar_code = of_run.data.calendar_code;
      config.data.statics = of_run.data.statics;
      config.data.split_windows = of_run.data.split_windows;
      config.forecast.horizon = of_run.forecast.horizon;
      config.forecast.horizons = of_run.forecast.horizons;
      config.forecast.validation_stride = of_run.forecast.validation_stride;
      config.forecast.loss = of_run.forecast.loss;
      config.forecast.quantiles = of_run.forecast.quantiles;
    }
    require(*promise == ForecastContract(of_run), ErrorKind::config,
            "{}: its horizon, loss, quantiles or future covariates differ from those of {}", run,
            ensemble.runs.front());
    require(!reads_panel(of_run) || of_run.data.split_windows == config.data.split_windows, ErrorKind::config,
            "{}: its data.split_windows = {} differs from {} of {}", run, of_run.data.split_windows,
            config.data.split_windows, ensemble.runs.front());
    if (i % splits != 0) continue;
    config.forecast.lookback = std::max(config.forecast.lookback, of_run.forecast.lookback);
    ensemble.members.push_back(models::EnsembleMember{of_run.forecast.lookback, of_run.model}.to_toml());
  }
  config.train.epochs = 0;
}

std::string panel_of(const ForecastConfig& config) {
  if (!is_ensemble(config) || config.model.ensemble.runs.empty()) return config.data.panel;
  // Earlier runs, which have auto, are of tensors.
  return reads_panel(config_of(train::RunFolder::open(config.model.ensemble.runs.front()))) ? "yes" : "no";
}

void load_members(models::Forecaster& model, const ForecastConfig& config, const ForecastData& data) {
  auto* ensemble = dynamic_cast<models::EnsembleForecaster*>(&model);
  if (ensemble == nullptr) return;
  const models::EnsembleConfig& options = config.model.ensemble;
  require(options.models() == ensemble->members(), ErrorKind::config,
          "model.ensemble: {} runs, but {} members; set only runs for a new ensemble", options.models(),
          ensemble->members());
  for (int64_t i = 0; i < ensemble->members(); ++i) {
    const std::string& path = options.runs[static_cast<size_t>(i * options.splits)];
    const std::unique_ptr<ForecastRun> run = open_run_as<ForecastRun>(forecasting_spec, path);
    // The data hash differs if the test split is unread.
    const data::Scaler& scaler = run->summary.scaler;
    require(at::equal(scaler.mean, data.scaler.mean) && at::equal(scaler.stddev, data.scaler.stddev),
            ErrorKind::data, "{} was trained on different rows (of {}) than those of {}", path,
            run->summary.source, data.series.source);
    train::copy_into(train::module_tensors(ensemble->member(i)), train::module_tensors(*run->model));
  }
}

std::vector<EarlierSplit> load_earlier_splits(const ForecastConfig& config) {
  std::vector<EarlierSplit> result;
  if (is_ensemble(config))
    for (int64_t split = 1; split < config.model.ensemble.splits; ++split)
      result.push_back(load_split(config, split));
  return result;
}

std::optional<models::SplitWeights> fit_model(models::Forecaster& model, const ForecastData& data,
                                              int64_t picks, std::vector<EarlierSplit>& earlier) {
  if (earlier.empty()) {
    model.fit(fitting_rows(data));
    return std::nullopt;
  }
  const auto ensemble = [](models::Forecaster& one) -> models::EnsembleForecaster& {
    return dynamic_cast<models::EnsembleForecaster&>(one);
  };
  std::vector<at::Tensor> grams = {ensemble(model).error_products(fitting_rows(data))};
  for (const EarlierSplit& split : earlier)
    grams.push_back(ensemble(*split.model).error_products(fitting_rows(split.data)));
  models::SplitWeights chosen = models::weights_over_splits(grams, picks);
  ensemble(model).set_weights(chosen.weights);
  for (const EarlierSplit& split : earlier) ensemble(*split.model).set_weights(chosen.weights);
  return chosen;
}

nlohmann::ordered_json members_json(const models::Forecaster& model, const ForecastConfig& config) {
  const auto* ensemble = dynamic_cast<const models::EnsembleForecaster*>(&model);
  if (ensemble == nullptr) return {};
  const models::EnsembleConfig& options = config.model.ensemble;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  const std::vector<double> weights = ensemble->weights();
  for (size_t i = 0; i < weights.size(); ++i)
    if (weights[i] > 0)
      all.push_back({{"run", options.runs[i * static_cast<size_t>(options.splits)]}, {"weight", weights[i]}});
  return all;
}

std::string members_text(const models::Forecaster& model, const ForecastConfig& config) {
  std::vector<std::string> parts;
  for (const auto& member : members_json(model, config))
    parts.push_back(fmt::format("{} {:.2f}",
                                std::filesystem::path(member["run"].get<std::string>()).filename().string(),
                                member["weight"].get<double>()));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace modewise::tasks
