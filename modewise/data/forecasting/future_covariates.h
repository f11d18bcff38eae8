#pragma once
// Future covariates: columns known beyond the last row (plans, prices, holidays) and calendar features. They
// are inputs over lookback and horizon, neither forecast nor evaluated.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/scaler.h"
#include "modewise/data/forecasting/series.h"

namespace modewise::data {

/// Moves the columns of `config.known` from the last mode of `series` to `series.known`. Rows after the last
/// observed value then belong only to `known`. Config errors: no such numeric column, a duplicate, nothing
/// left to forecast. Data error: no observed value is left.
void take_known(Series& series, const ForecastDataConfig& config);

/// Sizes of the future covariates of a window.
struct FutureCovariateShape {
  int64_t features = 0;  // K: columns, missing-value flags if cells are missing, calendar features
  int64_t modes = 0;     // i: they vary along the first i modes
};
FutureCovariateShape known_shape(const ForecastDataConfig& config, const Series& series);

/// Whether covariate cells are missing in the rows of `series`.
bool known_has_gaps(const Series& series);

/// Future covariates of the first `rows` rows, [rows, N_1…N_i, K] float32: the columns scaled, 0 where
/// missing; with `flags` 1 if observed, else 0; then the calendar features. Undefined if there are none.
at::Tensor future_covariate_features(const ForecastDataConfig& config, const Series& series,
                                     const Scaler& scaler, bool flags, int64_t rows);

/// Name of each of the K features: its column or date part.
std::vector<std::string> known_labels(const ForecastDataConfig& config, const Series& series, bool flags);

/// Data error for the first missing covariate cell in rows [first, last) of `series`; `why` ends the message.
void require_future_covariates(const Series& series, int64_t first, int64_t last, const std::string& why);

/// Reads the future covariates of the `horizon` rows after `series` from the file `path`: by date, or its
/// first rows if there are no dates. `config` is the config of `series`. Data errors if modes or dates do not
/// match, and for a missing cell.
void take_future(Series& series, ForecastDataConfig config, const std::string& path, int64_t horizon);

}  // namespace modewise::data
