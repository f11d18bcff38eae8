#pragma once
// Invariants of every CSV table that is read.

#include "modewise/io/tables/csv.h"
#include "tests/fuzz/fuzz.h"

namespace modewise::io {

inline void expect_whole(const CsvTable& table) {
  expect(table.rows > 0 && !table.columns.empty());
  for (const CsvColumn& column : table.columns) {
    const auto rows = static_cast<size_t>(table.rows);
    expect(column.numbers.size() == (column.kind == CsvColumn::number ? rows : 0));
    expect(column.dates.size() == (column.kind == CsvColumn::date ? rows : 0));
    expect(column.texts.size() == (column.kind == CsvColumn::text ? rows : 0));
    expect(table.find(column.name) == &column);
  }
}

}  // namespace modewise::io
