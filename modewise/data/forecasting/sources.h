#pragma once
// Readers of load_series, one for each type of source. They return NaN for missing cells; load_series makes
// the mask.

#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/panel_covariates.h"
#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/tables/long_table.h"
#include "modewise/data/forecasting/tables/series_table.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

/// With `like`, the file must have the same columns, and its variables are read in the order of `like`.
Frame read_frame(const std::string& path, const ForecastDataConfig& config, const Frame* like = nullptr,
                 const std::string& like_path = {});

/// Whether the header of `config`'s table has a usual name of series ids.
bool header_names_ids(const ForecastDataConfig& config);
/// The table of `config` before its series are laid out; nullopt if it is not a long table.
std::optional<SeriesTable> read_long_table(const ForecastDataConfig& config);
/// The CSV files of a folder as a long table: a file per series, named by it, each with its own start and
/// end. Data error for files whose time steps differ.
SeriesTable read_panel_folder(const ForecastDataConfig& config);
/// Whether `config` names a CSV table: not an array, numeric text, a folder or a simulation.
bool reads_table(const ForecastDataConfig& config);

/// Adds the categories of a file's columns in `config.categories`.
void add_words(Categories& words, const std::string& path, const ForecastDataConfig& config);

Series read_csv_series(const ForecastDataConfig& config);
Series read_folder_series(const ForecastDataConfig& config);
Series read_text_series(const ForecastDataConfig& config);
Series read_npy_series(const ForecastDataConfig& config);
Series read_npz_series(const ForecastDataConfig& config);

/// Warning about a first row of whole numbers: header or values, and the option that changes it.
std::string header_warning(bool names, const std::string& row);

/// "1", "2", … or "0", "1", ….
std::vector<std::string> numbered_labels(int64_t count, int64_t first);

}  // namespace modewise::data
