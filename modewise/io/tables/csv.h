#pragma once
// Tables of delimited text: RFC 4180 quoting, LF or CRLF line ends, a byte order mark, a header or none.
//
// Kinds of columns are decided over the whole file. Of the cells that are not missing: where at least half
// are numbers the column holds numbers; else, where at least half are dates, dates; else text. A cell that
// does not fit its column's kind is an error that names file, line and column, never a silent gap.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/io/tables/date_time.h"
#include "modewise/io/tables/text_cells.h"

namespace modewise::io {

struct CsvOptions {
  enum Header { guess, yes, no };

  char delimiter = 0;  // 0: guess among , ; tab |
  char decimal = 0;    // 0: guess; ',' only where the delimiter is another
  Header header = guess;
  /// Cells that mean "missing", compared after stripping spaces.
  std::vector<std::string> missing = {"",     "NA",   "N/A",  "NaN",  "nan", "NAN",  "null", "NULL",
                                      "Null", "None", "none", "#N/A", "#NA", "-nan", "-NaN", "<NA>"};
};

/// The missing mark of a date column.
inline constexpr int64_t kMissingDate = INT64_MIN;

struct CsvColumn {
  enum Kind { number, date, text };

  std::string name;  // from the header, else "1", "2", …
  Kind kind = number;
  std::vector<double> numbers;  // NaN: missing
  std::vector<int64_t> dates;   // seconds (date_time.h); kMissingDate: missing
  DateStyle date_style;
  TextCells texts;  // unquoted; "" where missing
};

struct CsvTable {
  std::vector<CsvColumn> columns;
  int64_t rows = 0;
  bool had_header = false;
  /// The first cells of the first row where they are different whole numbers, so that they could be names or
  /// values, and nobody said which: "773869, 767541, …". Empty: there was no doubt.
  std::string doubtful_row;
  char delimiter = ',';
  char decimal = '.';
  std::string source;

  const CsvColumn* find(std::string_view name) const;
};

/// Throws data errors for empty input, a header without rows, ragged rows, an open quote, bytes that are not
/// UTF-8, NUL bytes, two columns of one name, and cells that do not fit their column. Memory: 8 bytes a
/// number or date, 4 and its characters a text.
CsvTable parse_csv(std::span<const std::byte> bytes, const std::string& source,
                   const CsvOptions& options = {});
CsvTable read_csv(const std::string& path, const CsvOptions& options = {});

/// What the first row of a table would be taken as.
struct CsvHeader {
  bool names = false;
  std::string doubtful_row;  // as in CsvTable
};
/// Data errors as parse_csv, but only of the first rows.
CsvHeader guess_csv_header(std::span<const std::byte> bytes, const std::string& source,
                           const CsvOptions& options = {});

}  // namespace modewise::io
