#include "modewise/data/forecasting/table_time.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/tables/csv_scanner.h"
#include "modewise/io/text_input.h"

namespace modewise::data {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Columns year, month, day, hour, minute, second, as many as exist; year alone only as the first column.
std::vector<size_t> date_parts(const io::CsvTable& table) {
  std::vector<size_t> found;
  for (const char* part : {"year", "month", "day", "hour", "minute", "second"}) {
    size_t column = 0;
    while (column < table.columns.size() && lower(table.columns[column].name) != part) ++column;
    if (column == table.columns.size() || table.columns[column].kind != io::CsvColumn::number) break;
    found.push_back(column);
  }
  if (found.size() == 1 && found[0] != 0) found.clear();
  return found;
}

/// Dates from columns year, month, day, hour ….
std::vector<int64_t> dates_of_parts(const io::CsvTable& table, const std::vector<size_t>& columns) {
  static constexpr std::array<std::pair<int, int>, 6> limits = {
      {{1, 9999}, {1, 12}, {1, 31}, {0, 24}, {0, 59}, {0, 60}}};
  std::vector<int64_t> dates(static_cast<size_t>(table.rows));
  for (size_t row = 0; row < dates.size(); ++row) {
    std::array<int, 6> part = {1970, 1, 1, 0, 0, 0};
    bool valid = true;
    for (size_t i = 0; i < columns.size(); ++i) {
      const double value = table.columns[columns[i]].numbers[row];
      if (!(value >= limits[i].first && value <= limits[i].second) || value != std::floor(value))
        valid = false;  // also NaN
      else
        part[i] = static_cast<int>(value);
    }
    if (!valid || part[2] > io::days_in_month(part[0], part[1])) {
      std::vector<std::string> names, values;
      for (const size_t column : columns) {
        names.push_back(table.columns[column].name);
        const double value = table.columns[column].numbers[row];
        values.push_back(std::isnan(value) ? "empty" : fmt::format("{}", value));
      }
      fail(ErrorKind::data, "{}:{}: the columns {} must give a date, got {}", table.source,
           TableLines(table)(static_cast<int64_t>(row)), fmt::join(names, ", "), fmt::join(values, ", "));
    }
    dates[row] =
        io::to_seconds({part[0], part[1], part[2], 0, 0, 0}) + part[3] * 3600 + part[4] * 60 + part[5];
  }
  return dates;
}

io::DateStyle style_of_parts(size_t parts) {
  io::DateStyle style;
  style.has_day = parts >= 3;
  style.clock = parts >= 6   ? io::DateStyle::seconds
                : parts >= 4 ? io::DateStyle::minutes
                             : io::DateStyle::no_clock;
  return style;
}

/// Units per second of Unix time between 1973 and 2096: 1 seconds, 1000 milliseconds (of whole seconds), 0
/// neither.
int64_t epoch_units(const std::vector<double>& numbers) {
  constexpr double kEarliest = 1e8, kLatest = 4e9;
  for (const int64_t units : {1, 1000}) {
    const auto scale = static_cast<double>(units);
    if (std::all_of(numbers.begin(), numbers.end(), [&](double x) {
          return x >= kEarliest * scale && x < kLatest * scale && std::fmod(x, scale) == 0 &&
                 x == std::floor(x);
        }))
      return units;
  }
  return 0;
}

bool rises_by_a_constant_step(const std::vector<double>& numbers) {
  if (numbers.size() < 3) return false;
  const double step = numbers[1] - numbers[0];
  for (size_t row = 1; row < numbers.size(); ++row)
    if (numbers[row] - numbers[row - 1] != step) return false;
  return step > 0;
}

bool names_a_time(const std::string& name) {
  static const std::array<std::string_view, 11> names = {
      "time", "timestamp", "date", "datetime", "ds", "ts", "unix", "unixtime", "epoch", "utc", "unix_time"};
  return std::find(names.begin(), names.end(), lower(name)) != names.end();
}

/// Finds a column of Unix time; only `wanted` if it is set.
TableTime epoch_column(const io::CsvTable& table, const std::string& wanted) {
  TableTime time;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const io::CsvColumn& column = table.columns[i];
    if (column.kind != io::CsvColumn::number || (!wanted.empty() && column.name != wanted)) continue;
    const int64_t units = epoch_units(column.numbers);
    if (units == 0) continue;
    if (wanted.empty() && !names_a_time(column.name) && !(i == 0 && rises_by_a_constant_step(column.numbers)))
      continue;
    time.columns = {i};
    time.style.epoch = units;
    for (const double x : column.numbers) time.dates.push_back(static_cast<int64_t>(x) / units);
    break;
  }
  return time;
}

TableTime named_time(const io::CsvTable& table, const std::string& name) {
  std::vector<std::string> names;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const io::CsvColumn& column = table.columns[i];
    names.push_back(column.name);
    if (column.name != name) continue;
    if (column.kind == io::CsvColumn::date) return {{i}, column.dates, column.date_style};
    TableTime epoch = epoch_column(table, name);
    require(!epoch.columns.empty(), ErrorKind::data, "{}: the time column '{}' must hold dates, it holds {}",
            table.source, name, column.kind == io::CsvColumn::number ? "numbers" : "text");
    return epoch;
  }
  fail(ErrorKind::config, "data.time_column: {} has no column '{}'{}", table.source, name,
       nearest_name_hint(name, names));
}

}  // namespace

int64_t TableLines::operator()(int64_t row) const {
  const io::MappedFile file(path_);
  const io::TextInput input(file.bytes(), path_);
  io::CsvScanner scanner(input.text(), delimiter_, path_);
  const auto skip_cell = [](size_t, std::string_view) {};
  for (int64_t at = had_header_ ? -1 : 0; scanner.row(skip_cell) && at < row; ++at) {
  }
  return scanner.line();
}

TimeColumns time_columns(const io::CsvTable& table, const TableTime& time) {
  TimeColumns columns{{}, time.parts};
  for (const size_t column : time.columns) columns.names.push_back(table.columns[column].name);
  return columns;
}

TableTime find_time(const io::CsvTable& table, const ForecastDataConfig& config) {
  if (!config.time_column.empty()) return named_time(table, config.time_column);
  for (size_t i = 0; i < table.columns.size(); ++i)
    if (const auto& column = table.columns[i]; column.kind == io::CsvColumn::date)
      return {{i}, column.dates, column.date_style};
  if (const std::vector<size_t> parts = date_parts(table); !parts.empty())
    return {parts, dates_of_parts(table, parts), style_of_parts(parts.size()), true};
  return epoch_column(table, "");
}

std::vector<std::string> date_warnings(const TableTime& time) {
  if (!time.style.order_guessed) return {};
  return {fmt::format("dates are read as {}; day and month are ambiguous in every row", time.style.text())};
}

}  // namespace modewise::data
