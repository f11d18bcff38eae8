#include "modewise/data/forecasting/table_time.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <unordered_set>

#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/forecasting/clock_column.h"
#include "modewise/data/forecasting/date_parts.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/number_text.h"
#include "modewise/io/tables/csv_scanner.h"
#include "modewise/io/tables/date_column.h"
#include "modewise/io/tables/date_numbers.h"
#include "modewise/io/tables/date_pattern.h"
#include "modewise/io/tables/time_names.h"
#include "modewise/io/tables/time_zone.h"
#include "modewise/io/tables/zone_names.h"
#include "modewise/io/text_input.h"

namespace modewise::data {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Whether the dates rise by one difference, or month by month.
bool rises_steadily(const std::vector<int64_t>& dates) {
  if (dates.size() < 3 || dates[1] <= dates[0]) return false;
  const auto months = [](int64_t date) {
    const io::CivilTime time = io::to_civil(date);
    return time.year * 12 + time.month;
  };
  bool steady = true, monthly = true;
  for (size_t row = 1; row < dates.size() && (steady || monthly); ++row) {
    if (dates[row - 1] == io::kMissingDate || dates[row] == io::kMissingDate) return false;
    steady = steady && dates[row] - dates[row - 1] == dates[1] - dates[0];
    monthly = monthly && months(dates[row]) - months(dates[row - 1]) == months(dates[1]) - months(dates[0]) &&
              months(dates[1]) > months(dates[0]);
  }
  return steady || monthly;
}

bool rises(const io::NumberCells& numbers) {
  return numbers.size() >= 2 && std::adjacent_find(numbers.begin(), numbers.end(), [](double a, double b) {
                                  return !(a < b);
                                }) == numbers.end();
}

/// Whether the numbers rise by one difference, up to the rounding of decimals.
bool counts_evenly(const io::NumberCells& numbers) {
  if (!rises(numbers)) return false;
  const double step = (numbers.back() - numbers.front()) / static_cast<double>(numbers.size() - 1);
  for (size_t row = 1; row < numbers.size(); ++row)
    if (std::abs(numbers[row] - numbers[row - 1] - step) > 0.01 * step) return false;
  return true;
}

/// Whether whole numbers are a data frame's index: all different, as of a filtered or sorted frame, or
/// counted from 0 again and again, as of joined frames.
bool is_frame_index(const io::NumberCells& numbers) {
  bool counts = !numbers.empty();
  for (size_t row = 0; row < numbers.size(); ++row) {
    if (!(numbers[row] >= 0) || numbers[row] != std::floor(numbers[row])) return false;
    counts = counts && (numbers[row] == 0 || (row > 0 && numbers[row] == numbers[row - 1] + 1));
  }
  if (counts || rises(numbers)) return true;
  std::vector<double> sorted(numbers.begin(), numbers.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

/// Names of row numbers, which variable_columns leaves out if they count from 0 or 1.
bool names_row(const std::string& name) {
  static const std::array<std::string_view, 9> names = {"no",  "nr",    "id",     "index", "idx",
                                                        "row", "rowid", "row_id", "#"};
  return std::find(names.begin(), names.end(), lower(name)) != names.end();
}

bool nameless(const io::CsvTable& table, size_t column) {
  const std::string name = lower(table.columns[column].name);
  return table.had_header && column == 0 && (name.empty() || name == "column 1" || name == "unnamed: 0");
}

bool among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether the config uses a column otherwise than as the time.
bool has_other_use(const io::CsvColumn& column, const ForecastDataConfig& config) {
  return among(config.drop, column.name) || among(config.id, column.name) ||
         among(config.categories, column.name) || among(config.known, column.name);
}

/// "12" in line 5.
std::string cell_with_line(const io::CsvTable& table, const io::CsvColumn& column, size_t row) {
  const std::string cell = column.kind == io::CsvColumn::text ? std::string(column.texts[row])
                                                              : fmt::format("{}", column.numbers[row]);
  return fmt::format("'{}' in line {}", cell, TableLines(table)(static_cast<int64_t>(row)));
}

size_t first_filled(const io::CsvColumn& column) {
  size_t row = 0;
  if (column.kind == io::CsvColumn::text)
    while (row + 1 < column.texts.size() && column.texts[row].empty()) ++row;
  else
    while (row + 1 < column.numbers.size() && std::isnan(column.numbers[row])) ++row;
  return row;
}

/// Times in a column of numbers. Its name decides which forms are plausible.
std::optional<io::NumberDates> read_numbers(const io::CsvColumn& column, io::TimeName name, bool is_first) {
  const io::NumberCells& numbers = column.numbers;
  if (io::names_weeks(column.name))
    if (auto weeks = io::read_calendar_numbers(numbers, 6, "%G%V")) return weeks;
  auto long_form = io::read_calendar_numbers(numbers);
  if (!long_form && name != io::TimeName::none) long_form = io::read_calendar_numbers(numbers, 7, "%Y%j");
  const bool year_and_month = long_form && long_form->style.pattern == "%Y%m";
  if (year_and_month && name == io::TimeName::none) return std::nullopt;
  if (!long_form) long_form = io::read_unix_time(numbers);
  if (name == io::TimeName::none) {
    if (!is_first || !long_form || !rises_steadily(long_form->dates)) return std::nullopt;
    return long_form;
  }
  if (long_form) return long_form;
  const bool plain = name == io::TimeName::whole;
  if (plain || rises(numbers))
    if (auto days = io::read_excel_days(numbers)) return days;
  if (auto years = io::read_decimal_years(numbers); years && (plain || is_first || rises(numbers)))
    return years;
  if (auto years = io::read_years(numbers); years && (plain || rises(numbers)) && is_first) return years;
  return std::nullopt;
}

TableTime of_numbers(size_t column, io::NumberDates dates) {
  TableTime time;
  time.columns = {column};
  time.dates = std::move(dates.dates);
  time.style = std::move(dates.style);
  return time;
}

/// Reads text cells by config.time_format; `second`: the column of clock times whose cells follow after a
/// space.
TableTime read_by_pattern(const io::CsvTable& table, size_t first, std::optional<size_t> second,
                          const ForecastDataConfig& config) {
  const io::CsvColumn& column = table.columns[first];
  io::DateColumn dates(config.time_format);
  TableTime time;
  time.columns = {first};
  if (second) time.columns.push_back(*second);
  const std::vector<std::string> missing = io::CsvOptions().missing;
  for (size_t row = 0; row < column.texts.size(); ++row) {
    std::string text(column.texts[row]);
    if (second && !text.empty()) text += " " + std::string(table.columns[*second].texts[row]);
    if (text.empty() || among(missing, text))
      dates.add_missing();
    else if (!dates.add(text))
      fail(ErrorKind::data, "{}:{}: data.time_format = {} does not fit '{}' in column '{}'", table.source,
           TableLines(table)(static_cast<int64_t>(row)), config.time_format, text, column.name);
  }
  dates.decide();
  time.style = dates.style();
  time.dates = dates.take_dates();
  if (second) {
    // The pattern up to its first space is that of the first column.
    const size_t space = config.time_format.find(' ');
    require(
        space != std::string::npos, ErrorKind::config,
        "data.time_format = {}: expected the forms of the columns '{}' and '{}' with a space between them",
        config.time_format, column.name, table.columns[*second].name);
    TimeCell date{time.style}, clock{time.style};
    date.style.pattern.resize(space);
    date.style.clock = io::DateStyle::no_clock;
    clock.style.pattern.erase(0, space + 1);
    time.cells = {date, clock};
  }
  return time;
}

/// Reads numbers by config.time_format.
TableTime read_by_number_form(const io::CsvTable& table, size_t i, const ForecastDataConfig& config) {
  const io::CsvColumn& column = table.columns[i];
  require(column.kind == io::CsvColumn::number, ErrorKind::data,
          "{}: data.time_format = {} needs a column of numbers, but column '{}' holds {}", table.source,
          config.time_format, column.name, column.kind == io::CsvColumn::date ? "dates" : "text");
  auto dates = config.time_format == "excel" ? io::read_excel_days(column.numbers)
               : config.time_format == "decimal_year"
                   ? io::read_decimal_years(column.numbers)
                   : io::read_unix_time(column.numbers, config.time_format);
  require(dates.has_value(), ErrorKind::data,
          "{}: data.time_format = {} does not fit the numbers of column "
          "'{}', such as {}",
          table.source, config.time_format, column.name, cell_with_line(table, column, first_filled(column)));
  return of_numbers(i, std::move(*dates));
}

bool is_pattern(const std::string& format) {
  return format.find('%') != std::string::npos;
}

void check_format(const ForecastDataConfig& config) {
  const std::string& format = config.time_format;
  if (format.empty()) return;
  if (is_pattern(format)) {
    const std::string wrong = io::pattern_error(format);
    require(wrong.empty(), ErrorKind::config, "data.time_format = {}: {}", format, wrong);
    return;
  }
  static const std::array<std::string_view, 6> forms = {"epoch_s",  "epoch_ms", "epoch_us",
                                                        "epoch_ns", "excel",    "decimal_year"};
  require(std::find(forms.begin(), forms.end(), format) != forms.end(), ErrorKind::config,
          "data.time_format: expected codes such as %Y-%m-%d %H:%M or one of {}, got '{}'",
          fmt::join(forms, ", "), format);
}

std::vector<std::string> time_names(const ForecastDataConfig& config) {
  require(config.time.empty() || config.time_column.empty(), ErrorKind::config,
          "data.time_column is the earlier name of data.time: set only one of them");
  require(config.time.size() <= 2, ErrorKind::config, "data.time: expected one or two columns, got {}",
          config.time.size());
  if (config.time_column.empty()) return config.time;
  return {config.time_column};
}

size_t position_of(const io::CsvTable& table, const std::string& name, const ForecastDataConfig& config) {
  std::vector<std::string> names;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return i;
    names.push_back(table.columns[i].name);
  }
  fail(ErrorKind::config, "data.{}: {} has no column '{}'{}", config.time.empty() ? "time_column" : "time",
       table.source, name, nearest_name_hint(name, names));
}

/// The times of a column, or nullopt if it holds none; its name does not matter.
std::optional<TableTime> read_column(const io::CsvTable& table, size_t i) {
  const io::CsvColumn& column = table.columns[i];
  if (column.kind == io::CsvColumn::date) {
    TableTime time;
    time.columns = {i};
    time.dates = column.dates;
    time.style = column.date_style;
    // 2024-05 in a column of weeks is the fifth one, not May.
    const io::DateStyle& style = time.style;
    if (io::names_weeks(column.name) && !style.has_day && !style.quarter && style.pattern.empty() &&
        style.month == io::DateStyle::number) {
      io::DateColumn weeks("%G-%V");
      for (const int64_t date : column.dates) {
        const io::CivilTime civil = io::to_civil(date);
        if (date == io::kMissingDate)
          weeks.add_missing();
        else
          weeks.add(fmt::format("{:04}-{:02}", civil.year, civil.month));
      }
      time.style = weeks.style();
      time.dates = weeks.take_dates();
    }
    return time;
  }
  if (column.kind == io::CsvColumn::number) {
    auto dates = read_numbers(column, io::TimeName::whole, true);
    if (dates) return of_numbers(i, std::move(*dates));
    return std::nullopt;
  }
  // Forms of other numbers, too, so that only a name can decide.
  std::vector<const char*> forms = {"%Y-%j"};
  if (io::names_weeks(column.name))
    forms = {"%G-%V",   "%G/%V",    "%V/%G",   "%V-%G",   "%V.%G", "KW %V/%G",
             "KW%V/%G", "KW %V %G", "KW%V %G", "%G-KW%V", "W%V/%G"};
  for (const char* form : forms) {
    io::DateColumn dates(form);
    if (!std::all_of(column.texts.begin(), column.texts.end(), [&](std::string_view text) {
          if (!text.empty()) return dates.add(text);
          dates.add_missing();
          return true;
        }))
      continue;
    TableTime time;
    time.columns = {i};
    time.style = dates.style();
    time.dates = dates.take_dates();
    return time;
  }
  return std::nullopt;
}

/// Whether all texts differ and hold digits, as those of dates do.
bool differ_like_dates(const io::TextCells& texts) {
  std::set<std::string_view> seen;
  return texts.size() > 2 && std::all_of(texts.begin(), texts.end(), [&](std::string_view text) {
           return text.find_first_of("0123456789") != std::string_view::npos && seen.insert(text).second;
         });
}

bool has_clock(const io::DateStyle& style) {
  return style.numbers != io::DateStyle::calendar || style.clock != io::DateStyle::no_clock;
}

/// Whether half of the distinct times or more are one difference apart, of at most a day.
bool is_regular(std::vector<int64_t> times) {
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::vector<int64_t> differences;
  for (size_t i = 1; i < times.size(); ++i)
    if (times[i - 1] != io::kMissingDate) differences.push_back(times[i] - times[i - 1]);
  if (differences.empty()) return false;
  std::sort(differences.begin(), differences.end());
  const int64_t median = differences[differences.size() / 2];
  return median <= 86400 &&
         std::count(differences.begin(), differences.end(), median) * 2 >= std::ssize(differences);
}

size_t count_distinct(std::span<const int64_t> times) {
  return sorted_distinct(times).size();
}

std::vector<int64_t> sums(const std::vector<int64_t>& dates, const ClockColumn& clock) {
  std::vector<int64_t> times(dates.size(), io::kMissingDate);
  for (size_t row = 0; row < dates.size(); ++row)
    if (dates[row] != io::kMissingDate && clock.seconds[row] != io::kMissingDate)
      times[row] = dates[row] + clock.seconds[row];
  return times;
}

/// Whether numbers below ten have a leading zero in the file.
bool writes_leading_zeros(const io::CsvTable& table, size_t column) {
  const io::MappedFile file(table.source);
  const io::TextInput input(file.bytes(), table.source);
  io::CsvScanner scanner(input.text(), table.delimiter, table.source);
  scanner.leave_out(table.left_out);
  size_t width = 0;
  const auto look = [&](size_t c, std::string_view cell) {
    cell = io::strip_spaces(cell);
    if (c == column && !cell.empty() && cell.find_first_not_of("0123456789") == std::string_view::npos &&
        (cell.size() == 1 || cell[0] == '0'))
      width = cell.size();
  };
  while (width == 0 && scanner.row(look)) {
  }
  return width == 2;
}

bool steady(const std::vector<int64_t>& times) {
  for (size_t row = 1; row < times.size(); ++row)
    if (times[row] - times[row - 1] != times[1] - times[0]) return false;
  return true;
}

/// Decides between day and month by the order in which times with their clock are evenly spaced.
void decide_order(TableTime& time, const ClockColumn& clock) {
  std::vector<int64_t> other = time.dates;
  for (int64_t& date : other)
    if (date != io::kMissingDate) date = io::exchange_day_and_month(date, false);
  const bool as_read = steady(sums(time.dates, clock)), as_other = steady(sums(other, clock));
  if (as_read == as_other) return;
  time.style.order_guessed = false;
  if (as_read) return;
  time.dates = std::move(other);
  time.style.order =
      time.style.order == io::DateStyle::month_first ? io::DateStyle::day_first : io::DateStyle::month_first;
}

/// Sums of dates and numbered hours or periods. Where a Sunday in spring or autumn has the numbers of 23 or
/// 25 hours, they count on through the change of the clock, which is at 02:00, or that of config.time_zone.
std::vector<int64_t> follow_long_days(TableTime& time, const ClockColumn& clock,
                                      const ForecastDataConfig& config) {
  constexpr int64_t kOneHour = 3600, kOneDay = 24 * kOneHour;
  std::vector<int64_t> times = sums(time.dates, clock);
  std::map<int64_t, int64_t> ends;  // of the last number of each day
  for (size_t row = 0; row < times.size(); ++row)
    if (times[row] != io::kMissingDate) {
      int64_t& end = ends[time.dates[row]];
      end = std::max(end, clock.seconds[row] + clock.cell.unit);
    }
  const auto zone = config.time_zone.empty() ? nullptr : io::TimeZone::find(config.time_zone);
  for (const auto& [day, end] : ends) {
    const bool longer = end == kOneDay + kOneHour, shorter = end == kOneDay - kOneHour;
    const io::CivilTime date = io::to_civil(day);
    const bool season = (date.month >= 3 && date.month <= 4) || (date.month >= 9 && date.month <= 11);
    if (!(longer || shorter) || !season || ((day / kOneDay + 3) % 7 + 7) % 7 != 6) continue;
    int64_t change = 2 * kOneHour;  // local time that is left out or comes twice, from here for an hour
    for (int64_t hour = 0; zone && hour < 5; ++hour) {
      const auto utc = zone->to_utc(day + hour * kOneHour);
      if (longer ? utc && utc->first != utc->second : !utc) change = hour * kOneHour;
    }
    for (size_t row = 0; row < times.size(); ++row)
      if (time.dates[row] == day && times[row] != io::kMissingDate &&
          clock.seconds[row] >= change + (longer ? kOneHour : 0))
        times[row] += longer ? -kOneHour : kOneHour;
    time.notes.push_back(fmt::format("{} has {} hours: the clock changes at {:02}:00",
                                     io::format_date_time(day, time.style), longer ? 25 : 23,
                                     (change + kOneHour) / kOneHour));
  }
  return times;
}

/// Adds the clock of column `i` to the dates of `time`.
void add_clock(const io::CsvTable& table, TableTime& time, size_t i, const ClockColumn& clock,
               const ForecastDataConfig& config) {
  time.notes.push_back(fmt::format(
      "columns '{}' and '{}' together are the time of a row{}", table.columns[time.columns[0]].name,
      table.columns[i].name,
      clock.meaning.empty() ? "" : fmt::format(" ('{}': {})", table.columns[i].name, clock.meaning)));
  if (time.style.order_guessed) decide_order(time, clock);
  time.dates = clock.cell.unit > 0 ? follow_long_days(time, clock, config) : sums(time.dates, clock);
  time.cells = {TimeCell{time.style}, clock.cell};
  if (clock.cell.unit > 0 && table.columns[i].kind == io::CsvColumn::number)
    time.cells[1].style.padded = writes_leading_zeros(table, i);
  time.columns.push_back(i);
  time.style.clock_separator = ' ';
  time.style.clock = clock.seconds_shown ? io::DateStyle::seconds : io::DateStyle::minutes;
}

/// Looks for a clock column of dates that have none and repeat.
void find_clock(const io::CsvTable& table, TableTime& time, const ForecastDataConfig& config) {
  const size_t days = count_distinct(time.dates);
  if (has_clock(time.style) || days == time.dates.size()) return;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const io::CsvColumn& column = table.columns[i];
    if (i == time.columns[0] || has_other_use(column, config) || among(config.columns, column.name)) continue;
    const auto clock = read_clock_column(column);
    const bool named = io::names_clock(column.name);
    if (clock) {
      const std::vector<int64_t> times = sums(time.dates, *clock);
      const bool text = column.kind == io::CsvColumn::text;
      // A column with one time for each date, such as of sunrise, is not a clock.
      const size_t distinct = count_distinct(times);
      const bool fits = text && named
                            ? distinct > days
                            : 2 * distinct >= 3 * days &&
                                  (text ? std::is_sorted(times.begin(), times.end()) : is_regular(times));
      if (!fits) continue;
      add_clock(table, time, i, *clock, config);
      return;
    }
    if (column.kind == io::CsvColumn::text && named && io::time_name(column.name) == io::TimeName::whole)
      fail(
          ErrorKind::data,
          "{}: the dates of column '{}' repeat, and column '{}' is not understood as their clock times ({}): "
          "data.time = [\"{}\", \"{}\"] with data.time_format reads both, data.drop = {} leaves it out, "
          "data.id = {} takes it as a series id",
          table.source, table.columns[time.columns[0]].name, column.name,
          cell_with_line(table, column, first_filled(column)), table.columns[time.columns[0]].name,
          column.name, column.name, column.name);
  }
}

TableTime named_time(const io::CsvTable& table, const std::vector<std::string>& names,
                     const ForecastDataConfig& config) {
  std::vector<size_t> columns;
  for (const std::string& name : names) columns.push_back(position_of(table, name, config));
  if (is_pattern(config.time_format))
    return read_by_pattern(table, columns[0],
                           columns.size() > 1 ? std::optional<size_t>(columns[1]) : std::nullopt, config);
  if (!config.time_format.empty()) return read_by_number_form(table, columns[0], config);
  auto time = read_column(table, columns[0]);
  const io::CsvColumn& first = table.columns[columns[0]];
  if (!time)
    fail(ErrorKind::data,
         "{}: the time column '{}' must hold dates, it holds {}, such as {}; "
         "data.time_format describes their form",
         table.source, names[0], first.kind == io::CsvColumn::number ? "numbers" : "text",
         cell_with_line(table, first, first_filled(first)));
  if (columns.size() == 1) return *time;
  const io::CsvColumn& second = table.columns[columns[1]];
  const auto clock = read_clock_column(second);
  require(clock.has_value() && !has_clock(time->style), ErrorKind::data,
          "{}: data.time expects a column of dates and a column of clock times, hours or periods, but '{}' "
          "holds {}",
          table.source, clock ? names[0] : names[1],
          clock ? "dates with clock times" : "none of these; data.time_format describes the form of both");
  add_clock(table, *time, columns[1], *clock, config);
  return *time;
}

/// The columns whose names say time and that config.time_format may mean.
TableTime formatted_time(const io::CsvTable& table, const ForecastDataConfig& config) {
  for (const io::TimeName wanted : {io::TimeName::whole, io::TimeName::part})
    for (size_t i = 0; i < table.columns.size(); ++i)
      if (io::time_name(table.columns[i].name) == wanted && !has_other_use(table.columns[i], config))
        return is_pattern(config.time_format) ? read_by_pattern(table, i, std::nullopt, config)
                                              : read_by_number_form(table, i, config);
  fail(ErrorKind::config, "data.time_format needs data.time, since no column name of {} says time",
       table.source);
}

/// Stops at a column whose name says time but whose cells are not understood, or takes it as row numbers.
void check_unread(const io::CsvTable& table, TableTime& time, const ForecastDataConfig& config) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const io::CsvColumn& column = table.columns[i];
    if (has_other_use(column, config) || among(config.columns, column.name)) continue;
    const io::TimeName name = io::time_name(column.name);
    if (column.kind == io::CsvColumn::number && name != io::TimeName::whole) {
      const bool rising = column.numbers.size() >= 3 && rises(column.numbers);
      const bool plain_years = rising && (i == 0 || name != io::TimeName::none) &&
                               counts_evenly(column.numbers) && io::read_years(column.numbers);
      if (!(rising && (plain_years || io::read_calendar_numbers(column.numbers) ||
                       io::read_unix_time(column.numbers)))) {
        if (i == 0 && table.columns.size() > 1 && table.had_header && counts_evenly(column.numbers) &&
            column.numbers.size() > 3 && !names_row(column.name))
          time.warnings.push_back(
              fmt::format("the numbers of the first column '{}' rise evenly, but are taken as a variable: "
                          "data.drop = {} leaves "
                          "them out, data.time_format reads them as times",
                          column.name, column.name));
      } else
        time.warnings.push_back(fmt::format(
            "the numbers of column '{}' rise and look like dates ({}), but are taken as a variable: "
            "data.time = {} reads them as the time",
            column.name, cell_with_line(table, column, 0), column.name));
      continue;
    }
    if (name == io::TimeName::part && column.kind == io::CsvColumn::text && differ_like_dates(column.texts)) {
      if (auto read = read_column(table, i)) {
        read->warnings = time.warnings;
        read->notes = time.notes;
        time = std::move(*read);
        return;
      }
    } else if (name != io::TimeName::whole || column.kind == io::CsvColumn::date) {
      if (i == 0 && column.kind == io::CsvColumn::text && table.had_header && differ_like_dates(column.texts))
        time.warnings.push_back(fmt::format(
            "each row has another text in the first column '{}' ({}), which is not a date: the rows "
            "are read without "
            "dates; data.time_format describes the form of dates",
            column.name, cell_with_line(table, column, 0)));
      continue;
    }
    const bool numbers = column.kind == io::CsvColumn::number;
    const size_t row = first_filled(column);
    if (numbers ? std::isnan(column.numbers[row]) : column.texts[row].empty()) continue;  // all missing
    if (numbers && counts_evenly(column.numbers)) {
      time.others.push_back(i);
      time.warnings.push_back(
          fmt::format("the numbers of column '{}' rise evenly and are not dates: it is taken as a row number "
                      "and dropped; "
                      "data.time_format reads it as dates, data.columns as a variable",
                      column.name));
      continue;
    }
    if (auto read = numbers ? std::nullopt : read_column(table, i)) {
      read->warnings = time.warnings;
      read->notes = time.notes;
      time = std::move(*read);
      return;
    }
    fail(ErrorKind::data,
         "{}: the name of column '{}' says time, but its {} are not understood as dates ({}): "
         "data.time_format "
         "describes their form (such as %d.%m.%Y %H:%M, epoch_s, excel), data.time names another column, "
         "data.drop = {} reads the rows without dates",
         table.source, column.name, numbers ? "numbers" : "texts", cell_with_line(table, column, row),
         column.name);
  }
}

