#include "modewise/io/tables/csv_scanner.h"

#include <algorithm>
#include <cstring>

#include "modewise/io/utf8.h"

namespace modewise::io {

void LeftOutLines::add(Range range) {
  ranges.insert(std::upper_bound(ranges.begin(), ranges.end(), range,
                                 [](const Range& a, const Range& b) { return a.first < b.first; }),
                range);
}

bool LeftOutLines::contains(int64_t line) const {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return range.first <= line && line <= range.last; });
}

size_t count_cells(std::string_view line, char delimiter) {
  size_t cells = 1;
  bool quoted = false;
  char before = delimiter;
  for (const char c : line) {
    quoted = quoted != (c == '"');
    cells += c == delimiter && !quoted && (delimiter != ' ' || before != ' ');
    before = c;
  }
  return cells;
}

CsvScanner::CsvScanner(std::string_view text, char delimiter, const std::string& source, bool quotes)
    : at_(text.data()),
      end_(text.data() + text.size()),
      delimiter_(delimiter),
      quotes_(quotes),
      source_(source) {
  for (const char stop : {delimiter, '\n', '\r'}) stops_[static_cast<unsigned char>(stop)] = true;
}

int64_t count_line_ends(std::string_view text) {
  int64_t count = 0;
  for (size_t i = 0; i < text.size(); ++i)
    count += text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
  return count;
}

bool CsvScanner::skip_left_out_line() {
  const bool listed = left_out_->contains(line_);
  if (!listed && *at_ != '#') return false;
  const char* const end = std::find_if(at_, end_, [](char c) { return c == '\n' || c == '\r'; });
  if (!listed) {
    const bool comment = left_out_->width != 0 &&
                         count_cells({at_, static_cast<size_t>(end - at_)}, delimiter_) != left_out_->width;
    if (!comment) return false;
    ++comments_;
  }
  at_ = end;
  if (at_ != end_) take_line_end();
  return true;
}

std::string_view CsvScanner::quoted_cell() {
  const int64_t first_line = line_;
  const char* begin = ++at_;
  bool doubled = false;
  unquoted_.clear();
  while (true) {
    const auto* quote =
        at_ == end_ ? nullptr
                    : static_cast<const char*>(std::memchr(at_, '"', static_cast<size_t>(end_ - at_)));
    require(quote != nullptr, ErrorKind::data, "{}:{}: unclosed quote in cell {}", source_, first_line,
            cells_ + 1);
    line_ += count_line_ends({at_, static_cast<size_t>(quote - at_)});
    at_ = quote + 1;
    if (at_ == end_ || *at_ != '"') break;
    doubled = true;
    unquoted_.append(begin, at_);
    begin = ++at_;
  }
  const std::string_view last(begin, static_cast<size_t>(at_ - 1 - begin));
  while (at_ != end_ && *at_ == ' ' && delimiter_ != ' ') ++at_;
  if (at_ != end_ && !stops_[static_cast<unsigned char>(*at_)]) {
    fail(ErrorKind::data, "{}:{}: text after the closing quote of cell {}: {}", source_, line_, cells_ + 1,
         quote_for_message(plain_cell()));
  }
  if (!doubled) return last;
  unquoted_ += last;
  return unquoted_;
}

}  // namespace modewise::io
