#pragma once
// Tokenizer of delimited text: rows of cells.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/error.h"

namespace modewise::io {

/// Lines of a delimited file that are not rows.
struct LeftOutLines {
  struct Range {
    int64_t first = 0, last = 0;  // counted from 1
  };
  std::vector<Range> ranges;  // sorted
  /// Not 0: a line that begins with # and does not have this number of cells is a comment.
  size_t width = 0;

  void add(Range range);
  bool contains(int64_t line) const;
};

/// Number of cells of a line, also if a quote is not closed.
size_t count_cells(std::string_view line, char delimiter);

/// Number of LF, CRLF and CR.
int64_t count_line_ends(std::string_view text);

class CsvScanner {
 public:
  /// Several spaces in a row are one delimiter. Without `quotes` a quotation mark is an ordinary character
  /// (GLUE's files).
  CsvScanner(std::string_view text, char delimiter, const std::string& source, bool quotes = true);

  /// Leaves out these lines, which must outlive the scanner.
  void leave_out(const LeftOutLines& lines) { left_out_ = &lines; }

  /// Calls `on_cell(column, text)` for each cell of the next row; the text is valid during the call only.
  /// Empty lines are skipped. False at the end of the text.
  template <class OnCell>
  bool row(OnCell&& on_cell) {
    skip_other_lines();
    if (at_ == end_) return false;
    row_line_ = line_;
    cells_ = 0;
    if (delimiter_ == ' ') skip_spaces();
    do {
      const std::string_view text = quotes_ && at_ != end_ && *at_ == '"' ? quoted_cell() : plain_cell();
      on_cell(cells_++, text);
    } while (take_delimiter());
    take_line_end();
    return true;
  }

  size_t cells() const { return cells_; }         // of the last row
  int64_t line() const { return row_line_; }      // first line of the last row, from 1
  int64_t comments() const { return comments_; }  // comment lines so far, without those of the ranges
  /// The unread text.
  std::string_view rest() const { return {at_, static_cast<size_t>(end_ - at_)}; }

 private:
  std::string_view plain_cell() {
    const char* const begin = at_;
    while (at_ != end_ && !stops_[static_cast<unsigned char>(*at_)]) ++at_;
    return {begin, static_cast<size_t>(at_ - begin)};
  }
  bool take_delimiter() {
    if (at_ == end_ || *at_ != delimiter_) return false;
    ++at_;
    if (delimiter_ != ' ') return true;
    skip_spaces();
    return at_ != end_ && *at_ != '\n' && *at_ != '\r';
  }
  void take_line_end() {
    if (at_ == end_) return;
    if (*at_ == '\r') {
      ++at_;
      if (at_ != end_ && *at_ == '\n') ++at_;
    } else {
      ++at_;
    }
    ++line_;
  }
  void skip_other_lines() {
    while (at_ != end_) {
      if (*at_ == '\n' || *at_ == '\r')
        take_line_end();
      else if (left_out_ == nullptr || (left_out_->ranges.empty() && *at_ != '#') || !skip_left_out_line())
        break;
    }
  }
  void skip_spaces() {
    while (at_ != end_ && *at_ == ' ') ++at_;
  }
  bool skip_left_out_line();
  std::string_view quoted_cell();

  const char* at_;
  const char* end_;
  char delimiter_;
  bool quotes_;
  std::array<bool, 256> stops_{};
  const std::string& source_;
  const LeftOutLines* left_out_ = nullptr;
  std::string unquoted_;
  size_t cells_ = 0;
  int64_t line_ = 1, row_line_ = 1, comments_ = 0;
};

}  // namespace modewise::io
