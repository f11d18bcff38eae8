#pragma once
// Tokenizer of delimited text: rows of cells.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "modewise/core/error.h"

namespace modewise::io {

class CsvScanner {
 public:
  /// Without `quotes` a quotation mark is an ordinary character (GLUE's files).
  CsvScanner(std::string_view text, char delimiter, const std::string& source, bool quotes = true);

  /// Calls `on_cell(column, text)` for each cell of the next row; the text is valid during the call only.
  /// Empty lines are skipped. False at the end of the text.
  template <class OnCell>
  bool row(OnCell&& on_cell) {
    skip_empty_lines();
    if (at_ == end_) return false;
    row_line_ = line_;
    cells_ = 0;
    do {
      const std::string_view text = quotes_ && at_ != end_ && *at_ == '"' ? quoted_cell() : plain_cell();
      on_cell(cells_++, text);
    } while (take_delimiter());
    take_line_end();
    return true;
  }

  size_t cells() const { return cells_; }     // of the last row
  int64_t line() const { return row_line_; }  // first line of the last row, from 1
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
    return true;
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
  void skip_empty_lines() {
    while (at_ != end_ && (*at_ == '\n' || *at_ == '\r')) take_line_end();
  }
  std::string_view quoted_cell();

  const char* at_;
  const char* end_;
  char delimiter_;
  bool quotes_;
  std::array<bool, 256> stops_{};
  const std::string& source_;
  std::string unquoted_;
  size_t cells_ = 0;
  int64_t line_ = 1, row_line_ = 1;
};

}  // namespace modewise::io
