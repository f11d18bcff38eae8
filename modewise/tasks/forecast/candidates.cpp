#include "modewise/tasks/forecast/candidates.h"

#include <fmt/format.h>

#include "modewise/core/error.h"
#include "modewise/data/forecast/load_series.h"
#include "modewise/tasks/forecast/choose_defaults.h"
#include "modewise/tasks/load_config.h"

namespace modewise::tasks {
namespace {

using Settings = std::vector<std::string>;

constexpr int64_t kRowsOfLookback = 20;  // of a table, for each row of a longer lookback

std::string looking_back(int64_t rows) {
  return fmt::format("forecast.lookback={}", rows);
}

Settings model(const std::string& name, Settings further = {}) {
  further.insert(further.begin(), "model.name=" + name);
  return further;
}

/// Of the model that stands first in its settings.
std::string name_of(const Candidate& candidate) {
  return candidate.settings.front().substr(std::string_view("model.name=").size());
}

/// The recipe that was chosen on hourly tables of seven series (experiments/forecasting/etth1.toml).
Settings small_hot(Settings further = {}) {
  Settings all =
      model("hot", {"model.width=16", "model.hidden=64", "model.dropout=0.3", "model.head.dropout=0.3"});
  all.insert(all.end(), further.begin(), further.end());
  return all;
}

}  // namespace

std::vector<Candidate> forecast_candidates(const std::string& file,
                                           const std::vector<std::string>& assignments) {
  const ForecastConfig config = load_config<ForecastConfig>(file, assignments);
  require(!config.data.path.empty() || !config.data.simulate.empty(), ErrorKind::usage,
          "no data: give --data FILE, or --set data.simulate=lorenz96");
  const data::Series series = data::load_series(config.data);
  const int64_t season = season_of(series.time);
  const auto holds = [&](int64_t lookback) {
    return config.forecast.lookback == 0 && series.rows() >= kRowsOfLookback * lookback;
  };
  std::vector<Candidate> all = {
      {"repeat", model("repeat"), true},
      {"seasonal", model("seasonal"), true},
      {"seasonal-drift", model("seasonal-drift"), true},
      {"ridge", model("ridge"), true},
      {"ridge-individual", model("ridge", {"model.baseline.individual=true"}), true},
      {"theta", model("theta"), true},
      {"ets", model("ets"), true}};
  const auto cycle = [](int64_t rows) { return fmt::format("model.window.cycle={}", rows); };
  if (season > 1) all.push_back({"hot-small-cycle", small_hot({cycle(season)})});
  all.push_back({"hot-small", small_hot()});
  if (season > 1) all.push_back({"dlinear-cycle", model("dlinear", {cycle(season)})});
  all.push_back({"dlinear", model("dlinear")});
  all.push_back({"hot", model("hot")});
  if (holds(336)) all.push_back({"dlinear-336", model("dlinear", {looking_back(336)})});
  all.push_back({"hot-small-last", small_hot({"model.window.centre=last"})});
  if (season > 1 && season <= 24) all.push_back({"hot-small-week", small_hot({cycle(7 * season)})});
  all.push_back({"rlinear", model("rlinear")});
  all.push_back({"nlinear", model("nlinear")});
  all.push_back({"patchtst", model("patchtst")});
  if (holds(336)) all.push_back({"hot-small-336", small_hot({looking_back(336)})});
  all.push_back({"itransformer", model("itransformer", {"model.width=128", "model.hidden=128"})});
  all.push_back({"tide", model("tide")});
  // With columns that are known ahead only the models that look at them stand for choice.
  if (!config.data.known.empty() || !config.data.calendar.empty())
    std::erase_if(all, [](const Candidate& candidate) {
      return !models::looks_ahead(models::row_of(models::forecasters(), name_of(candidate)));
    });
  return all;
}

}  // namespace modewise::tasks
