#pragma once
// The readers behind load_series, one a kind of source. They return values with NaN where a cell is missing;
// load_series makes the mask.

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/series.h"

namespace modewise::data {

/// One CSV file laid on its time axis.
struct Frame {
  std::vector<std::string> header;  // every column of the file
  std::vector<std::string> names;   // the variables
  at::Tensor values;                // [T, N] float64, NaN where missing
  TimeAxis time;
  TimeColumns time_columns;
  std::map<std::string, std::string> constant_texts;  // text columns of one value: column → value
  std::vector<std::string> notes, warnings;             // as in Series
  bool had_header = false;
  Place place;  // of a row of `values` and a variable
};

/// With `like`, the file must have the columns that `like` has, and its variables are taken in that order.
Frame read_frame(const std::string& path, const ForecastDataConfig& config, const Frame* like = nullptr,
                 const std::string& like_path = {});

/// Adds the words of a file's columns that `config.categories` names.
void add_words(Categories& words, const std::string& path, const ForecastDataConfig& config);

Series read_csv_series(const ForecastDataConfig& config);
Series read_folder_series(const ForecastDataConfig& config);
Series read_text_series(const ForecastDataConfig& config);
Series read_npy_series(const ForecastDataConfig& config);
Series read_npz_series(const ForecastDataConfig& config);

/// What was decided about a first row of whole numbers, and the option that decides otherwise.
std::string header_warning(bool names, const std::string& row);

/// The positions of `names` that `columns` and `drop` leave, in the order of `columns`. Config error with the
/// nearest name for a name that is not there.
std::vector<size_t> chosen_columns(const std::vector<std::string>& names, const ForecastDataConfig& config,
                                   const std::string& source);

/// "1", "2", … or "0", "1", ….
std::vector<std::string> numbered_labels(int64_t count, int64_t first);

}  // namespace modewise::data