TableTime found_time(const io::CsvTable& table, const ForecastDataConfig& config) {
  TableTime time;
  // A column of one date, such as that of an update, only if there is no other; so are dropped ones.
  const auto one_date = [](const std::vector<int64_t>& dates) {
    return dates.size() > 1 &&
           std::all_of(dates.begin(), dates.end(), [&](int64_t date) { return date == dates[0]; });
  };
  for (const int unlikely : {0, 1, 2, 3})
    for (size_t i = 0; i < table.columns.size(); ++i)
      if (const io::CsvColumn& column = table.columns[i];
          column.kind == io::CsvColumn::date &&
          2 * among(config.drop, column.name) + one_date(column.dates) == unlikely) {
        time = *read_column(table, i);
        find_clock(table, time, config);
        return time;
      }
  const auto taken = [&](const io::CsvColumn& column) { return has_other_use(column, config); };
  if (auto parts = read_date_parts(table, taken)) {
    time.columns = std::move(parts->columns);
    time.dates = std::move(parts->dates);
    time.style = std::move(parts->style);
    time.cells = std::move(parts->cells);
    time.parts = true;
    if (!time.cells.empty() && time.cells[0].style.pattern == "%G")
      time.notes.push_back(fmt::format("column '{}' is read as ISO weeks, dated by their Monday",
                                       table.columns[time.columns[1]].name));
    return time;
  }
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const io::CsvColumn& column = table.columns[i];
    if (column.kind != io::CsvColumn::number || has_other_use(column, config)) continue;
    if (auto dates = read_numbers(column, io::time_name(column.name), i == 0)) {
      time = of_numbers(i, std::move(*dates));
      find_clock(table, time, config);
      return time;
    }
  }
  check_unread(table, time, config);
  return time;
}

