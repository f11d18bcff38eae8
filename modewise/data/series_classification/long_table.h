#pragma once
// Long tables, which have one row per step of a sample, are not read as tables with one sample per row.

#include <optional>

#include "modewise/io/tables/csv.h"

namespace modewise::data {

/// The columns of a long table.
struct LongTable {
  const io::CsvColumn *ids, *steps;
};

/// The columns of a long table: ids that repeat, each with one class, and dates or numbers that rise within
/// each id; nullopt for other tables. `classes`: the class column; nullptr: none.
std::optional<LongTable> find_long_table(const io::CsvTable& table, const io::CsvColumn* classes);

}  // namespace modewise::data
