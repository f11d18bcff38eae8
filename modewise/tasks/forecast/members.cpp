#include "modewise/tasks/forecast/members.h"

#include <ATen/ops/equal.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/models/forecast/ensemble.h"
#include "modewise/tasks/forecast/run.h"
#include "modewise/tasks/load_config.h"
#include "modewise/train/tensor_file.h"

namespace modewise::tasks {
namespace {

bool is_ensemble(const ForecastConfig& config) {
  return config.model.name == "ensemble";
}

/// What a member's forecast must share with the others'.
struct Promise {
  int64_t horizon;
  bool quantiles;
  std::vector<double> levels;
  std::vector<std::string> known, calendar;
  std::string calendar_code;

  explicit Promise(const ForecastConfig& config)
      : horizon(config.forecast.longest()),
        quantiles(config.forecast.probabilistic()),
        levels(config.forecast.probabilistic() ? config.forecast.quantiles : std::vector<double>()),
        known(config.data.known),
        calendar(config.data.calendar),
        calendar_code(config.data.calendar_code) {}
  bool operator==(const Promise&) const = default;
};

}  // namespace

void take_members(ForecastConfig& config) {
  if (!is_ensemble(config) || !config.model.ensemble.members.empty()) return;
  models::EnsembleConfig& ensemble = config.model.ensemble;
  require(!ensemble.runs.empty(), ErrorKind::usage,
          "an ensemble puts runs together: name them by --set model.ensemble.runs=RUN,RUN");
  config.forecast.lookback = 0;
  std::optional<Promise> promise;
  for (const std::string& run : ensemble.runs) {
    const train::RunFolder folder = train::RunFolder::open(run);
    folder.require_task("forecast");
    const auto of_run = read_run_config<ForecastConfig>(folder);
    require(!is_ensemble(of_run), ErrorKind::config, "{}: an ensemble cannot be the member of another", run);
    if (!promise) {
      promise.emplace(of_run);
      config.data.known = of_run.data.known;
      config.data.calendar = of_run.data.calendar;
      config.data.calendar_code = of_run.data.calendar_code;
      config.forecast.horizon = of_run.forecast.horizon;
      config.forecast.horizons = of_run.forecast.horizons;
      config.forecast.loss = of_run.forecast.loss;
      config.forecast.quantiles = of_run.forecast.quantiles;
    }
    require(*promise == Promise(of_run), ErrorKind::config,
            "{}: its horizon, loss, quantiles or what it is told ahead are not those of {}", run,
            ensemble.runs.front());
    config.forecast.lookback = std::max(config.forecast.lookback, of_run.forecast.lookback);
    ensemble.members.push_back(models::EnsembleMember{of_run.forecast.lookback, of_run.model}.to_toml());
  }
  config.train.epochs = 0;
}

void load_members(models::Forecaster& model, const ForecastConfig& config, const ForecastData& data) {
  auto* ensemble = dynamic_cast<models::EnsembleForecaster*>(&model);
  if (ensemble == nullptr) return;
  const std::vector<std::string>& runs = config.model.ensemble.runs;
  require(std::ssize(runs) == ensemble->members(), ErrorKind::config,
          "model.ensemble: {} runs, but {} members; a new ensemble is given runs alone", runs.size(),
          ensemble->members());
  for (size_t i = 0; i < runs.size(); ++i) {
    const ForecastRun run = open_forecast_run(runs[i]);
    // The hash of the data is another where the test part was left unread.
    require(at::equal(run.data.scaler.mean, data.scaler.mean) &&
                at::equal(run.data.scaler.deviation, data.scaler.deviation),
            ErrorKind::data, "{} was trained on other rows (of {}) than those of {}", runs[i],
            run.data.source, data.series.source);
    train::copy_into(train::module_tensors(ensemble->member(static_cast<int64_t>(i))),
                     train::module_tensors(*run.model));
  }
}

std::string members_text(const models::Forecaster& model, const ForecastConfig& config) {
  const auto* ensemble = dynamic_cast<const models::EnsembleForecaster*>(&model);
  if (ensemble == nullptr) return "";
  std::vector<std::string> parts;
  const std::vector<double> weights = ensemble->weights();
  for (size_t i = 0; i < weights.size(); ++i)
    if (weights[i] > 0)
      parts.push_back(fmt::format(
          "{} {:.2f}", std::filesystem::path(config.model.ensemble.runs[i]).filename().string(), weights[i]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace modewise::tasks
