#pragma once
// A data set made ready for forecasting: split, scaled by its training rows, cut into windows.

#include <ATen/core/Tensor.h>

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
  std::optional<data::Scaler> known_scaler;  // of the columns that are known ahead
  data::SplitWindows windows;
  data::WindowSource source;
  std::string hash;        // of values and mask
  std::string chosen;      // what choose_defaults said
  int64_t row_offset = 0;  // rows from the first row a model was trained on to this series' first
};

/// Loads what `config` names, and sets what it leaves open (choose_defaults.h). Errors as load_series,
/// make_splits and WindowSet give them.
ForecastData load_forecast_data(ForecastConfig& config);

/// The windows of each split under this config's strides and fractions.
data::SplitWindows cut_forecast_windows(const ForecastConfig& config, const data::Splits& splits);

/// The windows of "train" or "validation"; any other name is the test part. Data error where it has none.
const data::WindowSet& windows_of(const data::SplitWindows& windows, const std::string& part);

/// Says on stderr what of the source could be meant otherwise.
void print_warnings(const data::Series& series);

/// "7 variables × 24 sites".
std::string modes_text(const data::Series& series);

/// Content hash of values and mask, of known columns too as far as the series' rows go.
std::string hash_of(const data::Series& series);

/// The columns that a run's model is told ahead.
struct FutureCovariateSummary {
  std::vector<data::SeriesMode> modes;
  data::Scaler scaler;
  bool missing = false;  // trained with flags of missing cells
};

/// What a run keeps of its data in data.json, so that later files can be checked and scaled in the same way.
struct DataSummary {
  std::vector<data::SeriesMode> modes;
  data::Scaler scaler;
  data::TimeAxis time;
  std::string source, hash;
  bool missing = false;        // trained with masks
  std::optional<bool> header;  // as in Series
  data::Categories categories;
  std::optional<FutureCovariateSummary> known;
  data::FutureCovariateShape ahead;  // of what windows bring of known columns and calendar
};
DataSummary summarize(const ForecastData& data);
nlohmann::ordered_json to_json(const DataSummary& summary);
/// The summary of data.json, `source`, as read_run_data reads it.
DataSummary data_summary(const nlohmann::json& json, const std::string& source);

/// A row of the shape of what the run was trained on, for the sizes of its model.
data::Series shape_of(const DataSummary& summary);

/// Checks that `series` continues what the run was trained on: the same modes, the same step between rows, no
/// missing cells where the model takes none. Data errors that name what differs.
void require_fits(const DataSummary& run, const data::Series& series);
/// How many rows after the run's first row `series` begins, so that periodic profiles keep their phase. 0
/// where one of the two has no dates.
int64_t row_offset(const DataSummary& run, const data::Series& series);

/// The windows' source of `series`, scaled as the run's data were, with what is known of `rows_ahead` rows
/// behind it. Data error where a known cell is missing in row `first` or later though the run's model takes
/// none.
data::WindowSource run_source(const DataSummary& run, const data::ForecastDataConfig& config,
                              const data::Series& series, int64_t first = 0, int64_t rows_ahead = 0);
/// What a model sees of windows; `row_offset` (ForecastData) is added to their first steps.
models::ForecastInput model_input(const data::WindowBatch& batch, int64_t row_offset = 0);

/// What a model is fitted to: training and validation rows with their windows.
models::FittingRows fitting_rows(const ForecastData& data);
/// The same of all rows, without windows, for a forecast beyond the last one.
models::FittingRows fitting_rows(const data::WindowSource& source, const data::Scaler& scaler);

/// Mean of the scaled training rows r with r mod `cycle` = i, less the mean of all of them: [cycle, N_1…N_j]
/// float32, 0 where nothing was observed. Where a model's periodic profile starts.
at::Tensor cycle_profile(const ForecastData& data, int64_t cycle);

/// The scaler as plain vectors, one value a series, row-major over the modes.
std::vector<double> scaler_means(const data::Scaler& scaler);
std::vector<double> scaler_stddevs(const data::Scaler& scaler);

}  // namespace modewise::tasks
