#pragma once
// Any source into a Series: CSV, numeric text, NPY, NPZ, a folder of CSV files, or a simulated system.

#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/series.h"

namespace modewise::data {

/// Reads or simulates what `config` says. Errors: config (contradicting options, unknown columns), no_input,
/// data (with file and line).
///
/// CSV: the first column of dates (or `time_column`, or columns year, month, day, hour …) is the time axis,
/// numeric columns are the variables in the file's order; text columns and row numbers are dropped with a
/// note. Folder: each `*.csv` is one position of the first mode, labelled by its name without what all names
/// share; all files must have the same columns and dates. Numeric text has no dates. NPY and NPZ: `time_axis`
/// is time, NaN is missing.
Series load_series(const ForecastDataConfig& config);

}  // namespace modewise::data
