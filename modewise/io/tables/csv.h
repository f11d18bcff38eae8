#pragma once
// CSV reader: RFC 4180 quoting, LF or CRLF line ends, byte order mark, optional header.
//
// The kind of a column follows from all its non-missing cells: number if at least half are numbers; else date
// if at least half are dates; else text. A cell of another kind than its column is an error that names file,
// line and column, never silently missing.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/tables/date_time.h"
#include "modewise/io/tables/text_cells.h"

namespace modewise::io {

struct CsvOptions {
  enum Header { guess, yes, no };

  char delimiter = 0;  // 0: guess among , ; tab |
  char decimal = 0;    // 0: guess; ',' only if it is not the delimiter
  Header header = guess;
  /// Texts of missing cells, compared after stripping spaces.
  std::vector<std::string> missing = {"",     "NA",   "N/A",  "NaN",  "nan", "NAN",  "null", "NULL",
                                      "Null", "None", "none", "#N/A", "#NA", "-nan", "-NaN", "<NA>"};
  /// Whether the column of a name is text whatever it holds, such as series ids: leading zeros, long digits
  /// and forms of dates come back as written. Not set: no such column.
  std::function<bool(std::string_view name)> is_text;
};

/// The missing value of a date column.
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
  /// First cells of the first row if they are distinct integers that may be names or values, and the option
  /// is `guess`: "773869, 767541, …". Empty: no doubt.
  std::string suspect_row;
  char delimiter = ',';
  char decimal = '.';
  std::string source;

  const CsvColumn* find(std::string_view name) const;
};

/// Throws data errors for empty input, a header without rows, ragged rows, an unclosed quote, invalid UTF-8,
/// NUL bytes, duplicate column names, and cells that do not fit their column. Memory: 8 bytes per number or
/// date, 4 plus its characters per text.
CsvTable parse_csv(std::span<const std::byte> bytes, const std::string& source,
                   const CsvOptions& options = {});
CsvTable read_csv(const std::string& path, const CsvOptions& options = {});

/// Result of guess_csv_header: whether the first row is a header.
struct CsvHeader {
  bool names = false;
  std::string suspect_row;  // as in CsvTable
};
/// Reads the first rows only; data errors as parse_csv.
CsvHeader guess_csv_header(std::span<const std::byte> bytes, const std::string& source,
                           const CsvOptions& options = {});

}  // namespace modewise::io
