#pragma once
// Readers of load_series, one for each type of source. They return NaN for missing cells; load_series makes
// the mask.

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/long_table.h"
#include "modewise/data/forecasting/panel_covariates.h"
#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/table_time.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

/// A CSV file on its time axis.
struct Frame {
  std::vector<std::string> header;  // every column of the file
  std::vector<std::string> names;   // the variables
  at::Tensor values;                // [T, N] float64, NaN where missing
  TimeAxis time;
  TimeColumns time_columns;
  std::map<std::string, std::string> constant_texts;  // constant text columns: column → value
  std::vector<std::string> notes, warnings;           // as in Series
  bool had_header = false;
  std::string decimal;  // as in Series
  Place place;          // location of a cell (row of `values`, variable)
};

/// With `like`, the file must have the same columns, and its variables are read in the order of `like`.
Frame read_frame(const std::string& path, const ForecastDataConfig& config, const Frame* like = nullptr,
                 const std::string& like_path = {});

/// A long table before its series are laid side by side.
struct LongTable {
  io::CsvTable table;
  TableTime time;
  TableIds ids;
  TimeColumns time_columns;
  std::vector<std::string> id_names;
  std::vector<size_t> values;  // columns of values
  std::vector<StaticColumn> statics;
  std::vector<ClockChange> clock_changes;
  std::vector<std::string> notes, warnings;
};
/// Whether the header of `config`'s table has a usual name of series ids.
bool header_names_ids(const ForecastDataConfig& config);
/// The table of `config`; nullopt if it is not a long table.
std::optional<LongTable> read_long_table(const ForecastDataConfig& config);
/// The CSV files of a folder as a long table: a file per series, named by it, each with its own start and
/// end. Data error for files whose time steps differ.
LongTable read_panel_folder(const ForecastDataConfig& config);
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

/// Positions of `names` selected by `columns` and `drop`, in the order of `columns`. Config error with the
/// nearest name for an unknown name.
std::vector<size_t> chosen_columns(const std::vector<std::string>& names, const ForecastDataConfig& config,
                                   const std::string& source);

/// "1", "2", … or "0", "1", ….
std::vector<std::string> numbered_labels(int64_t count, int64_t first);

}  // namespace modewise::data