/// Columns besides the time that are not variables.
void leave_out_others(const io::CsvTable& table, TableTime& time, const ForecastDataConfig& config) {
  for (size_t i = 0; i < table.columns.size() && table.columns.size() > 1; ++i) {
    const io::CsvColumn& column = table.columns[i];
    const std::vector<size_t> taken = time.taken();
    if (column.kind != io::CsvColumn::number || among(config.columns, column.name) ||
        has_other_use(column, config) || std::find(taken.begin(), taken.end(), i) != taken.end())
      continue;
    if (nameless(table, i) && is_frame_index(column.numbers)) {
      time.others.push_back(i);
      time.notes.push_back(fmt::format("column '{}' is a row index and is dropped", column.name));
    } else if (io::time_name(column.name) == io::TimeName::whole && !time.columns.empty() &&
               (io::read_unix_time(column.numbers) || io::read_calendar_numbers(column.numbers))) {
      time.others.push_back(i);
      time.warnings.push_back(
          fmt::format("columns '{}' and '{}' both hold times, '{}' is the time column: data.time = {} "
                      "selects the other, data.columns takes it as a variable",
                      table.columns[time.columns[0]].name, column.name, table.columns[time.columns[0]].name,
                      column.name));
    }
  }
}

/// Takes dates as local times of config.time_zone: `time` keeps UTC and is written as local time.
void apply_zone(const io::CsvTable& table, TableTime& time, const ForecastDataConfig& config) {
  if (config.time_zone.empty() || time.columns.empty()) return;
  const auto zone = io::TimeZone::find(config.time_zone);
  require(zone != nullptr, ErrorKind::config,
          "data.time_zone: expected a name such as Europe/Berlin or an offset such as +01:00, got '{}'{}",
          config.time_zone,
          config.time_zone.find('/') != std::string::npos ? " (not found in /usr/share/zoneinfo)" : "");
  if (time.style.has_offset || time.style.numbers == io::DateStyle::unix_time) {
    time.style.guessed_zone = {};
    time.notes.push_back(fmt::format("data.time_zone is not used: the times of column '{}' have a UTC offset",
                                     table.columns[time.columns[0]].name));
    return;
  }
  // In the repeated hour, a time that does not come after that of the row above is the second one, unless
  // the table has several rows of one time anyway.
  const std::vector<int64_t> local = time.dates;
  bool several = false;
  for (size_t row = 1; row < local.size() && !several; ++row) {
    const auto utc = local[row] == io::kMissingDate ? std::nullopt : zone->to_utc(local[row]);
    several = utc && utc->first == utc->second && local[row] == local[row - 1];
  }
  int64_t last = INT64_MIN;
  for (size_t row = 0; row < local.size(); ++row) {
    if (local[row] == io::kMissingDate) continue;
    const auto utc = zone->to_utc(local[row]);
    if (!utc)
      fail(ErrorKind::data, "{}:{}: {} does not exist in {} (data.time_zone), where clocks go forward then",
           table.source, TableLines(table)(static_cast<int64_t>(row)),
           io::format_date_time(local[row], time.style), config.time_zone);
    const bool second = utc->first < last || (utc->first == last && !several);
    time.dates[row] = second ? utc->second : utc->first;
    last = time.dates[row];
  }
  time.style.local = zone;
  for (TimeCell& cell : time.cells) cell.style.local = zone;
  time.notes.push_back(fmt::format("the times are local times of {}", config.time_zone));
}

