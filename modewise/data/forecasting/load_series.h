#pragma once
// Loads a Series from CSV, numeric text, NPY, NPZ, a folder of CSV files, or a simulated system.

#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/series.h"

namespace modewise::data {

/// Loads or simulates the series of `config`. Errors: config (contradicting options, unknown columns),
/// no_input, data (with file and line).
///
/// CSV: the first column of dates (or `time_column`, or columns year, month, day, hour …) is the time axis,
/// numeric columns are the variables in file order; text columns and row indices are dropped with a note.
/// Folder: each `*.csv` is one position of the first mode, labelled by its file name without common prefix
/// and suffix; all files must have the same columns and dates. Numeric text has no dates. NPY and NPZ:
/// `time_axis` is time, NaN is missing. Rows after the last value to forecast are left out with a warning.
Series load_series(const ForecastDataConfig& config);

}  // namespace modewise::data
