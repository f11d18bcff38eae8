#pragma once
// One-hot encoding of categorical columns.

#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

/// Adds the categories of the columns in `config.categories` to `words`. Config error: no such column. Data
/// errors: a column without words, or with more than 64 different ones.
void add_words(Categories& words, const io::CsvTable& table, const ForecastDataConfig& config);

/// Replaces categorical columns by 0/1 columns: for two categories one column under the old name, 1 for the
/// second; for more categories one column each, "wind=NNW". An empty cell is missing in all of them. The old
/// name in `config.columns` and `config.drop` is replaced by the new names. Data errors: fewer than two
/// categories; a word that is not in `categories`, with its line; a result of more than twice the file and
/// 64 MiB.
void encode_categories(io::CsvTable& table, const Categories& categories, ForecastDataConfig& config);

}  // namespace modewise::data