/// Unix time of fractions of a second, which a time axis does not keep.
void require_whole_seconds(const io::CsvTable& table, const TableTime& time,
                           const ForecastDataConfig& config) {
  if (time.style.numbers != io::DateStyle::unix_time || time.style.fraction_digits == 0) return;
  if (!config.resample.empty() || config.dates == "rows") return;
  for (size_t row = 1; row < time.dates.size(); ++row)
    if (time.dates[row] == time.dates[row - 1] && time.dates[row] != io::kMissingDate) {
      const io::CsvColumn& column = table.columns[time.columns[0]];
      fail(ErrorKind::data,
           "{}: column '{}' holds {} in steps of less than a second ({}), but times are kept in whole "
           "seconds: "
           "data.resample = \"1 s\" averages them, data.drop = {} reads the rows without dates",
           table.source, column.name, time.style.text(), cell_with_line(table, column, row), column.name);
    }
}

}  // namespace

int64_t TableLines::operator()(int64_t row) const {
  const io::MappedFile file(path_);
  const io::TextInput input(file.bytes(), path_);
  io::CsvScanner scanner(input.text(), delimiter_, path_);
  scanner.leave_out(left_out_);
  const auto skip_cell = [](size_t, std::string_view) {};
  for (int64_t at = had_header_ ? -1 : 0; scanner.row(skip_cell) && at < row; ++at) {
  }
  return scanner.line();
}

