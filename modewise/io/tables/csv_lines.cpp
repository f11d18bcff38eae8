#include "modewise/io/tables/csv_lines.h"

#include <algorithm>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/io/number_text.h"

namespace modewise::io {
namespace {

constexpr size_t kMaxComments = 10'000;

// The lines of a text, one after the other.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  bool next(CsvLine& line) {
    if (rest_.empty()) return false;
    const size_t end = std::min(rest_.find_first_of("\r\n"), rest_.size());
    line = {rest_.substr(0, end), ++number_};
    rest_.remove_prefix(end);
    rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : rest_.empty() ? 0 : 1);
    return true;
  }

 private:
  std::string_view rest_;
  int64_t number_ = 0;
};

/// Whether a line is a rule of a printed table: "-----+----", "|---|---:|", "====  ===".
bool is_rule(std::string_view line) {
  return line.find_first_not_of("-=+|:,; \t") == std::string_view::npos &&
         (line.find("---") != std::string_view::npos || line.find("===") != std::string_view::npos);
}

/// Whether a line is a count of rows, as SQL clients print it: "(60 rows)", "60 rows in set (0.00 sec)".
bool is_row_count(std::string_view line) {
  if (line.starts_with('(')) line.remove_prefix(1);
  const size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  return digits > 0 && line.substr(digits).starts_with(" row");
}

}  // namespace

char take_separator_line(std::string_view text, LeftOutLines& left_out, std::vector<std::string>& notes) {
  CsvLine first;
  if (!Lines(text).next(first) || left_out.contains(1)) return 0;
  std::string_view line = first.text;
  if (line.starts_with('"')) line.remove_prefix(1);
  for (const char c : {'s', 'e', 'p', '='}) {
    if (line.empty() || (line[0] != c && line[0] != c - 'a' + 'A')) return 0;
    line.remove_prefix(1);
  }
  if (line.empty()) return 0;
  const char delimiter = line[0];
  line.remove_prefix(1);
  // Excel pads the line with delimiters when it saves the file again.
  if (line.find_first_not_of(std::string("\" ") + delimiter) != std::string_view::npos) return 0;
  left_out.add({1, 1});
  notes.push_back(fmt::format("line 1, {}, gives the delimiter", quote_for_message(first.text)));
  return delimiter;
}

void leave_out_frame(std::string_view text, LeftOutLines& left_out, std::vector<std::string>& notes) {
  constexpr size_t kRules = 3;
  std::vector<CsvLine> rules;
  Lines lines(text);
  CsvLine line;
  for (bool below = false; rules.size() < kRules && lines.next(line);) {
    if (strip_spaces(line.text).empty() || left_out.contains(line.number)) continue;
    if (is_rule(line.text))
      rules.push_back(line);
    else if (below)
      break;
    else
      below = true;
  }
  if (rules.empty()) return;
  std::vector<int64_t> numbers;
  for (const CsvLine& rule : rules) numbers.push_back(rule.number);
  // The lines at the end, from the last one on.
  std::string_view rest = text;
  for (size_t taken = 0; taken < 2;) {
    rest = rest.substr(0, rest.find_last_not_of("\r\n \t") + 1);
    const size_t begin = rest.find_last_of("\r\n") + 1;
    const std::string_view last = rest.substr(begin);
    const bool rule = std::any_of(rules.begin(), rules.end(),
                                  [&](const CsvLine& known) { return strip_spaces(known.text) == last; });
    if (begin <= static_cast<size_t>(rules.back().text.end() - text.begin()) || !(rule || is_row_count(last)))
      break;
    numbers.push_back(count_line_ends(text.substr(0, begin)) + 1);
    rest = rest.substr(0, begin);
    ++taken;
  }
  std::sort(numbers.begin(), numbers.end());
  for (const int64_t number : numbers) left_out.add({number, number});
  notes.push_back(fmt::format("{} {}, such as {}, frame{} the table and {} left out",
                              numbers.size() == 1 ? "line" : "lines", fmt::join(numbers, ", "),
                              quote_for_message(rules[0].text), numbers.size() == 1 ? "s" : "",
                              is_or_are(numbers.size())));
}

std::vector<CsvLine> comments_above(std::string_view text, const LeftOutLines& left_out) {
  std::vector<CsvLine> comments;
  Lines lines(text);
  CsvLine line;
  while (comments.size() < kMaxComments && lines.next(line)) {
    if (line.text.empty() || left_out.contains(line.number)) continue;
    if (comment_mark(line.text).empty()) return comments;
    comments.push_back(line);
  }
  return {};
}

std::string_view comment_mark(std::string_view text) {
  for (const std::string_view mark : {"#", "%", "//", "!"})
    if (text.starts_with(mark)) return text.substr(0, mark.size());
  return {};
}

std::string_view strip_comment_mark(std::string_view text) {
  const std::string_view rest = text.substr(comment_mark(text).size());
  return strip_spaces(rest).empty() ? text : strip_spaces(rest);
}

}  // namespace modewise::io
