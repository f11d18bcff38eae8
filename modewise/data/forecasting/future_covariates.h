#pragma once
// Columns whose values are known ahead (a plan, a price list, holidays), and the calendar: inputs of lookback
// and horizon that are neither forecast nor judged.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/scaler.h"
#include "modewise/data/forecasting/series.h"

namespace modewise::data {

/// Moves the columns that `config.known` names from the last mode of `series` to `series.known`. The rows
/// behind the last one with an observed value then belong to `known` alone. Config errors: no such column of
/// numbers, one named twice, nothing left to forecast. Data error: no value left is observed.
void take_known(Series& series, const ForecastDataConfig& config);

/// What windows bring of a series that is known ahead.
struct FutureCovariateShape {
  int64_t features = 0;  // K: the known columns, a flag each where cells are missing, the calendar
  int64_t modes = 0;     // i: they differ along the first i modes
};
FutureCovariateShape known_shape(const ForecastDataConfig& config, const Series& series);

/// Whether known cells are missing in the rows of `series` itself.
bool known_has_gaps(const Series& series);

/// The first `rows` rows [rows, N_1…N_i, K] float32: the known columns scaled, 0 where missing; with `flags`
/// 1 where each is observed and 0 where not; then the calendar. Undefined where nothing is known ahead.
at::Tensor future_covariate_features(const ForecastDataConfig& config, const Series& series, const Scaler& scaler, bool flags,
                          int64_t rows);

/// The column or the part of the date that each of their K numbers is of.
std::vector<std::string> known_labels(const ForecastDataConfig& config, const Series& series, bool flags);

/// Data error for the first known cell that is missing in rows [first, last) of `series`, which says `why` it
/// may not be.
void require_future_covariates(const Series& series, int64_t first, int64_t last, const std::string& why);

/// Takes the known values of the `horizon` rows after the last of `series` from the file `path`: the rows of
/// their dates, or without dates its first rows. `config` is how `series` was read. Data error where the
/// modes or the dates are others.
void take_future(Series& series, ForecastDataConfig config, const std::string& path, int64_t horizon);

}  // namespace modewise::data
