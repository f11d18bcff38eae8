#pragma once
// Defaults of forecasting runs that depend on the data: lookback, horizon, patch length and epochs.

#include <functional>
#include <string>

#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/splits.h"
#include "modewise/tasks/forecasting/config.h"

namespace modewise::tasks {

/// Season length in rows for a time step: a day of hours, a week of days, a year of months; 1: none.
int64_t season_of(const data::TimeAxis& time);
/// Season length of a series; without dates it is detected in the training rows (season.h); 1: none.
int64_t season_of(const data::Series& series, const data::Splits& splits);

/// Default horizon for a time step (two weeks of days, a year of months …), reduced until `validation_rows`
/// have two windows, to whole seasons if one fits.
int64_t usual_horizon(const data::TimeAxis& time, int64_t validation_rows);

/// Default lookback: 96 rows, reduced so that lookback and horizon fit into half of the training rows, to
/// whole seasons if one fits.
int64_t usual_lookback(const data::TimeAxis& time, int64_t horizon, int64_t training_rows);

/// Default lookback of seasonal models: ten seasons, at least 96 and at most 2,000 rows, but at least three
/// seasons.
int64_t seasonal_lookback(int64_t season, int64_t horizon, int64_t training_rows);

/// Sizes of data on which defaults depend.
struct ForecastSizes {
  data::TimeAxis time;
  std::string text;  // of the data: "480 rows, one every 1 h"
  int64_t training_rows = 0, validation_rows = 0;
  std::function<int64_t()> season;  // season_of the data
  std::function<int64_t(const ForecastConfig&)>
      training_windows;  // of an epoch, for its lookback and horizon
  bool panel = false;    // its epochs have one window for each series
};
std::string choose_defaults(ForecastConfig& config, const ForecastSizes& sizes);

/// Sets open values (0, epochs and patience −1): forecast.lookback, forecast.horizon, model.period,
/// train.epochs and train.patience; also the patch length if it exceeds a default lookback. Returns a
/// sentence about the choices, "" if nothing was open. `splits` of all rows.
std::string choose_defaults(ForecastConfig& config, const data::Series& series, const data::Splits& splits);

/// Whether the model is trained by gradient steps.
bool trains_in_steps(const ForecastConfig& config);
/// Config error for settings of a new run that only such a model uses.
void refuse_idle_steps(const ForecastConfig& config);

}  // namespace modewise::tasks
