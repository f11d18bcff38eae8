#pragma once
// CSV reader: RFC 4180 quoting, LF, CRLF or CR line ends, byte order mark, a first line sep=;, comments,
// optional header.
//
// The kind of a column follows from all its non-missing cells: number if at least half are numbers; else date
// if at least half are dates; else text. A cell of another kind than its column is an error that names file,
// line and column, never silently missing.
//
// Numbers are plain (1.5e3) or written (1,234.5, 5%, $5, 68.18K, (5), −5). The decimal and the thousands mark
// are decided over the whole column, and over the whole file where a column leaves them open ("1.737"); if
// the file leaves them open too, it is an error. CsvTable::notes names each reading of this kind.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/tables/csv_scanner.h"
#include "modewise/io/tables/date_time.h"
#include "modewise/io/tables/number_cells.h"
#include "modewise/io/tables/text_cells.h"

namespace modewise::io {

struct CsvOptions {
  enum Header { guess, yes, no };

  char delimiter = 0;      // 0: guess among , ; tab |
  char decimal = 0;        // 0: decided from the numbers
  char usual_decimal = 0;  // where the numbers leave the decimal mark open; 0: an error
  /// Unset: decided from the numbers; 0: none; ' ': any kind of space.
  std::optional<char> thousands = std::nullopt;
  bool magnitudes = true;      // K, M and B behind numbers are thousands, millions and billions; false: units
  bool plain_numbers = false;  // written numbers are text, with no notes
  /// Rows are series: all columns share a decimal mark, and errors name no settings of forecasting alone.
  bool series_in_rows = false;
  std::vector<LeftOutLines::Range> skip_lines = {};  // lines to skip
  Header header = guess;
  int64_t header_rows = 1;  // with more the first row is a header, whose names get the texts of the next rows
  /// Texts of missing cells, compared after stripping spaces.
  std::vector<std::string> missing = {"",     "NA",   "N/A",  "NaN",  "nan", "NAN",  "null", "NULL",
                                      "Null", "None", "none", "#N/A", "#NA", "-nan", "-NaN", "<NA>"};
  /// Whether the column of a name is text whatever it holds, such as series ids: leading zeros, long digits
  /// and forms of dates come back as written. Not set: no such column.
  std::function<bool(std::string_view name)> is_text = {};
};

/// The missing value of a date column.
inline constexpr int64_t kMissingDate = INT64_MIN;

struct CsvColumn {
  enum Kind { number, date, text };

  std::string name;  // from the header ("column 2" if it has none), else "1", "2", …
  Kind kind = number;
  NumberCells numbers;          // NaN: missing
  bool plain_integers = false;  // all numbers are written as fmt would write them: at most 15 digits
  std::string unit;             // left out before or behind the numbers: kWh, %, €; "": none
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
  bool decimal_proven = false;     // a number can only be read with this mark
  LeftOutLines left_out;           // lines to skip
  std::vector<int64_t> file_rows;  // row of the file that each row comes from; empty: the same
  std::vector<std::string> notes;  // how the file was read, where that is not plain
  std::string source;

  const CsvColumn* find(std::string_view name) const;
};

/// Throws data errors for empty input, a header without rows, ragged rows, an unclosed quote, invalid UTF-8,
/// NUL bytes, duplicate column names, cells that do not fit their column, and numbers whose marks can be read
/// in two ways; the last two name the option that helps. Leaves out rows of delimiters alone at the end and
/// empty columns without a name. Memory: 1 to 8 bytes per number, 8 per date,
/// 4 plus its characters per text.
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
