#pragma once
// Reader of one column, cell by cell: stores the expected kind, counts the actual kinds.

#include <cstdint>
#include <string>
#include <string_view>

#include "modewise/io/tables/csv.h"
#include "modewise/io/tables/csv_dialect.h"
#include "modewise/io/tables/date_column.h"

namespace modewise::io {

class CsvColumnReader {
 public:
  enum class Result { good, read_again };

  /// `missing` must outlive the reader. Reserves memory for `rows`. With `only_text` the column is text
  /// whatever it holds.
  CsvColumnReader(std::string name, CsvColumn::Kind expected, char decimal, const MissingValues& missing,
                  size_t rows, bool only_text = false);

  void add(std::string_view cell, int64_t line);

  /// Call after the last row. `read_again` if most cells are of another kind than expected; a cell that does
  /// not fit its column is a data error.
  Result finish(const std::string& source);

  const std::string& name() const { return column_.name; }
  bool all_missing() const { return numbers_ + dates_ + texts_ == 0; }
  CsvColumn take();

 private:
  void start(CsvColumn::Kind kind);
  void add_text(std::string_view cell);
  void note_misfit(std::string_view cell, int64_t line);
  CsvColumn::Kind majority() const;
  void become_compact_dates();

  CsvColumn column_;
  DateColumn date_column_;
  char decimal_;
  const MissingValues* missing_;
  size_t reserve_;
  bool only_text_;
  int64_t numbers_ = 0, dates_ = 0, texts_ = 0;  // cells of each kind
  int64_t misfit_line_ = 0;                      // the first cell that does not fit; 0: none
  std::string misfit_;
  bool too_long_ = false;
  bool read_as_[3] = {false, false, false};
};

}  // namespace modewise::io
