#pragma once
// Reader of one column, cell by cell: stores the expected kind, counts the actual kinds.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modewise/io/tables/cell_kind.h"
#include "modewise/io/tables/csv.h"
#include "modewise/io/tables/date_column.h"
#include "modewise/io/tables/written_number.h"

namespace modewise::io {

/// How all columns of a table read their cells.
struct CsvCells {
  char decimal = '.';
  bool plain = false;               // as CsvOptions::plain_numbers
  bool magnitudes = true;           // as CsvOptions::magnitudes
  FormatSet allowed = kAllFormats;  // by the options
  MissingValues missing;
};

/// Evidence in the numbers of a column about their format.
struct NumberEvidence {
  FormatSet formats = kAllFormats;  // that fit all numbers
  bool marked = false;              // a number has a point or comma
  std::string open;                 // the first number whose mark can be read in two ways
  int64_t open_line = 0;
  int64_t written = 0;  // numbers that are not plain; the counts below are part of them
  int64_t percent = 0, magnitude = 0, accounting = 0, trailing_minus = 0, unicode_minus = 0;
  int64_t flags = 0;  // numbers before a flag such as (p), not counted as written
  std::string flag;   // the first of them
  std::string_view currency;
  std::string example;  // the first number that decides the format, for messages
};

class CsvColumnReader {
 public:
  enum class Result { good, read_again, misfit };

  /// `cells` must outlive the reader. Reserves memory for `rows`. With `only_text` the column is text
  /// whatever it holds.
  CsvColumnReader(std::string name, CsvColumn::Kind expected, const CsvCells& cells, size_t rows,
                  bool only_text = false);

  void add(std::string_view cell, int64_t line);

  /// Call after the last row. `read_again` if most cells are of another kind than expected; `misfit` if a
  /// cell does not fit its column.
  Result finish(const std::string& source);
  /// The error about the cell that does not fit; `remedy` ends the sentence.
  [[noreturn]] void fail_misfit(const std::string& source, const std::string& remedy) const;

  const std::string& name() const { return column_.name; }
  CsvColumn::Kind kind() const { return column_.kind; }
  bool all_missing() const { return numbers_ + dates_ + texts_ + marks_ == 0; }
  int64_t misfit_line() const { return misfit_line_; }
  const std::string& misfit() const { return misfit_; }
  int64_t misfit_count() const { return misfit_count_; }  // cells that are equal to the first misfit

  /// The unit behind all numbers, which is left out; "": none.
  const std::string& unit() const { return unit_; }
  const NumberEvidence& evidence() const { return evidence_; }
  const std::optional<NumberFormat>& format() const { return format_; }
  /// Cells that are missing in a column of numbers only (is_missing_mark), by text.
  const std::vector<std::pair<std::string, int64_t>>& marks() const { return mark_counts_; }
  /// Reads the column again, as numbers of this format.
  void start_again(NumberFormat format);

  CsvColumn take();

 private:
  void start(CsvColumn::Kind kind);
  CellKind kind_of_cell(std::string_view cell) const;
  void add_number(std::string_view cell, int64_t line);
  void add_text(std::string_view cell);
  void count_mark(std::string_view cell, int64_t line);
  void see_plain(std::string_view cell, int64_t line);
  void see_written(std::string_view cell, int64_t line);
  void narrow(FormatSet formats, std::string_view cell, int64_t line);
  void note_misfit(std::string_view cell, int64_t line, std::string why = {});
  CsvColumn::Kind majority() const;
  void become_compact_dates();
  bool find_unit();
  std::string_view without_unit(std::string_view cell) const;

  CsvColumn column_;
  DateColumn date_column_;
  const CsvCells* cells_;
  size_t reserve_;
  bool only_text_;
  NumberEvidence evidence_;
  std::optional<NumberFormat> format_;
  std::string unit_;
  bool plain_integers_ = true;                               // as in CsvColumn
  bool settled_ = false;                                     // plain numbers say nothing new about the format
  int64_t numbers_ = 0, dates_ = 0, texts_ = 0, marks_ = 0;  // cells of each kind
  std::vector<std::pair<std::string, int64_t>> mark_counts_;
  int64_t misfit_line_ = 0;  // the first cell that does not fit; 0: none
  int64_t misfit_count_ = 0;
  std::string misfit_, misfit_why_;
  bool too_long_ = false;
  bool read_as_[3] = {false, false, false};
};

}  // namespace modewise::io
