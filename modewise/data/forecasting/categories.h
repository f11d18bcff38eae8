#pragma once
// Columns of words as numbers: yes and no, or the names of stations, become columns of 0 and 1.

#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

/// Adds the words of the columns that `config.categories` names to `words`. Config error: no such column.
/// Data errors: a column that holds no words, or more than 64 different ones.
void add_words(Categories& words, const io::CsvTable& table, const ForecastDataConfig& config);

/// Puts columns of numbers in the place of those of words: of two words one under the old name, 1 where the
/// second word stands; of more words one each, "wind=NNW", 1 where that word stands. A cell without a word is
/// missing in all. What `config.columns` and `config.drop` say of the old name holds for the new ones then.
/// Data errors: fewer than two words; a word that is none of `categories`, with its line; so many rows and
/// words that their cells would take more than twice the file and 64 MiB.
void encode_categories(io::CsvTable& table, const Categories& categories, ForecastDataConfig& config);

}  // namespace modewise::data
