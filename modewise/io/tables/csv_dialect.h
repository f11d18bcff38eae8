#pragma once
// CSV dialect detection from the first rows: delimiter, decimal mark, header.

#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/tables/csv.h"
#include "modewise/io/tables/csv_scanner.h"

namespace modewise::io {

/// Limit for hostile files: a column takes some hundred bytes of memory, but only one byte of the file.
inline constexpr size_t kCsvColumnLimit = 100'000;

/// Kind of a single cell.
enum class CellKind {
  missing,
  number,
  date,
  text,
  mark,  // missing in a column of numbers, else text (is_missing_mark)
};

/// Recognises missing cells.
class MissingValues {
 public:
  MissingValues(const std::vector<std::string>& marks, char decimal);
  bool contains(std::string_view text) const;
  /// For numeric marks such as -9999.
  bool contains(double value) const;

 private:
  std::vector<std::string> texts_;
  std::vector<double> numbers_;
};

/// With `plain` only plain numbers are numbers, and there are no marks.
CellKind kind_of(std::string_view text, char decimal, const MissingValues& missing, bool plain = false);

/// The kind of a column by the numbers of cells of each kind.
CsvColumn::Kind majority_of(size_t numbers, size_t dates, size_t texts, size_t marks);

/// How a header is fitted to rows that all have other numbers of cells.
struct NameFit {
  bool row_names = false;  // the first column has no name
  size_t clock = 0;        // not 0: the column of clock times that share the name of the dates before them
  bool blank_end = false;  // the rows end in a delimiter
  bool spare_end = false;  // the header does

  size_t added() const { return size_t{row_names} + size_t{clock > 0} + size_t{blank_end}; }
  void apply(std::vector<std::string>& names) const;
};

struct CsvDialect {
  char delimiter = ',';
  char decimal = '.';
  bool header = true;
  /// Cells of the further rows of the header, which are left out.
  std::vector<std::vector<std::string>> more_names;
  std::string suspect_row;             // as in CsvTable
  std::vector<CsvColumn::Kind> kinds;  // column kinds by the first rows
  LeftOutLines left_out;               // without comments between rows; with the frame of a printed table
  int64_t comments = 0;                // above the first row
  bool header_after_comment = false;   // the header begins with a comment mark
  NameFit name_fit;
  std::vector<std::string>
      notes;  // a line sep=;, a frame, comments, a header behind a comment mark, shared names
};

/// Removes the mark of a comment, as in a header "# time": #, %, // or !.
std::string_view strip_comment_mark(std::string_view text);

/// How many lines stand above the first of the rows of equal width, two cells or more, that make up most of
/// the beginning; 0: none, or no such rows.
int64_t lines_above_table(std::string_view text, const std::string& source, const LeftOutLines& left_out);

/// `text` must have at least one row.
CsvDialect guess_dialect(std::string_view text, const std::string& source, const CsvOptions& options);

}  // namespace modewise::io
