#include "modewise/tasks/forecasting/candidates.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/data/forecasting/load_series.h"
#include "modewise/data/forecasting/panel.h"
#include "modewise/tasks/forecasting/choose_defaults.h"
#include "modewise/tasks/forecasting/panel_candidates.h"
#include "modewise/tasks/run/load_config.h"

namespace modewise::tasks {
namespace {

using Assignments = std::vector<std::string>;

constexpr int64_t kRowsOfLookback = 20;  // table rows required per lookback row
// Theta and ETS fit states at every origin over several seasons: long seasons take minutes.
constexpr int64_t kLongestLocalSeason = 24, kMaxLocalForecasts = 20'000;
constexpr int64_t kMaxEvaluatedCells = 5'000'000, kMinEvaluated = 200;  // of validation windows

constexpr int64_t kEnoughToChoose = 1000;  // validation windows above which one split is enough
constexpr int kFurtherSplits = 3;
constexpr double kMinTraining = 0.5;  // minimum fraction of the training rows at the earliest origin

std::string looking_back(int64_t rows) {
  return fmt::format("forecast.lookback={}", rows);
}

std::string cycle(int64_t rows) {
  return fmt::format("model.window.cycle={}", rows);
}

Assignments model(const std::string& name, Assignments further = {}) {
  further.insert(further.begin(), "model.name=" + name);
  return further;
}

/// Model name of a candidate, from its first setting.
std::string name_of(const Candidate& candidate) {
  return candidate.settings.front().substr(std::string_view("model.name=").size());
}

/// Settings selected on hourly tables of seven series (experiments/forecasting/etth1.toml).
Assignments small_hot(Assignments further = {}) {
  Assignments all =
      model("hot", {"model.width=16", "model.hidden=64", "model.dropout=0.3", "model.head.dropout=0.3"});
  all.insert(all.end(), further.begin(), further.end());
  return all;
}

/// data.split_ratios with the remaining rows as test split.
std::string ratios(double training, double validation) {
  const auto rounded = [](double share) { return std::round(share * 1e6) / 1e6; };
  return fmt::format("data.split_ratios={:.6f},{:.6f},{:.6f}", rounded(training), rounded(validation),
                     std::max(1 - rounded(training) - rounded(validation), 0.0));
}

struct Table {
  ForecastConfig config;
  data::Series series;
  data::Splits splits;
  int64_t horizon;  // of the config, or the default