std::vector<size_t> TableTime::taken() const {
  std::vector<size_t> all = columns;
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

bool TableTime::takes(size_t column) const {
  const std::vector<size_t> all = taken();
  return std::find(all.begin(), all.end(), column) != all.end();
}

std::vector<int64_t> sorted_distinct(std::span<const int64_t> dates) {
  constexpr size_t kFew = 4096;
  // Where dates repeat, as in long tables, a set of them is smaller and faster than sorting all.
  std::unordered_set<int64_t> seen;
  size_t row = 0;
  for (; row < dates.size() && seen.size() <= kFew + row / 8; ++row)
    if (row == 0 || dates[row] != dates[row - 1]) seen.insert(dates[row]);
  std::vector<int64_t> distinct(seen.begin(), seen.end());
  distinct.insert(distinct.end(), dates.begin() + static_cast<std::ptrdiff_t>(row), dates.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  return distinct;
}

TimeColumns time_columns(const io::CsvTable& table, const TableTime& time) {
  TimeColumns columns{{}, time.parts, time.cells};
  for (const size_t column : time.columns) columns.names.push_back(table.columns[column].name);
  return columns;
}

std::vector<std::string> time_cells(const TimeColumns& columns, int64_t seconds) {
  std::vector<std::string> texts;
  constexpr int64_t kDay = 86400;
  const TimeCell& clock = columns.cells.back();
  const int64_t local = clock.style.local ? clock.style.local->to_local(seconds) : seconds;
  const int64_t of_day = (local % kDay + kDay) % kDay;
  // 24:00 belongs to the day before.
  const bool before_midnight = clock.style.midnight_24 && of_day == 0;
  for (const TimeCell& cell : columns.cells) {
    io::DateStyle style = cell.style;
    style.local = nullptr;
    if (cell.unit > 0)
      texts.push_back(fmt::format("{:0{}}", of_day / cell.unit + cell.first, cell.style.padded ? 2 : 1));
    else if (&cell == &clock)
      texts.push_back(before_midnight ? io::format_clock(0, style) : io::format_date_time(local, style));
    else
      texts.push_back(io::format_date_time(before_midnight ? local - kDay : local, style));
  }
  return texts;
}

bool names_time(const ForecastDataConfig& config) {
  return !config.time.empty() || !config.time_column.empty();
}

std::function<bool(std::string_view)> time_texts(const ForecastDataConfig& config) {
  if (!is_pattern(config.time_format)) return nullptr;
  return [names = time_names(config)](std::string_view name) {
    return names.empty() ? io::time_name(name) != io::TimeName::none
                         : std::find(names.begin(), names.end(), name) != names.end();
  };
}

TableTime find_time(const io::CsvTable& table, const ForecastDataConfig& config) {
  check_format(config);
  const std::vector<std::string> names = time_names(config);
  TableTime time = !names.empty()                ? named_time(table, names, config)
                   : !config.time_format.empty() ? formatted_time(table, config)
                                                 : found_time(table, config);
  leave_out_others(table, time, config);
  require_whole_seconds(table, time, config);
  apply_zone(table, time, config);
  return time;
}

std::vector<std::string> date_warnings(const TableTime& time) {
  std::vector<std::string> warnings = time.warnings;
  const io::DateStyle& style = time.style;
  if (style.order_guessed)
    warnings.push_back(
        fmt::format("dates are read as {}; day and month are ambiguous in every row", style.text()));
  if (style.short_year && !style.has_day)
    warnings.push_back(
        "dates such as Jan-05 are read as month and year of two digits; data.time_format "
        "decides");
  if (const io::ZoneName* zone = io::find_zone_name(style.guessed_zone); zone != nullptr)
    warnings.push_back(fmt::format(
        "the time zone {} has several meanings and is read as UTC{:+03}:{:02}; offsets such as +01:00 are "
        "clear",
        zone->name, zone->offset_minutes / 60, std::abs(zone->offset_minutes) % 60));
  return warnings;
}

}  // namespace modewise::data
