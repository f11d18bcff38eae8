#include "modewise/io/tables/csv_header.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include "modewise/io/number_text.h"
#include "modewise/io/tables/date_time.h"
#include "modewise/io/tables/time_names.h"
#include "modewise/io/tables/written_number.h"

namespace modewise::io {
namespace {

bool is_whole_number(std::string_view text) {
  text = strip_spaces(text);
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether the first cells of the numeric `columns` are distinct integers.
bool are_different_whole_numbers(const CsvRow& first, const std::vector<size_t>& columns) {
  std::set<std::string_view> seen;
  return !columns.empty() && std::all_of(columns.begin(), columns.end(), [&](size_t c) {
    return is_whole_number(first[c]) && seen.insert(strip_spaces(first[c])).second;
  });
}

// Whether almost all numbers below have a decimal mark. With one column, a first 5 above 4.5 proves nothing.
bool differ_in_form(const std::vector<CsvRow>& rows, const std::vector<size_t>& columns, char decimal) {
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
bool differ_in_size(const std::vector<CsvRow>& rows, const std::vector<size_t>& columns, char decimal) {
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

// Classifies a first row of numbers. Names are distinct integers (sensors, sites, years) that look unlike the
// values below them.
HeaderGuess guess_numeric_header(const std::vector<CsvRow>& rows, const std::vector<CsvColumn::Kind>& kinds,
                                 char decimal, const MissingValues& missing) {
  const CsvRow& first = rows[0];
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
bool is_written_value(const std::vector<CsvRow>& rows, size_t column, char decimal) {
  double value;
  const auto written = [&](const std::string& cell) {
    return !parse_number(cell, decimal, value) && read_written_number(cell).formats != 0;
  };
  return rows.size() > 1 && column < rows[1].size() && written(rows[0][column]) && written(rows[1][column]);
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

NameFit fit_names(CsvSample& sample, char delimiter) {
  if (sample.rows.size() < 3) return {};
  CsvRow& names = sample.rows[0];
  const size_t width = sample.rows[1].size(), count = names.size();
  if (width == count || width > count + 2 || width + 1 < count) return {};
  bool last_blank = true;
  std::array<bool, 2> numbered{true, true};          // from 0, from 1
  std::array<bool, 2> dates{true, width > 1};        // in the first column, in the second
  std::array<bool, 2> clocks{width > 1, width > 2};  // behind them
  for (size_t i = 1; i < sample.rows.size(); ++i) {
    const CsvRow& row = sample.rows[i];
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

HeaderGuess guess_header(const std::vector<CsvRow>& rows, char decimal, const MissingValues& missing,
                         bool plain) {
  const CsvRow& first = rows[0];
  const auto kinds = guess_csv_kinds(rows, 1, first.size(), decimal, missing, plain);
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

}  // namespace modewise::io
