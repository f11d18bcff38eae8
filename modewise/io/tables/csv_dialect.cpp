#include "modewise/io/tables/csv_dialect.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/io/number_text.h"
#include "modewise/io/tables/csv_scanner.h"
#include "modewise/io/tables/date_time.h"
#include "modewise/io/tables/time_names.h"
#include "modewise/io/tables/written_number.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

constexpr size_t kSampleRows = 100;
constexpr size_t kSampleCells = 100'000;
constexpr size_t kMaxComments = 10'000;
constexpr size_t kSampleText = 1000;  // bytes per cell; numbers and dates are shorter

using Row = std::vector<std::string>;

// The first rows; broken if one of them cannot be split with this delimiter.
struct Sample {
  std::vector<Row> rows;
  std::vector<int64_t> lines;  // where they begin
  bool broken = false;
};

Sample read_sample(std::string_view text, char delimiter, const std::string& source,
                   const LeftOutLines& left_out) {
  Sample sample;
  CsvScanner scanner(text, delimiter, source);
  scanner.leave_out(left_out);
  size_t cells = 0;
  try {
    Row row;
    while (sample.rows.size() < kSampleRows && cells < kSampleCells &&
           scanner.row([&](size_t c, std::string_view cell) {
             if (c <= kCsvColumnLimit) row.emplace_back(cell.substr(0, kSampleText));
           })) {
      cells += row.size();
      sample.rows.push_back(std::move(row));
      sample.lines.push_back(scanner.line());
      row = {};
    }
  } catch (const Error&) {
    sample.broken = true;
  }
  return sample;
}

// How well a delimiter explains the sample.
struct Score {
  double equal_rows = 0;  // fraction of rows as wide as the first
  double understood = 0;  // fraction of cells below the first row that are numbers, dates or missing
  size_t columns = 1;
};

Score score_of(const Sample& sample, char delimiter, const CsvOptions& options) {
  Score score;
  if (sample.rows.empty()) return score;
  score.columns = sample.rows[0].size();
  size_t equal = 0, cells = 0, understood = 0;
  const bool comma_possible = delimiter != ',' && options.decimal != '.';
  const MissingValues missing(options.missing, '.');
  for (const Row& row : sample.rows) {
    equal += row.size() == score.columns;
    if (&row == &sample.rows[0]) continue;
    for (const std::string& cell : row) {
      ++cells;
      understood += kind_of(cell, '.', missing, true) != CellKind::text ||
                    (comma_possible && kind_of(cell, ',', missing, true) != CellKind::text);
    }
  }
  score.equal_rows = static_cast<double>(equal) / static_cast<double>(sample.rows.size() + sample.broken);
  score.understood = cells == 0 ? 0 : static_cast<double>(understood) / static_cast<double>(cells);
  return score;
}

bool better(const Score& a, const Score& b) {
  if ((a.columns > 1) != (b.columns > 1)) return a.columns > 1;
  if (a.equal_rows != b.equal_rows) return a.equal_rows > b.equal_rows;
  if (a.understood != b.understood) return a.understood > b.understood;
  return a.columns > b.columns;
}

