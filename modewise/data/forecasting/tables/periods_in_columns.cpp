#include "modewise/data/forecasting/tables/periods_in_columns.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/data/forecasting/tables/long_table.h"
#include "modewise/io/ascii.h"
#include "modewise/io/tables/month_names.h"
#include "modewise/io/tables/written_number.h"

namespace modewise::data {
namespace {

constexpr size_t kMonths = 12, kQuarters = 4, kHours = 24;

/// The number behind one of these prefixes in a column's name, of at most two digits; -1: none.
int64_t numbered(const std::string& column, std::initializer_list<std::string_view> prefixes) {
  const std::string name = io::to_lower(column);
  for (const std::string_view prefix : prefixes) {
    if (!name.starts_with(prefix)) continue;
    const std::string digits = name.substr(prefix.size());
    if (!digits.empty() && digits.size() <= 2 && digits.find_first_not_of("0123456789") == std::string::npos)
      return std::stoll(digits);
  }
  return -1;
}

/// How many columns from `first` on are the months of a year.
size_t months_from(const std::vector<std::string>& names, size_t first) {
  const auto month = [&](size_t i) {
    if (const auto name = io::find_month(names[i])) return int64_t{name->number};
    return numbered(names[i], {"m", ""});
  };
  size_t end = first;
  while (end < names.size() && end < first + kMonths && month(end) == static_cast<int64_t>(end - first) + 1)
    ++end;
  return end - first;
}

/// Whether the columns from `first` on are the quarters of a year.
bool quarters_from(const std::vector<std::string>& names, size_t first) {
  if (first + kQuarters > names.size()) return false;
  for (size_t i = 0; i < kQuarters; ++i)
    if (numbered(names[first + i], {"q", "qtr ", "qtr", "quarter ", "quarter"}) !=
        static_cast<int64_t>(i) + 1)
      return false;
  return true;
}

/// How many columns from `first` on are the hours, or shorter parts, of a day.
size_t hours_from(const std::vector<std::string>& names, size_t first) {
  const auto hour = [&](size_t i) {
    return numbered(names[i], {"hour_", "hour ", "hour", "hr_", "hr", "he", "h_", "h", ""});
  };
  size_t end = first;
  if (const int64_t begin = hour(first); begin == 0 || begin == 1)
    while (end < names.size() && hour(end) == begin + static_cast<int64_t>(end - first)) ++end;
  if (const size_t count = end - first; count == kHours || count == 2 * kHours) return count;
  std::vector<int64_t> clocks;
  for (end = first; end < names.size(); ++end) {
    const auto clock = io::read_clock(names[end]);
    if (!clock || (!clocks.empty() && clock->seconds <= clocks.back() && clock->seconds != 0)) break;
    clocks.push_back(clock->seconds);
  }
  const bool day =
      clocks.size() >= kHours && (clocks[1] - clocks[0]) * std::ssize(clocks) == io::kSecondsOfDay;
  return day ? clocks.size() : 0;
}

/// Columns that are the months or quarters of a row's year, or parts of its day.
struct Periods {
  size_t first = 0, count = 0;
  int months = 0;  // of a period: 1 or 3; 0: a part of the day

  const char* name() const { return months == 0 ? "hours" : months == 1 ? "months" : "quarters"; }

