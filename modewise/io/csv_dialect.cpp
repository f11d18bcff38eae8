#include "modewise/io/csv_dialect.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/io/csv_scanner.h"
#include "modewise/io/date_time.h"
#include "modewise/io/number_text.h"

namespace modewise::io {
namespace {

constexpr size_t kSampleRows = 100;
constexpr size_t kSampleCells = 100'000;
constexpr size_t kSampleText = 1000;  // bytes of a cell; numbers and dates are shorter

using Row = std::vector<std::string>;

// The first rows; broken when the next of them cannot be cut with this delimiter.
struct Sample {
  std::vector<Row> rows;
  bool broken = false;
};

Sample read_sample(std::string_view text, char delimiter, const std::string& source) {
  Sample sample;
  CsvScanner scanner(text, delimiter, source);
  size_t cells = 0;
  try {
    Row row;
    while (sample.rows.size() < kSampleRows && cells < kSampleCells &&
           scanner.row([&](size_t c, std::string_view cell) {
             if (c <= kCsvColumnLimit) row.emplace_back(cell.substr(0, kSampleText));
           })) {
      cells += row.size();
      sample.rows.push_back(std::move(row));
      row = {};
    }
  } catch (const Error&) {
    sample.broken = true;
  }
  return sample;
}

// How well a delimiter explains the sample.
struct Score {
  double equal_rows = 0;  // share of rows as wide as the first
  double understood = 0;  // share of cells below the first row that are numbers, dates or missing
  size_t columns = 1;
};

Score score_of(const Sample& sample, char delimiter, const CsvOptions& options) {
  Score score;
  if (sample.rows.empty()) return score;
  score.columns = sample.rows[0].size();
  size_t equal = 0, cells = 0, understood = 0;
  const bool comma_possible = delimiter != ',' && options.decimal != '.';
  const MissingMarks missing(options.missing, '.');
  for (const Row& row : sample.rows) {
    equal += row.size() == score.columns;
    if (&row == &sample.rows[0]) continue;
    for (const std::string& cell : row) {
      ++cells;
      understood += kind_of(cell, '.', missing) != CellKind::text ||
                    (comma_possible && kind_of(cell, ',', missing) != CellKind::text);
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

char guess_delimiter(std::string_view text, const std::string& source, const CsvOptions& options) {
  char best = ',';
  Score best_score;
  for (const char delimiter : {',', ';', '\t', '|'}) {
    const Score score = score_of(read_sample(text, delimiter, source), delimiter, options);
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
                                         char decimal, const MissingMarks& missing) {
  std::vector<std::array<size_t, 4>> counts(columns, std::array<size_t, 4>{});
  for (size_t i = first; i < rows.size(); ++i) {
    for (size_t c = 0; c < std::min(columns, rows[i].size()); ++c) {
      ++counts[c][static_cast<size_t>(kind_of(rows[i][c], decimal, missing))];
    }
  }
  std::vector<CsvColumn::Kind> kinds;
  for (const auto& [empty, numbers, dates, texts] : counts) {
    const size_t filled = numbers + dates + texts;
    kinds.push_back(2 * numbers >= filled ? CsvColumn::number
                    : 2 * dates >= filled ? CsvColumn::date
                                          : CsvColumn::text);
  }
  return kinds;
}

bool is_count_from_zero(const Row& row) {
  for (size_t i = 0; i < row.size(); ++i) {
    if (strip_spaces(row[i]) != std::to_string(i)) return false;
  }
  return row.size() >= 3;
}

// A header names columns: it has text where the rows below hold numbers or dates, or it has nothing but text.
bool guess_header(const std::vector<Row>& rows, char decimal, const MissingMarks& missing) {
  const Row& first = rows[0];
  const auto kinds = guess_kinds(rows, 1, first.size(), decimal, missing);
  bool text = false, differs = false, number = false, value = false;
  for (size_t c = 0; c < first.size(); ++c) {
    const CellKind kind = kind_of(first[c], decimal, missing);
    double parsed = 0;
    text = text || kind == CellKind::text;
    differs = differs || (kind == CellKind::text && rows.size() > 1 && kinds[c] != CsvColumn::text);
    number = number || kind == CellKind::number;
    // Columns may be named 0, 1, 2 or 2016, but hardly 0.7855 or 2016-07-01.
    value =
        value || kind == CellKind::date ||
        (kind == CellKind::number && parse_number(first[c], decimal, parsed) && parsed != std::floor(parsed));
  }
  if (value) return false;
  if (differs) return true;
  if (text) return !number;
  if (!is_count_from_zero(first) || rows.size() < 2) return false;
  return std::any_of(rows[1].begin(), rows[1].end(), [&](const std::string& cell) {
    double parsed = 0;
    return parse_number(cell, decimal, parsed) && cell.find(decimal) != std::string::npos;
  });
}

}  // namespace

MissingMarks::MissingMarks(const std::vector<std::string>& marks, char decimal) {
  for (const std::string& mark : marks) {
    double value;
    if (parse_number(mark, decimal, value)) {
      numbers_.push_back(value);
    } else {
      texts_.emplace_back(strip_spaces(mark));
    }
  }
}

bool MissingMarks::contains(std::string_view text) const {
  text = strip_spaces(text);
  return std::find(texts_.begin(), texts_.end(), text) != texts_.end();
}

bool MissingMarks::contains(double value) const {
  return std::find(numbers_.begin(), numbers_.end(), value) != numbers_.end();
}

CellKind kind_of(std::string_view text, char decimal, const MissingMarks& missing) {
  double value;
  if (parse_number(text, decimal, value))
    return missing.contains(value) ? CellKind::missing : CellKind::number;
  if (missing.contains(text)) return CellKind::missing;
  return read_date_time(text) ? CellKind::date : CellKind::text;
}

CsvDialect guess_dialect(std::string_view text, const std::string& source, const CsvOptions& options) {
  CsvDialect dialect;
  dialect.delimiter = options.delimiter != 0 ? options.delimiter : guess_delimiter(text, source, options);
  const Sample sample = read_sample(text, dialect.delimiter, source);
  if (sample.rows.empty()) {
    // Not even the first row can be cut; reading it says why.
    CsvScanner(text, dialect.delimiter, source).row([](size_t, std::string_view) {});
    fail(ErrorKind::data, "{}: there are no rows", source);
  }
  dialect.decimal = guess_decimal(sample, dialect.delimiter, options);
  const MissingMarks missing(options.missing, dialect.decimal);
  dialect.header = options.header == CsvOptions::guess ? guess_header(sample.rows, dialect.decimal, missing)
                                                       : options.header == CsvOptions::yes;
  dialect.kinds =
      guess_kinds(sample.rows, dialect.header ? 1 : 0, sample.rows[0].size(), dialect.decimal, missing);
  return dialect;
}

}  // namespace modewise::io
