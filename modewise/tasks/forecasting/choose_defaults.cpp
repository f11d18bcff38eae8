#include "modewise/tasks/forecasting/choose_defaults.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "modewise/data/forecasting/season.h"
#include "modewise/data/forecasting/windows.h"
#include "modewise/tasks/run/idle_settings.h"

namespace modewise::tasks {
namespace {

constexpr int64_t kHour = 3600, kDay = 24 * kHour;
constexpr int64_t kUsual = ForecastOptions::kUsualRows;
constexpr int64_t kSteps = 1500, kPanelSteps = 3000;                        // minimum optimizer steps
constexpr int64_t kSeasons = 10, kFewSeasons = 3, kMaxSeasonalRows = 2000;  // of a lookback
constexpr int64_t kFewEpochs = 10, kMaxEpochs = 300, kPatience = 3;         // usual patience

/// Rows of a day of a weekly calendar, if each day has the same number, or of a week of days.
int64_t season_of_week(const data::TimeAxis& time) {
  const auto rows = std::ssize(time.week);
  if (time.step >= kDay) return rows;
  int64_t days = 1;
  for (size_t i = 1; i < time.week.size(); ++i) days += time.week[i] / kDay != time.week[i - 1] / kDay;
  return rows % days == 0 ? rows / days : rows;
}

/// `usual`, or `fit` rounded down to whole seasons if one fits; at least 1.
int64_t whole_seasons(int64_t season, int64_t fit, int64_t usual) {
  if (fit >= usual) return usual;
  return season <= fit ? fit / season * season : std::max<int64_t>(fit, 1);
}

}  // namespace

int64_t season_of(const data::TimeAxis& time) {
  if (!time.dated) return 1;
  if (time.months > 0) return std::max<int64_t>(12 / time.months, 1);
  if (time.step <= 0) return 1;
  if (!time.week.empty()) return season_of_week(time);
  if (time.step < kDay) return kDay % time.step == 0 ? kDay / time.step : 1;
  return time.step == kDay ? 7 : 1;
}

int64_t season_of(const data::Series& series, const data::Splits& splits) {
  return series.time.dated ? season_of(series.time) : data::season_by_course(series, splits.train);
}

int64_t usual_horizon(const data::TimeAxis& time, int64_t validation_rows) {
  int64_t rows = kUsual;
  if (time.dated && time.months > 0)
    rows = time.months >= 12 ? 5 : time.months >= 3 ? 8 : 12;
  else if (time.dated && time.step > kHour && !time.week.empty())
    rows = std::ssize(time.week) * (time.step < kDay ? 1 : 2);
  else if (time.dated && time.step > kHour)
    rows = time.step < kDay ? std::max<int64_t>(7 * kDay / time.step, 1) : time.step < 7 * kDay ? 14 : 13;
  return whole_seasons(season_of(time), validation_rows - 1, rows);
}

int64_t usual_lookback(const data::TimeAxis& time, int64_t horizon, int64_t training_rows) {
  return whole_seasons(season_of(time), training_rows / 2 - horizon, kUsual);
}

int64_t seasonal_lookback(int64_t season, int64_t horizon, int64_t training_rows) {
  const int64_t maximum = std::max(kMaxSeasonalRows / season, kFewSeasons) * season;
  const int64_t usual = std::clamp(kSeasons * season, std::min(kUsual, maximum), maximum);
  return whole_seasons(season, training_rows / 2 - horizon, usual);
}

std::string choose_defaults(ForecastConfig& config, const data::Series& series, const data::Splits& splits) {
  const std::string step = series.time.dated ? ", one every " + series.time.frequency_text() : "";
  return choose_defaults(config,
                         {series.time, fmt::format("{} rows{}", series.rows(), step), splits.train.rows(),
                          splits.validation.rows(), [&] { return season_of(series, splits); },
                          [&](const ForecastConfig& chosen) {
                            return data::WindowSet("train", splits.train, chosen.window(), false,
                                                   chosen.forecast.train_stride,
                                                   chosen.forecast.train_fraction, splits.source)
                                .size();
                          }});
}

std::string choose_defaults(ForecastConfig& config, const ForecastSizes& sizes) {
  std::vector<std::string> chosen;
  ForecastOptions& forecast = config.forecast;
  if (forecast.horizons.empty() && forecast.horizon == 0) {
    forecast.horizon = usual_horizon(sizes.time, sizes.validation_rows);
    chosen.push_back(fmt::format("forecast.horizon = {}", forecast.horizon));
  }
  int64_t& period = config.model.period;
  const models::ForecasterRow* row = find_row(models::forecasters(), config.model.name);
  const bool seasonal = row != nullptr && row->has_option("period"),
             patched = row != nullptr && row->has_option("patch.length");
  int64_t season = period;
  if (seasonal && period == 0) season = sizes.season();
  if (season == 1 && period == 0 && !sizes.time.dated) season = models::ForecasterConfig::kUsualPeriod;
  if (forecast.lookback == 0) {
    forecast.lookback = seasonal ? seasonal_lookback(season, forecast.longest(), sizes.training_rows)
                                 : usual_lookback(sizes.time, forecast.longest(), sizes.training_rows);
    chosen.push_back(fmt::format("forecast.lookback = {}", forecast.lookback));
    models::PatchConfig& patch = config.model.patch;
    if (patched && patch.length > forecast.lookback) {
      patch.length = forecast.lookback;
      patch.stride = std::max<int64_t>(forecast.lookback / 2, 1);
      chosen.push_back(fmt::format("model.patch.length = {}, .stride = {}", patch.length, patch.stride));
    }
  }
  std::string& centre = config.model.window.centre;
  if (centre == "auto" && row != nullptr && row->has_option("window.centre")) {
    const bool last = sizes.panel && !row->mechanism.empty();  // lower validation errors of hot
    centre = last ? "last" : "mean";
    if (last) chosen.push_back("model.window.centre = last");
  }
  if (seasonal && period == 0) {
    period = season <= forecast.lookback ? season : 1;
    chosen.push_back(fmt::format("model.period = {}", period));
  }
  int64_t& patience = config.train.patience;
  const bool open_patience = patience < 0;
  if (open_patience) patience = kPatience;
  if (config.train.epochs < 0 && !trains_in_steps(config)) config.train.epochs = 0;
  if (config.train.epochs < 0) {
    const int64_t windows = sizes.training_windows(config);
    const int64_t steps = std::max<int64_t>(windows / (config.train.batch_size * config.train.accumulate), 1);
    const int64_t wanted = sizes.panel ? kPanelSteps : kSteps;
    config.train.epochs = std::clamp((wanted + steps - 1) / steps, kFewEpochs, kMaxEpochs);
    chosen.push_back(fmt::format("train.epochs = {}", config.train.epochs));
    if (open_patience) patience = std::max(kPatience, config.train.epochs / (sizes.panel ? 4 : 10));
    if (open_patience && patience > kPatience) chosen.push_back(fmt::format("train.patience = {}", patience));
  }
  if (chosen.empty()) return "";
  return fmt::format("chosen for {}: {}", sizes.text, fmt::join(chosen, ", "));
}

bool trains_in_steps(const ForecastConfig& config) {
  const models::ForecasterRow* row = find_row(models::forecasters(), config.model.name);
  return row == nullptr || (row->cost != nullptr && row->name != "ridge");  // its maps are fitted
}

void refuse_idle_steps(const ForecastConfig& config) {
  if (trains_in_steps(config)) return;
  ForecastConfig given = config, usual;
  refuse_idle_training(fields_of(given), fields_of(usual), config.model.name);
}

}  // namespace modewise::tasks