/// Fits the first row to the rows below if all of them have a few cells more or less for a known reason: rows
/// that end in a delimiter, a header that does, row numbers (from 0 or 1) or dates without a name, as R and
/// pandas write them, and spaces between date and clock.
NameFit fit_names(Sample& sample, char delimiter) {
  if (sample.rows.size() < 3) return {};
  Row& names = sample.rows[0];
  const size_t width = sample.rows[1].size(), count = names.size();
  if (width == count || width > count + 2 || width + 1 < count) return {};
  bool last_blank = true;
  std::array<bool, 2> numbered{true, true};          // from 0, from 1
  std::array<bool, 2> dates{true, width > 1};        // in the first column, in the second
  std::array<bool, 2> clocks{width > 1, width > 2};  // behind them
  for (size_t i = 1; i < sample.rows.size(); ++i) {
    const Row& row = sample.rows[i];
    if (row.size() != width) return {};
    last_blank = last_blank && strip_spaces(row.back()).empty();
    for (size_t c : {size_t{0}, size_t{1}}) {
      numbered[c] = numbered[c] && strip_spaces(row[0]) == std::to_string(i - 1 + c);
      dates[c] = dates[c] && read_date_time(row[c]);
      clocks[c] = clocks[c] && delimiter == ' ' && read_clock(row[c + 1]);
    }
  }
  const bool numbers = numbered[0] || numbered[1];
  const bool dates_first = dates[0] && time_name(names[0]) == TimeName::none;
  NameFit fit;
  if (width + 1 == count) {
    fit.spare_end = width > 1 && strip_spaces(names.back()).empty();
  } else if (width == count + 1) {
    fit.blank_end = last_blank;
    if (!last_blank && dates[0] && clocks[0] && !numbers) fit.clock = 1;
    fit.row_names = !last_blank && fit.clock == 0 && (numbers || dates_first);
  } else if (numbers ? dates[1] && clocks[1] : dates_first && clocks[0]) {
    fit.row_names = true;
    fit.clock = numbers ? 2 : 1;
  }
  fit.apply(names);
  return fit;
}

char guess_delimiter(std::string_view text, const std::string& source, const CsvOptions& options,
                     const LeftOutLines& left_out) {
  char best = ',';
  Score best_score;
  for (const char delimiter : {',', ';', '\t', '|', ' '}) {
    Sample sample = read_sample(text, delimiter, source, left_out);
    if (delimiter == ' ' && !sample.rows.empty() && options.header != CsvOptions::no)
      fit_names(sample, delimiter);
    const Score score = score_of(sample, delimiter, options);
    // Spaces, where no other mark parts the cells, and where all rows are numbers and dates of one width.
    if (delimiter == ' ' &&
        (best_score.columns > 1 || options.plain_numbers || score.equal_rows < 1 || score.understood < 0.5))
      continue;
    if (better(score, best_score)) {
      best = delimiter;
      best_score = score;
    }
  }
  return best;
}

char guess_decimal(const Sample& sample, char delimiter, const CsvOptions& options) {
  if (options.decimal != 0) return options.decimal;
  if (delimiter == ',') return '.';
  size_t only_point = 0, only_comma = 0;
  for (const Row& row : sample.rows) {
    for (const std::string& cell : row) {
      double value;
      const bool point = parse_number(cell, '.', value), comma = parse_number(cell, ',', value);
      only_point += point && !comma;
      only_comma += comma && !point;
    }
  }
  return only_comma > only_point ? ',' : '.';
}

std::vector<CsvColumn::Kind> guess_kinds(const std::vector<Row>& rows, size_t first, size_t columns,
                                         char decimal, const MissingValues& missing, bool plain) {
  std::vector<std::array<size_t, 5>> counts(columns, std::array<size_t, 5>{});
  for (size_t i = first; i < rows.size(); ++i) {
    for (size_t c = 0; c < std::min(columns, rows[i].size()); ++c) {
      ++counts[c][static_cast<size_t>(kind_of(rows[i][c], decimal, missing, plain))];
    }
  }
  std::vector<CsvColumn::Kind> kinds;
  for (const auto& [empty, numbers, dates, texts, marks] : counts)
    kinds.push_back(majority_of(numbers, dates, texts, marks));
  return kinds;
}

