#include "modewise/tasks/forecasting/panel_candidates.h"

#include <fmt/format.h>

#include <algorithm>

#include "modewise/tasks/forecasting/panel_forecast.h"

namespace modewise::tasks {
namespace {

using Assignments = std::vector<std::string>;

// ETS fits up to 15 forms to each series: long seasons or many series take minutes.
constexpr int64_t kLongestSeason = 24, kMaxFittedRows = 2'000'000;

}  // namespace

bool panel_has_mase(const ForecastConfig& given) {
  ForecastConfig config = given;
  const data::Panel panel = data::load_panel(config.data);
  choose_panel_window(config, panel);
  return has_mase(panel, splits_of(config, panel).validation, season_of(config, panel));
}

std::vector<Candidate> panel_candidates(const ForecastConfig& given) {
  ForecastConfig config = given;
  const data::Panel panel = data::load_panel(config.data);
  const bool open = config.forecast.lookback == 0, horizon_is_open = config.forecast.longest() == 0;
  choose_panel_window(config, panel);
  const int64_t season = season_of(config, panel), horizon = config.forecast.longest(),
                lookback = config.forecast.lookback;
  std::vector<Candidate> all;
  const auto add = [&](const std::string& name, const std::string& model, bool fitted,
                       Assignments further = {}) {
    further.insert(further.begin(), "model.name=" + model);
    if (horizon_is_open) further.push_back(fmt::format("forecast.horizon={}", horizon));
    all.push_back({name, std::move(further), fitted});
  };
  const auto reads = [](int64_t rows) { return fmt::format("forecast.lookback={}", rows); };
  const Assignments token_sizes = {"model.width=32", "model.hidden=64", "model.layers=2", "model.heads=4"};
  const auto fit = [&](const std::string& name, const std::string& model, Assignments further = {}) {
    add(name, model, true, std::move(further));
  };
  const auto train = [&](const std::string& name, const std::string& model, Assignments further = {}) {
    add(name, model, false, std::move(further));
  };
  fit("repeat", "repeat");
  if (season > 1) fit("seasonal", "seasonal");
  fit("drift", "seasonal-drift");
  fit("theta", "theta");
  fit("optimised-theta", "optimised-theta");
  fit("dynamic-theta", "dynamic-theta");
  if (season <= kLongestSeason && panel.offsets.back() <= kMaxFittedRows) fit("ets", "ets");
  fit("ridge", "ridge");
  fit("ridge-mean", "ridge", {"model.window.centre=mean"});
  if (open) {
    fit("ridge-short", "ridge", {reads(std::max<int64_t>(season + 1, 4))});
    fit("ridge-long", "ridge", {reads(2 * lookback)});
  }
  train("nlinear", "nlinear");
  train("dlinear", "dlinear");
  train("hot", "hot", {"model.width=16", "model.hidden=64"});
  train("rlinear", "rlinear");
  train("patchtst", "patchtst", token_sizes);
  train("tide", "tide", {"model.width=64", "model.hidden=32"});
  if (open) {
    train("nlinear-long", "nlinear", {reads(2 * lookback)});
    train("hot-long", "hot", {"model.width=16", "model.hidden=64", reads(2 * lookback)});
    train("nlinear-short", "nlinear", {reads(std::max<int64_t>(season + 1, 4))});
  }
  // With covariates, only models that use them are candidates.
  if (!config.data.known.empty() || !config.data.calendar.empty() || !config.data.statics.empty())
    std::erase_if(all, [](const Candidate& candidate) {
      const std::string name = candidate.settings.front().substr(std::string_view("model.name=").size());
      return !models::uses_future_covariates(models::row_of(models::forecasters(), name));
    });
  return all;
}

}  // namespace modewise::tasks