  bool contains(size_t column) const { return column >= first && column < first + count; }
  /// Seconds of a period of the row with this date.
  int64_t date(int64_t row, size_t period) const {
    if (row == io::kMissingDate) return row;
    if (months > 0)
      return io::to_seconds({io::to_civil(row).year, static_cast<int>(period) * months + 1, 1, 0, 0, 0});
    return row + static_cast<int64_t>(period) * (io::kSecondsOfDay / static_cast<int64_t>(count));
  }
};

std::optional<Periods> find_periods(const io::CsvTable& table, const TableTime& time) {
  if (time.columns.empty() || time.style.clock != io::DateStyle::no_clock) return std::nullopt;
  const bool years = !time.style.has_day || time.style.pattern == "%Y";
  if (!table.had_header) {  // a year and twelve columns
    const size_t first = time.columns.back() + 1;
    if (years && first + kMonths == table.columns.size()) return Periods{first, kMonths, 1};
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const io::CsvColumn& column : table.columns) names.push_back(column.name);
  for (size_t first = 0; first < names.size(); ++first) {
    const size_t count = years ? months_from(names, first) : hours_from(names, first);
    if (count >= kMonths) return Periods{first, count, years ? 1 : 0};
    if (years && quarters_from(names, first)) return Periods{first, kQuarters, 3};
  }
  return std::nullopt;
}

void require_numbers(const io::CsvTable& table, const Periods& periods) {
  for (size_t i = periods.first; i < periods.first + periods.count; ++i) {
    const io::CsvColumn& column = table.columns[i];
    const bool empty = column.kind == io::CsvColumn::text &&
                       std::all_of(column.texts.begin(), column.texts.end(), [](std::string_view cell) {
                         return cell.empty() || io::is_missing_mark(cell);
                       });
    require(column.kind == io::CsvColumn::number || empty, ErrorKind::data,
            "{}: data.orient = periods: column '{}' must hold numbers, it holds {}", table.source,
            column.name, column.kind == io::CsvColumn::date ? "dates" : "text");
  }
}

double value_of(const io::CsvColumn& column, int64_t row) {
  return column.kind == io::CsvColumn::number ? column.numbers[static_cast<size_t>(row)] : std::nan("");
}

/// The rows by date.
std::vector<int64_t> sorted_rows(const TableTime& time) {
  std::vector<int64_t> rows(time.dates.size());
  std::iota(rows.begin(), rows.end(), int64_t{0});
  std::stable_sort(rows.begin(), rows.end(), [&](int64_t a, int64_t b) {
    return time.dates[static_cast<size_t>(a)] < time.dates[static_cast<size_t>(b)];
  });
  return rows;
}

/// The rows that the periods become: their date, value, and row of the file.
struct PeriodRows {
  std::vector<int64_t> dates, file_rows;
  io::NumberCells values;
};

/// By date, without missing values behind the last one.
PeriodRows rows_of(const io::CsvTable& table, const TableTime& time, const Periods& periods) {
  const std::vector<int64_t> rows = sorted_rows(time);
  const auto visit = [&](const auto& add) {
    for (const int64_t row : rows)
      for (size_t i = 0; i < periods.count; ++i)
        add(row, periods.date(time.dates[static_cast<size_t>(row)], i),
            value_of(table.columns[periods.first + i], row));
  };
  int64_t last = INT64_MIN;
  visit([&](int64_t, int64_t date, double value) {
    if (!std::isnan(value)) last = std::max(last, date);
  });
  PeriodRows out;
  visit([&](int64_t row, int64_t date, double value) {
    if (date > last) return;
    out.dates.push_back(date);
    out.values.push_back(value);
    out.file_rows.push_back(row);
  });
  return out;
}

bool is_kept(const io::CsvColumn& column, const ForecastDataConfig& config) {
  return column.kind == io::CsvColumn::text || always_names_series(column.name) ||
         usually_names_series(column.name) ||
         std::find(config.id.begin(), config.id.end(), column.name) != config.id.end();
}

io::CsvColumn repeated(const io::CsvColumn& column, const std::vector<int64_t>& rows) {
  io::CsvColumn out;
  out.name = column.name;
  out.kind = column.kind;
  out.plain_integers = column.plain_integers;
  for (const int64_t row : rows)
    if (column.kind == io::CsvColumn::text)
      out.texts.push_back(column.texts[static_cast<size_t>(row)]);
    else
      out.numbers.push_back(column.numbers[static_cast<size_t>(row)]);
  return out;
}

}  // namespace

void require_no_periods(const io::CsvTable& table, const TableTime& time, const ForecastDataConfig& config) {
  if (config.orient != "auto" || table.rows < 2 || !config.columns.empty() || !table.had_header) return;
  const std::optional<Periods> periods = find_periods(table, time);
  if (!periods) return;
  const std::string& first = table.columns[periods->first].name;
  fail(ErrorKind::data,
       "{}: columns '{}' to '{}' look like the {} of each row: data.orient = periods reads one series, "
       "data.orient = columns reads {} variables",
       table.source, first, table.columns[periods->first + periods->count - 1].name, periods->name(),
       periods->count);
}

void unfold_periods(io::CsvTable& table, TableTime& time, const ForecastDataConfig& config) {
  const std::optional<Periods> periods = find_periods(table, time);
  require(
      periods.has_value(), ErrorKind::data,
      "{}: data.orient = periods: expected a row for each year with a column for each month, Jan to Dec or "
      "1 to 12, or each quarter, Q1 to Q4, or a row for each day with a column for each hour; data.time "
      "names "
      "the column of years or days",
      table.source);
  require_numbers(table, *periods);
  const std::string first = table.columns[periods->first].name,
                    last = table.columns[periods->first + periods->count - 1].name;
  PeriodRows unfolded = rows_of(table, time, *periods);
  require(!unfolded.dates.empty(), ErrorKind::data, "{}: columns '{}' to '{}' have no value", table.source,
          first, last);
  io::CsvColumn dates, value;
  dates.name = table.columns[time.columns[0]].name;
  dates.kind = io::CsvColumn::date;
  value.name = "value";
  value.numbers = std::move(unfolded.values);
  std::vector<io::CsvColumn> columns = {std::move(dates)};
  std::vector<std::string> dropped;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const io::CsvColumn& column = table.columns[i];
    if (periods->contains(i) || time.takes(i)) continue;
    if (is_kept(column, config))
      columns.push_back(repeated(column, unfolded.file_rows));
    else
      dropped.push_back("'" + column.name + "'");
  }
  table.notes.push_back(fmt::format("columns '{}' to '{}' are read as the {} of each row, one series", first,
                                    last, periods->name()));
  if (!dropped.empty())
    table.notes.push_back(fmt::format("column{} {} beside them {} dropped", dropped.size() == 1 ? "" : "s",
                                      fmt::join(dropped, ", "), dropped.size() == 1 ? "is" : "are"));
  columns.push_back(std::move(value));
  table.columns = std::move(columns);
  table.rows = std::ssize(unfolded.dates);
  table.file_rows = std::move(unfolded.file_rows);
  time.dates = std::move(unfolded.dates);
  time.columns = {0};
  time.others.clear();
  time.cells.clear();
  time.parts = false;
  if (periods->months > 0) {
    time.style = {};
    time.style.has_day = false;
    time.style.quarter = periods->months == 3;
    time.style.clock = io::DateStyle::no_clock;
  } else {
    time.style.clock = io::DateStyle::minutes;
    if (!time.style.pattern.empty()) time.style.pattern += " %H:%M";
  }
}

}  // namespace modewise::data