  bool horizon_is_open() const { return config.forecast.longest() == 0; }
  bool allows_lookback(int64_t rows) const {
    return config.forecast.lookback == 0 && series.rows() >= kRowsOfLookback * rows;
  }
  int64_t validation_windows() const { return std::max<int64_t>(splits.validation.rows() - horizon + 1, 1); }
};

Table table_of(const Settings& settings) {
  Table table{load_config<ForecastConfig>(settings), {}, {}, 0};
  const data::ForecastDataConfig& source = table.config.data;
  table.series = data::load_series(source);
  table.splits = data::make_splits(source, table.series);
  table.horizon = table.horizon_is_open() ? usual_horizon(table.series.time, table.splits.validation.rows())
                                          : table.config.forecast.longest();
  return table;
}

/// Stride of the validation windows, by default 1, or more for many values.
int64_t validation_stride(const Table& table) {
  if (table.config.forecast.validation_stride != 1) return table.config.forecast.validation_stride;
  const int64_t windows = table.validation_windows();
  const int64_t cells = windows * table.series.series_count() * table.horizon;
  const int64_t stride = std::clamp<int64_t>((cells + kMaxEvaluatedCells - 1) / kMaxEvaluatedCells, 1,
                                             std::max<int64_t>(windows / kMinEvaluated, 1));
  if (stride > 1) spdlog::info("evaluated on every {}th of {} validation windows", stride, windows);
  return stride;
}

bool is_panel(const Settings& settings) {
  return load_config<ForecastConfig>(settings).data.panel == "yes";
}

}  // namespace

SearchChoices forecast_choices(const Settings& settings) {
  const auto config = load_config<ForecastConfig>(settings);
  require(!config.data.path.empty() || !config.data.simulate.empty(), ErrorKind::usage,
          "no data: give --data FILE, or --set data.simulate=lorenz96");
  const data::PanelChoice choice = data::choose_panel(config.data);
  if (!choice.reason.empty()) spdlog::info("{}", choice.reason);
  if (!choice.panel) return {{"data.panel=no"}};
  if (panel_has_mase(config))
    return {{"data.panel=yes"}, ValidationFigure{"/best/val_mase", "validation MASE"}};
  spdlog::info(
      "{}: no validation window has a MASE, since all seasons repeat exactly before; candidates are ranked "
      "by MAE",
      config.data.path);
  return {{"data.panel=yes"}, ValidationFigure{"/best/val_mae", "validation MAE"}};
}

std::vector<std::string> forecast_splits(const Settings& settings) {
  if (is_panel(settings)) return {};
  const Table table = table_of(settings);
  const std::string& rule = table.config.data.split;
  if ((rule != "auto" && rule != "ratio") || table.validation_windows() >= kEnoughToChoose) return {};
  const std::vector<double>& shares = table.config.data.split_ratios;
  std::vector<std::string> all;
  for (int i = 1; i <= kFurtherSplits; ++i) {
    const double training = shares[0] - i * shares[1];
    if (training < kMinTraining * shares[0]) break;
    all.push_back(ratios(training, shares[1]));
  }
  return all;
}

std::vector<std::string> forecast_refit(const Settings& settings) {
  if (is_panel(settings)) return {"data.test_windows=0"};
  const Table table = table_of(settings);
  const double validation =
      static_cast<double>(table.splits.validation.rows()) / static_cast<double>(table.series.rows());
  return {"data.split=ratio",
          "data.split_dates=", ratios(1 - std::round(validation * 1e6) / 1e6, validation)};
}

std::vector<Candidate> forecast_candidates(const Settings& settings) {
  if (is_panel(settings)) return panel_candidates(load_config<ForecastConfig>(settings));
  const Table table = table_of(settings);
  const ForecastConfig& config = table.config;
  const int64_t season = season_of(table.series, table.splits);
  std::vector<Candidate> all = {{"repeat", model("repeat"), true},
                                {"seasonal", model("seasonal"), true},
                                {"seasonal-drift", model("seasonal-drift"), true},
                                {"ridge", model("ridge"), true},
                                {"ridge-individual", model("ridge", {"model.individual=true"}), true}};
  const int64_t windows = table.validation_windows(), series = table.series.series_count();
  const int64_t stride = validation_stride(table);
  if (season <= kLongestLocalSeason && windows / stride * series <= kMaxLocalForecasts) {
    all.push_back({"theta", model("theta"), true});
    all.push_back({"ets", model("ets"), true});
  }
  const bool seasonal = season > 1, long_rows = table.allows_lookback(336);
  const auto add = [&](const std::string& name, Assignments assignments) {
    all.push_back({name, std::move(assignments)});
  };
  // With and without the cycle of the season.
  const auto add_cycle = [&](const std::string& name, Assignments assignments) {
    if (seasonal) assignments.push_back(cycle(season));
    add(seasonal ? name + "-cycle" : name, std::move(assignments));
  };
  if (seasonal) add("hot-small-cycle", small_hot({cycle(season)}));
  add("hot-small", small_hot());
  if (seasonal) add("dlinear-cycle", model("dlinear", {cycle(season)}));
  add("dlinear", model("dlinear"));
  if (seasonal) add("hot-cycle", model("hot", {cycle(season)}));
  add("hot", model("hot"));
  if (long_rows) add_cycle("dlinear-336", model("dlinear", {looking_back(336)}));
  add("hot-small-last", small_hot({"model.window.centre=last"}));
  if (table.series.time.dated && seasonal && season <= 24)
    add("hot-small-week", small_hot({cycle(7 * season)}));
  add_cycle("rlinear", model("rlinear"));
  add("nlinear", model("nlinear"));
  if (long_rows) add_cycle("hot-small-336", small_hot({looking_back(336)}));
  if (config.forecast.loss == ForecastOptions().loss) {
    add_cycle("hot-small-mse", small_hot({"forecast.loss=mse"}));
    add_cycle("dlinear-mse", model("dlinear", {"forecast.loss=mse"}));
  }
  add("patchtst", model("patchtst"));
  add("itransformer", model("itransformer", {"model.width=128", "model.hidden=128"}));
  add("tide", model("tide"));
  if (table.allows_lookback(720)) add_cycle("dlinear-720", model("dlinear", {looking_back(720)}));
  // With future covariates, only models that use them are candidates.
  if (!config.data.known.empty() || !config.data.calendar.empty())
    std::erase_if(all, [](const Candidate& candidate) {
      return !models::uses_future_covariates(models::row_of(models::forecasters(), name_of(candidate)));
    });
  // The same horizon at every origin.
  if (table.horizon_is_open())
    for (Candidate& one : all) one.settings.push_back(fmt::format("forecast.horizon={}", table.horizon));
  if (stride != config.forecast.validation_stride)
    for (Candidate& one : all) one.settings.push_back(fmt::format("forecast.validation_stride={}", stride));
  return all;
}

}  // namespace modewise::tasks