bool is_whole_number(std::string_view text) {
  text = strip_spaces(text);
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether the first cells of the numeric `columns` are distinct integers.
bool are_different_whole_numbers(const Row& first, const std::vector<size_t>& columns) {
  std::set<std::string_view> seen;
  return !columns.empty() && std::all_of(columns.begin(), columns.end(), [&](size_t c) {
    return is_whole_number(first[c]) && seen.insert(strip_spaces(first[c])).second;
  });
}

// Whether almost all numbers below have a decimal mark. With one column, a first 5 above 4.5 proves nothing.
bool differ_in_form(const std::vector<Row>& rows, const std::vector<size_t>& columns, char decimal) {
  size_t numbers = 0, whole = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    for (const size_t c : columns) {
      double value = 0;
      if (c >= rows[i].size() || !parse_number(rows[i][c], decimal, value)) continue;
      ++numbers;
      whole += is_whole_number(rows[i][c]);
    }
  }
  return columns.size() >= 2 && numbers > 0 && 20 * whole < numbers;
}

// Whether every first cell is farther from the numbers below it than they are from each other.
bool differ_in_size(const std::vector<Row>& rows, const std::vector<size_t>& columns, char decimal) {
  constexpr size_t kFewest = 3;  // minimum count of numbers to measure the spread of a column
  return std::all_of(columns.begin(), columns.end(), [&](size_t c) {
    double first = 0, low = 0, high = 0;
    size_t numbers = 0;
    if (!parse_number(rows[0][c], decimal, first)) return false;
    for (size_t i = 1; i < rows.size(); ++i) {
      double value = 0;
      if (c >= rows[i].size() || !parse_number(rows[i][c], decimal, value)) continue;
      low = numbers == 0 ? value : std::min(low, value);
      high = numbers == 0 ? value : std::max(high, value);
      ++numbers;
    }
    return numbers >= kFewest && (first < low - (high - low) || first > high + (high - low));
  });
}

struct HeaderGuess {
  bool header = false;
  bool warning = false;  // the first row is ambiguous
};

// Classifies a first row of numbers. Names are distinct integers (sensors, sites, years) that look unlike the
// values below them.
HeaderGuess guess_numeric_header(const std::vector<Row>& rows, const std::vector<CsvColumn::Kind>& kinds,
                                 char decimal, const MissingValues& missing) {
  const Row& first = rows[0];
  std::vector<size_t> columns;
  bool above_dates = false;
  for (size_t c = 0; c < first.size(); ++c) {
    const bool filled = kind_of(first[c], decimal, missing) != CellKind::missing;
    if (kinds[c] == CsvColumn::number && (filled || c > 0))
      columns.push_back(c);
    else
      above_dates = above_dates || (kinds[c] == CsvColumn::date && filled);
  }
  // A column of dates begins with a date.
  if (above_dates) return {true, false};
  if (rows.size() < 2 || !are_different_whole_numbers(first, columns)) return {};
  return {differ_in_form(rows, columns, decimal) || differ_in_size(rows, columns, decimal), true};
}

// Whether a first cell that is a number with a sign or separator is a value such as 5% or 1,234: one like the
// cell below it.
bool is_written_value(const std::vector<Row>& rows, size_t column, char decimal) {
  double value;
  const auto written = [&](const std::string& cell) {
    return !parse_number(cell, decimal, value) && read_written_number(cell).formats != 0;
  };
  return rows.size() > 1 && column < rows[1].size() && written(rows[0][column]) && written(rows[1][column]);
}

// A header has text above columns of numbers or dates, or consists of text only.
HeaderGuess guess_header(const std::vector<Row>& rows, char decimal, const MissingValues& missing,
                         bool plain) {
  const Row& first = rows[0];
  const auto kinds = guess_kinds(rows, 1, first.size(), decimal, missing, plain);
  bool text = false, differs = false, number = false, value = false;
  for (size_t c = 0; c < first.size(); ++c) {
    const CellKind kind = kind_of(first[c], decimal, missing, true);
    double parsed = 0;
    if (!plain && kind == CellKind::text && is_written_value(rows, c, decimal)) return {false, false};
    text = text || kind == CellKind::text;
    differs = differs || (kind == CellKind::text && rows.size() > 1 && kinds[c] != CsvColumn::text);
    number = number || kind == CellKind::number;
    // Columns may be named 0, 1, 2 or 2016, but not 0.7855 or 2016-07-01.
    value =
        value || kind == CellKind::date ||
        (kind == CellKind::number && parse_number(first[c], decimal, parsed) && parsed != std::floor(parsed));
  }
  if (value) return {false, false};
  if (differs) return {true, false};
  if (text) return {!number, false};
  return guess_numeric_header(rows, kinds, decimal, missing);
}

