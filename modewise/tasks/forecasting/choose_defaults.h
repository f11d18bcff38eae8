#pragma once
// What a forecasting run takes from its data where the config leaves it open: how far to look and to
// forecast, the patch that fits, and for how long to train.

#include <string>

#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/splits.h"
#include "modewise/tasks/forecasting/config.h"

namespace modewise::tasks {

/// Rows of the season that goes with a step: a day of hours, a week of days, a year of months; 1 where none
/// is usual.
int64_t season_of(const data::TimeAxis& time);
/// The same of a series: without dates what its training rows show (season.h), 1 where they show none.
int64_t season_of(const data::Series& series, const data::Splits& splits);

/// The horizon that people ask for at this step of the time axis (two weeks of days, a year of months …).
/// Where `validation_rows` do not leave two windows to judge it by, as many as do, in whole seasons if one
/// fits.
int64_t usual_horizon(const data::TimeAxis& time, int64_t validation_rows);

/// Rows to look at for that horizon: 96, or as many as half of the training rows hold beside it, in whole
/// seasons if one fits.
int64_t usual_lookback(const data::TimeAxis& time, int64_t horizon, int64_t training_rows);

/// The same for a model that counts in seasons: ten of them, at least 96 rows, at most 2,000 but always
/// three.
int64_t seasonal_lookback(int64_t season, int64_t horizon, int64_t training_rows);

/// Sets forecast.lookback, forecast.horizon, model.baseline.period where the model has it (0) and
/// train.epochs (−1) where they are open; with a lookback of its own also a patch that is longer than it, and
/// with epochs train.patience where it is the usual 3. Returns what was chosen as a sentence, "" when nothing
/// was open. `splits` of all rows.
std::string choose_defaults(ForecastConfig& config, const data::Series& series, const data::Splits& splits);

}  // namespace modewise::tasks
