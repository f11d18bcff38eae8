#pragma once
// CSV dialect detection from the first rows: delimiter, decimal mark, header.

#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/tables/csv.h"
#include "modewise/io/tables/csv_header.h"
#include "modewise/io/tables/csv_scanner.h"

namespace modewise::io {

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

/// Advice where other lines stand above the rows of equal width, two cells or more, that make up most of the
/// beginning: "the rows below line 4 have equal width: data.skip_lines = 1-4 leaves out what stands above". A
/// header above a line of units stays in the table. "": no such rows, or nothing above them.
std::string advice_above_table(std::string_view text, const std::string& source, const CsvOptions& options,
                               const LeftOutLines& left_out);

/// `text` must have at least one row.
CsvDialect guess_dialect(std::string_view text, const std::string& source, const CsvOptions& options);

}  // namespace modewise::io
