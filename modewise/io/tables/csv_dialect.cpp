#include "modewise/io/tables/csv_dialect.h"

#include <algorithm>
#include <optional>
#include <set>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/io/number_text.h"
#include "modewise/io/tables/csv_lines.h"
#include "modewise/io/tables/csv_sample.h"

namespace modewise::io {
namespace {

// How well a delimiter explains the sample.
struct Score {
  double equal_rows = 0;  // fraction of rows as wide as the first
  double understood = 0;  // fraction of cells below the first row that are plain numbers, dates or missing
  bool texts = false;     // a cell below the first row is not even a written number such as 1 500
  size_t columns = 1;
};

Score score_of(const CsvSample& sample, char delimiter, const CsvOptions& options) {
  Score score;
  if (sample.rows.empty()) return score;
  score.columns = sample.rows[0].size();
  size_t equal = 0, cells = 0, understood = 0;
  const bool comma_possible = delimiter != ',' && options.decimal != '.';
  const MissingValues missing(options.missing, '.');
  for (const CsvRow& row : sample.rows) {
    equal += row.size() == score.columns;
    if (&row == &sample.rows[0]) continue;
    for (const std::string& cell : row) {
      ++cells;
      score.texts = score.texts || kind_of(cell, '.', missing) == CellKind::text;
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

char guess_delimiter(std::string_view text, const std::string& source, const CsvOptions& options,
                     const LeftOutLines& left_out) {
  char best = ',';
  Score best_score;
  for (const char delimiter : {',', ';', '\t', '|', ' '}) {
    CsvSample sample = read_csv_sample(text, delimiter, source, left_out);
    if (delimiter == ' ' && !sample.rows.empty() && options.header != CsvOptions::no)
      fit_names(sample, delimiter);
    const Score score = score_of(sample, delimiter, options);
    // Spaces, where no other mark parts the cells, and where all rows are numbers and dates of one width; or
    // where the commas of all cells are decimal marks: "1,5 2,5".
    const bool only_spaces = best_score.columns == 1 && score.understood >= 0.5,
               decimal_commas = best == ',' && best_score.texts && score.understood == 1;
    if (delimiter == ' ' &&
        (options.plain_numbers || score.equal_rows < 1 || !(only_spaces || decimal_commas)))
      continue;
    if (better(score, best_score)) {
      best = delimiter;
      best_score = score;
    }
  }
  return best;
}

char guess_decimal(const CsvSample& sample, char delimiter, const CsvOptions& options) {
  if (options.decimal != 0) return options.decimal;
  if (delimiter == ',') return '.';
  size_t only_point = 0, only_comma = 0;
  for (const CsvRow& row : sample.rows) {
    for (const std::string& cell : row) {
      double value;
      const bool point = parse_number(cell, '.', value), comma = parse_number(cell, ',', value);
      only_point += point && !comma;
      only_comma += comma && !point;
    }
  }
  return only_comma > only_point ? ',' : '.';
}

// Moves the further rows of the header from the sample to the dialect.
void take_header_rows(CsvSample& sample, int64_t count, const std::string& source, CsvDialect& dialect) {
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

/// The comment that may be the header, such as "# time, x": the last one, or one of those right above, with
/// as many different names as the rows have cells; names that repeat are units.
std::optional<size_t> find_header(const std::vector<CsvLine>& comments, char delimiter, size_t width) {
  for (size_t i = comments.size(); i-- > 0;) {
    const std::string_view line = delimiter == ' ' ? strip_comment_mark(comments[i].text) : comments[i].text;
    if (count_cells(line, delimiter) != width) break;
    const CsvSample sample = read_csv_sample(strip_comment_mark(comments[i].text), delimiter, "", {});
    if (sample.rows.empty()) break;
    std::set<std::string_view> names;
    for (const std::string& cell : sample.rows[0]) names.insert(strip_spaces(cell));
    if (names.size() == width) return i;
  }
  return std::nullopt;
}

/// Reads the sample again with a comment as its first row. `others` are the lines left out but for comments.
bool add_comment(std::string_view text, const std::string& source, const std::vector<CsvLine>& comments,
                 size_t chosen, LeftOutLines others, CsvSample& sample, CsvDialect& dialect) {
  for (size_t i = 0; i < comments.size(); ++i)
    if (i != chosen) others.add({comments[i].number, comments[i].number});
  CsvSample with_comment = read_csv_sample(text, dialect.delimiter, source, others);
  if (with_comment.rows.empty()) return false;
  sample = std::move(with_comment);
  dialect.left_out = std::move(others);
  return true;
}

// The first cells of a row, for messages.
std::string first_cells(const CsvRow& row) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t c = 0; c < std::min(row.size(), kShown); ++c)
    text += (c == 0 ? "" : ", ") + std::string(strip_spaces(row[c]).substr(0, 30));
  return row.size() > kShown ? text + ", …" : text;
}

}  // namespace

std::string advice_above_table(std::string_view text, const std::string& source, const CsvOptions& options,
                               const LeftOutLines& left_out) {
  const MissingValues missing(options.missing, '.');
  const auto is_value = [&](const std::string& cell) {
    const CellKind kind = kind_of(cell, '.', missing);
    return kind == CellKind::number || kind == CellKind::date;
  };
  const auto holds_values = [&](const CsvRow& row) { return std::any_of(row.begin(), row.end(), is_value); };
  // A title with empty cells behind it, as spreadsheets write it, or a row of empty cells.
  const auto is_title = [&](const CsvRow& row) {
    const auto empty = std::count_if(row.begin(), row.end(), [](const auto& cell) { return cell.empty(); });
    return empty + 1 >= std::ssize(row) && !holds_values(row);
  };
  for (const char delimiter : {',', ';', '\t', '|', ' '}) {
    const CsvSample sample = read_csv_sample(text, delimiter, source, left_out);
    if (sample.rows.empty()) continue;
    const size_t width = sample.rows.back().size();
    size_t first = sample.rows.size();
    while (first > 0 && sample.rows[first - 1].size() == width && !is_title(sample.rows[first - 1])) --first;
    if (width < 2 || first == 0 || 2 * first >= sample.rows.size()) continue;
    if (delimiter == ' ' && !holds_values(sample.rows.back())) continue;  // sentences
    const int64_t above = sample.lines[first] - 1;
    std::string lines = above == 1 ? "1" : fmt::format("1-{}", above);
    if (first > 1 && sample.rows[first - 2].size() == width && holds_values(sample.rows[first]) &&
        !holds_values(sample.rows[first - 2]) && !holds_values(sample.rows[first - 1])) {
      const int64_t header = sample.lines[first - 2];
      lines = header == 1   ? fmt::format("{}", above)
              : header == 2 ? fmt::format("1,{}", above)
                            : fmt::format("1-{},{}", header - 1, above);
    }
    return fmt::format(
        "the rows below line {} have equal width: data.skip_lines = {} leaves out what stands above{}", above,
        lines, delimiter == ' ' ? ", data.delimiter = space parts the cells" : "");
  }
  return {};
}

CsvDialect guess_dialect(std::string_view text, const std::string& source, const CsvOptions& options) {
  CsvDialect dialect;
  for (const LeftOutLines::Range& range : options.skip_lines) dialect.left_out.add(range);
  const char given = take_separator_line(text, dialect.left_out, dialect.notes);
  if (!options.plain_numbers) leave_out_frame(text, dialect.left_out, dialect.notes);
  const LeftOutLines uncommented = dialect.left_out;
  std::vector<CsvLine> comments = comments_above(text, dialect.left_out);
  if (!comments.empty()) dialect.left_out.add({comments.front().number, comments.back().number});
  dialect.delimiter = options.delimiter != 0 ? options.delimiter
                      : given != 0           ? given
                                             : guess_delimiter(text, source, options, dialect.left_out);
  CsvSample sample = read_csv_sample(text, dialect.delimiter, source, dialect.left_out);
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
  std::optional<size_t> named;
  if (options.header != CsvOptions::no && !several && (!guess.header || guess.warning))
    named = find_header(comments, dialect.delimiter, sample.rows[0].size());
  if (named && add_comment(text, source, comments, *named, uncommented, sample, dialect)) {
    CsvRow& first = sample.rows[0];
    const std::string marked = first[0];
    if (dialect.delimiter == ' ' && comment_mark(marked) == marked)
      first.erase(first.begin());  // "# time x"
    else
      first[0] = strip_comment_mark(marked);
    guess = guess_header(sample.rows, dialect.decimal, missing, plain);
    dialect.header_after_comment = guess.header && first[0] != marked;
    if (dialect.header_after_comment)
      dialect.notes.push_back(fmt::format("line {}, {}, is read as the header", comments[*named].number,
                                          quote_for_message(comments[*named].text.substr(0, 100))));
    comments.erase(comments.begin() + static_cast<std::ptrdiff_t>(*named));
  }
  dialect.comments = std::ssize(comments);
  dialect.header = options.header == CsvOptions::yes || several || guess.header;
  if (options.header == CsvOptions::guess && guess.warning) dialect.suspect_row = first_cells(sample.rows[0]);
  dialect.kinds = guess_csv_kinds(sample.rows, dialect.header ? 1 : 0, sample.rows[0].size(), dialect.decimal,
                                  missing, plain);
  return dialect;
}

}  // namespace modewise::io