// A physical line.
struct Line {
  std::string_view text;  // without its end
  int64_t number = 1;
};

// The lines of a text, one after the other.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  bool next(Line& line) {
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

std::string_view comment_mark(std::string_view text) {
  for (const std::string_view mark : {"#", "%", "//", "!"})
    if (text.starts_with(mark)) return text.substr(0, mark.size());
  return {};
}

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

/// Leaves out what frames a printed table: rules above and right below the first line of text, the same rules
/// below the last row, and a count of rows.
void leave_out_frame(std::string_view text, CsvDialect& dialect) {
  constexpr size_t kRules = 3;
  std::vector<Line> rules;
  Lines lines(text);
  Line line;
  for (bool below = false; rules.size() < kRules && lines.next(line);) {
    if (strip_spaces(line.text).empty() || dialect.left_out.contains(line.number)) continue;
    if (is_rule(line.text))
      rules.push_back(line);
    else if (below)
      break;
    else
      below = true;
  }
  if (rules.empty()) return;
  std::vector<int64_t> numbers;
  for (const Line& rule : rules) numbers.push_back(rule.number);
  // The lines at the end, from the last one on.
  std::string_view rest = text;
  for (size_t taken = 0; taken < 2;) {
    rest = rest.substr(0, rest.find_last_not_of("\r\n \t") + 1);
    const size_t begin = rest.find_last_of("\r\n") + 1;
    const std::string_view last = rest.substr(begin);
    const bool rule = std::any_of(rules.begin(), rules.end(),
                                  [&](const Line& known) { return strip_spaces(known.text) == last; });
    if (begin <= static_cast<size_t>(rules.back().text.end() - text.begin()) || !(rule || is_row_count(last)))
      break;
    numbers.push_back(count_line_ends(text.substr(0, begin)) + 1);
    rest = rest.substr(0, begin);
    ++taken;
  }
  std::sort(numbers.begin(), numbers.end());
  for (const int64_t number : numbers) dialect.left_out.add({number, number});
  dialect.notes.push_back(fmt::format("{} {}, such as {}, frame{} the table and {} left out",
                                      numbers.size() == 1 ? "line" : "lines", fmt::join(numbers, ", "),
                                      quote_for_message(rules[0].text), numbers.size() == 1 ? "s" : "",
                                      is_or_are(numbers.size())));
}

// The delimiter of a first line sep=; that Excel writes, which is then left out; 0: there is none.
char take_separator_line(std::string_view text, CsvDialect& dialect) {
  Line first;
  if (!Lines(text).next(first) || dialect.left_out.contains(1)) return 0;
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
  dialect.left_out.add({1, 1});
  dialect.notes.push_back(fmt::format("line 1, {}, gives the delimiter", quote_for_message(first.text)));
  return delimiter;
}

// The comments above the first row; none if all lines are comments.
std::vector<Line> comments_above(std::string_view text, const LeftOutLines& left_out) {
  std::vector<Line> comments;
  Lines lines(text);
  Line line;
  while (comments.size() < kMaxComments && lines.next(line)) {
    if (line.text.empty() || left_out.contains(line.number)) continue;
    if (comment_mark(line.text).empty()) return comments;
    comments.push_back(line);
  }
  return {};
}

