#pragma once
// Lines of a CSV file that are not rows: a first line sep=;, the frame of a printed table, comments.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/tables/csv_scanner.h"

namespace modewise::io {

/// A physical line.
struct CsvLine {
  std::string_view text;  // without its end
  int64_t number = 1;
};

/// The delimiter of a first line sep=; that Excel writes, which is then left out, with a note; 0: there is
/// none.
char take_separator_line(std::string_view text, LeftOutLines& left_out, std::vector<std::string>& notes);

/// Leaves out what frames a printed table, with a note: rules above and right below the first line of text,
/// the same rules below the last row, and a count of rows.
void leave_out_frame(std::string_view text, LeftOutLines& left_out, std::vector<std::string>& notes);

/// The comments above the first row; none if all lines are comments.
std::vector<CsvLine> comments_above(std::string_view text, const LeftOutLines& left_out);

/// The mark of a comment that a line begins with: #, %, // or !; "" if there is none.
std::string_view comment_mark(std::string_view text);

/// Removes the mark of a comment, as in a header "# time".
std::string_view strip_comment_mark(std::string_view text);

}  // namespace modewise::io
