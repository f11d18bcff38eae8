#pragma once
// Forecasting data: splits, scaling by the training rows, and windows.

#include <ATen/core/Tensor.h>

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "modewise/data/forecasting/future_covariates.h"
#include "modewise/data/forecasting/scaler.h"
#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/splits.h"
#include "modewise/data/forecasting/windows.h"
#include "modewise/tasks/forecasting/config.h"

namespace modewise::tasks {

struct ForecastData {
  data::Series series;
  data::Splits splits;
  data::Scaler scaler;
  std::optional<data::Scaler> known_scaler;  // of the future covariates
  data::SplitWindows windows;
  data::WindowSource source;
  std::string hash;        // of values and mask
  std::string chosen;      // result of choose_defaults
  int64_t unread = 0;      // test rows of the source that were left out
  int64_t row_offset = 0;  // rows from the first training row of the model to the first row here
};

/// Loads the data of `config` and sets its open values (choose_defaults.h). Errors of load_series,
/// make_splits and WindowSet.
ForecastData load_forecast_data(ForecastConfig& config);

/// Windows of each split with the config's strides and fractions.
data::SplitWindows cut_forecast_windows(const ForecastConfig& config, const data::Splits& splits);

/// Windows of "train" or "validation"; any other name is the test split. Data error if it is empty.
const data::WindowSet& windows_of(const data::SplitWindows& windows, const std::string& part);

/// Logs the warnings of the series.
void print_warnings(const data::Series& series);

/// Hash of values, mask, and future covariates within the series' rows.
std::string hash_of(const data::Series& series);

/// Future covariates of a run.
struct FutureCovariateSummary {
  std::vector<data::SeriesMode> modes;
  data::Scaler scaler;
  bool missing = false;  // trained with missing-value flags
};

/// Data summary of a run (data.json), used to check and scale later files in the same way.
struct DataSummary {
  std::vector<data::SeriesMode> modes;
  data::Scaler scaler;
  data::TimeAxis time;
  std::string source, hash;
  bool missing = false;                                     // trained with masks
  std::optional<bool> header;                               // as in Series
  std::string decimal;                                      // as in Series
  std::optional<std::map<std::string, std::string>> units;  // as in Series; none: a run made before
  data::Categories categories;
  std::optional<FutureCovariateSummary> known;
  data::FutureCovariateShape ahead;  // sizes of the future covariates of windows
  std::string calendar_days;         // "all" for runs of every step that know no calendars, else empty
  int64_t unread = 0;                // as in ForecastData; 0 also for runs made before
  std::string date_order;            // as in ForecastDataConfig
};
DataSummary summarize(const ForecastData& data);
nlohmann::ordered_json to_json(const DataSummary& summary);
/// Parses data.json; `source` is its name. Throws nlohmann's exceptions for a missing key or another type.
DataSummary data_summary(const nlohmann::json& json, const std::string& source);

/// A one-row series with the run's modes, for the sizes of its model.
data::Series shape_of(const DataSummary& summary);

/// Data error for columns of `source` that have another unit than in the training data; a warning for those
/// that have one in only one of both.
void require_same_units(const std::map<std::string, std::string>& trained, const std::string& training_source,
                        const std::map<std::string, std::string>& units, const std::string& source);

/// Checks that `series` fits the run: the same modes and time step, no missing cells if the model takes none.
/// Data errors name the difference.
void require_fits(const DataSummary& run, const data::Series& series);
/// Rows from the run's first row to the first row of `series`; 0 without dates.
int64_t row_offset(const DataSummary& run, const data::Series& series);

/// Window source of `series` with the run's scaling, and future covariates for `rows_ahead` rows after it.
/// Data error if a covariate is missing in row `first` or later but the model takes no missing cells.
data::WindowSource run_source(const DataSummary& run, const data::ForecastDataConfig& config,
                              const data::Series& series, int64_t first = 0, int64_t rows_ahead = 0);
/// Model input of windows; `row_offset` (ForecastData) is added to their first steps.
models::ForecastInput model_input(const data::WindowBatch& batch, int64_t row_offset = 0);

/// Rows for fitted models: training and validation rows with their windows.
models::FittingRows fitting_rows(const ForecastData& data);
/// All rows, without windows, for a forecast beyond the last one.
models::FittingRows fitting_rows(const data::WindowSource& source, const data::Scaler& scaler);

/// Initial periodic profile: mean of the scaled training rows r with r mod `cycle` = i, minus the overall
/// mean: [cycle, N_1…N_j] float32, 0 where nothing is observed.
at::Tensor cycle_profile(const ForecastData& data, int64_t cycle);

/// Scaler as vectors, one value per series, row-major over the modes.
std::vector<double> scaler_means(const data::Scaler& scaler);
std::vector<double> scaler_stddevs(const data::Scaler& scaler);

}  // namespace modewise::tasks