// Moves the further rows of the header from the sample to the dialect.
void take_header_rows(Sample& sample, int64_t count, const std::string& source, CsvDialect& dialect) {
  require(count < std::ssize(sample.rows), ErrorKind::data,
          "{}: data.header_rows = {} leaves no rows below the header: the file has {}", source, count,
          counted(std::ssize(sample.rows), "row"));
  for (int64_t i = 1; i < count; ++i) {
    dialect.more_names.push_back(std::move(sample.rows[static_cast<size_t>(i)]));
    dialect.left_out.add(
        {sample.lines[static_cast<size_t>(i)], sample.lines[static_cast<size_t>(i + 1)] - 1});
  }
  sample.rows.erase(sample.rows.begin() + 1, sample.rows.begin() + count);
  sample.lines.erase(sample.lines.begin() + 1, sample.lines.begin() + count);
}

// The first cells of a row, for messages.
std::string first_cells(const Row& row) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t c = 0; c < std::min(row.size(), kShown); ++c)
    text += (c == 0 ? "" : ", ") + std::string(strip_spaces(row[c]).substr(0, 30));
  return row.size() > kShown ? text + ", …" : text;
}

}  // namespace

void NameFit::apply(std::vector<std::string>& names) const {
  if (spare_end) names.pop_back();
  if (blank_end) names.emplace_back();
  if (row_names) names.insert(names.begin(), "");
  if (clock > 0) {
    const bool taken = std::find(names.begin(), names.end(), "time") != names.end();
    names.insert(names.begin() + static_cast<std::ptrdiff_t>(clock), taken ? "clock" : "time");
  }
}

MissingValues::MissingValues(const std::vector<std::string>& marks, char decimal) {
  for (const std::string& mark : marks) {
    double value;
    if (parse_number(mark, decimal, value)) {
      numbers_.push_back(value);
    } else {
      texts_.emplace_back(strip_spaces(mark));
    }
  }
}

bool MissingValues::contains(std::string_view text) const {
  text = strip_spaces(text);
  return std::find(texts_.begin(), texts_.end(), text) != texts_.end();
}

bool MissingValues::contains(double value) const {
  return std::find(numbers_.begin(), numbers_.end(), value) != numbers_.end();
}

CellKind kind_of(std::string_view text, char decimal, const MissingValues& missing, bool plain) {
  double value;
  if (parse_number(text, decimal, value))
    return missing.contains(value) ? CellKind::missing : CellKind::number;
  if (missing.contains(text)) return CellKind::missing;
  if (read_date_time(text)) return CellKind::date;
  if (plain) return CellKind::text;
  if (is_missing_mark(text)) return CellKind::mark;
  if (text.find_first_of("0123456789") == std::string_view::npos) return CellKind::text;
  return read_written_number(text).formats != 0 ? CellKind::number : CellKind::text;
}

CsvColumn::Kind majority_of(size_t numbers, size_t dates, size_t texts, size_t marks) {
  const size_t filled = numbers + dates + texts;
  if (filled == 0 && marks > 0) return CsvColumn::text;
  if (2 * numbers >= filled) return CsvColumn::number;
  return 2 * dates >= filled ? CsvColumn::date : CsvColumn::text;
}

std::string_view strip_comment_mark(std::string_view text) {
  const std::string_view rest = text.substr(comment_mark(text).size());
  return strip_spaces(rest).empty() ? text : strip_spaces(rest);
}

int64_t lines_above_table(std::string_view text, const std::string& source, const LeftOutLines& left_out) {
  for (const char delimiter : {',', ';', '\t', '|'}) {
    const Sample sample = read_sample(text, delimiter, source, left_out);
    if (sample.rows.empty()) continue;
    const size_t width = sample.rows.back().size();
    size_t first = sample.rows.size();
    while (first > 0 && sample.rows[first - 1].size() == width) --first;
    if (width >= 2 && first > 0 && 2 * first < sample.rows.size()) return sample.lines[first] - 1;
  }
  return 0;
}

CsvDialect guess_dialect(std::string_view text, const std::string& source, const CsvOptions& options) {
  CsvDialect dialect;
  for (const LeftOutLines::Range& range : options.skip_lines) dialect.left_out.add(range);
  const char given = take_separator_line(text, dialect);
  if (!options.plain_numbers) leave_out_frame(text, dialect);
  const LeftOutLines uncommented = dialect.left_out;
  std::vector<Line> comments = comments_above(text, dialect.left_out);
  if (!comments.empty()) dialect.left_out.add({comments.front().number, comments.back().number});
  dialect.delimiter = options.delimiter != 0 ? options.delimiter
                      : given != 0           ? given
                                             : guess_delimiter(text, source, options, dialect.left_out);
  Sample sample = read_sample(text, dialect.delimiter, source, dialect.left_out);
  if (sample.rows.empty()) {
    // Not even the first row can be split; reading it throws the reason.
    CsvScanner scanner(text, dialect.delimiter, source);
    scanner.leave_out(dialect.left_out);
    scanner.row([](size_t, std::string_view) {});
    fail(ErrorKind::data, "{}: there are no rows", source);
  }
  const bool several = options.header_rows > 1;
  if (several) take_header_rows(sample, options.header_rows, source, dialect);
  if (!options.plain_numbers && options.header != CsvOptions::no)
    dialect.name_fit = fit_names(sample, dialect.delimiter);
  if (dialect.delimiter == ' ' && options.delimiter == 0)
    dialect.notes.push_back("the cells are parted by spaces");
  if (const size_t clock = dialect.name_fit.clock; clock > 0)
    dialect.notes.push_back(fmt::format(
        "columns {} and {}, dates and clock times, share one name in the header", clock, clock + 1));
  dialect.decimal = guess_decimal(sample, dialect.delimiter, options);
  const bool plain = options.plain_numbers;
  const MissingValues missing(options.missing, dialect.decimal);
  HeaderGuess guess;
  if (options.header != CsvOptions::no && !several)
    guess = guess_header(sample.rows, dialect.decimal, missing, plain);
  if (!comments.empty() && !several) {
    // The last comment may be the header: "# time, x".
    const Line& last = comments.back();
    const bool could_be = options.header != CsvOptions::no && (!guess.header || guess.warning) &&
                          count_cells(dialect.delimiter == ' ' ? strip_comment_mark(last.text) : last.text,
                                      dialect.delimiter) == sample.rows[0].size();
    LeftOutLines others = uncommented;
    if (comments.size() > 1) others.add({comments[0].number, last.number - 1});
    Sample with_last;
    if (could_be) with_last = read_sample(text, dialect.delimiter, source, others);
    if (!with_last.rows.empty()) {
      sample = std::move(with_last);
      dialect.left_out = std::move(others);
      const std::string marked = sample.rows[0][0];
      if (dialect.delimiter == ' ' && comment_mark(marked) == marked)
        sample.rows[0].erase(sample.rows[0].begin());  // "# time x"
      else
        sample.rows[0][0] = strip_comment_mark(marked);
      guess = guess_header(sample.rows, dialect.decimal, missing, plain);
      dialect.header_after_comment = guess.header && sample.rows[0][0] != marked;
      if (dialect.header_after_comment)
        dialect.notes.push_back(fmt::format("line {}, {}, is read as the header", last.number,
                                            quote_for_message(last.text.substr(0, 100))));
      comments.pop_back();
    }
  }
  dialect.comments = std::ssize(comments);
  dialect.header = options.header == CsvOptions::yes || several || guess.header;
  if (options.header == CsvOptions::guess && guess.warning) dialect.suspect_row = first_cells(sample.rows[0]);
  dialect.kinds = guess_kinds(sample.rows, dialect.header ? 1 : 0, sample.rows[0].size(), dialect.decimal,
                              missing, plain);
  return dialect;
}

}  // namespace modewise::io
