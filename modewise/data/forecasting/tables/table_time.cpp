#include "modewise/data/forecasting/tables/table_time.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <unordered_set>

#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/forecasting/tables/clock_column.h"
#include "modewise/data/forecasting/tables/counted_rows.h"
#include "modewise/data/forecasting/tables/date_and_clock.h"
#include "modewise/data/forecasting/tables/date_parts.h"
#include "modewise/data/forecasting/tables/local_clock.h"
#include "modewise/data/forecasting/tables/time_column.h"
#include "modewise/io/ascii.h"
#include "modewise/io/tables/date_column.h"
#include "modewise/io/tables/time_names.h"
#include "modewise/io/tables/time_zone.h"
#include "modewise/io/tables/zone_names.h"

namespace modewise::data {
namespace {

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

/// Whether a column has the name of a data frame's index in a file: none, or that of a frame that was saved
/// again, "Unnamed: 0.1".
bool nameless(const io::CsvTable& table, size_t column) {
  const std::string name = io::to_lower(table.columns[column].name);
  return table.had_header &&
         (name.starts_with("unnamed: 0") || (column == 0 && (name.empty() || name == "column 1")));
}

bool holds_frame_index(const io::CsvTable& table, size_t column) {
  return nameless(table, column) && is_frame_index(table.columns[column].numbers);
}

bool among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether the config uses a column otherwise than as the time.
bool has_other_use(const io::CsvColumn& column, const ForecastDataConfig& config) {
  return among(config.drop, column.name) || among(config.id, column.name) ||
         among(config.categories, column.name) || among(config.known, column.name);
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

/// Whether all texts differ and hold digits, as those of dates do.
bool differ_like_dates(const io::TextCells& texts) {
  std::set<std::string_view> seen;
  return texts.size() > 2 && std::all_of(texts.begin(), texts.end(), [&](std::string_view text) {
           return text.find_first_of("0123456789") != std::string_view::npos && seen.insert(text).second;
         });
}

size_t count_distinct(std::span<const int64_t> times) {
  return sorted_distinct(times).size();
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
  if (!config.time_format.empty())
    return read_formatted_column(
        table, columns[0], columns.size() > 1 ? std::optional<size_t>(columns[1]) : std::nullopt, config);
  auto time = read_time_column(table, columns[0]);
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
        return read_formatted_column(table, i, std::nullopt, config);
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
            column.numbers.size() > 3 && !names_row(column.name) && !holds_frame_index(table, i))
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
      if (auto read = read_time_column(table, i)) {
        read->warnings = time.warnings;
        read->notes.insert(read->notes.begin(), time.notes.begin(), time.notes.end());
        time = std::move(*read);
        return;
      }
    } else if (name != io::TimeName::whole || column.kind == io::CsvColumn::date) {
      if (auto seasons = i == 0 ? read_seasons(table, i) : std::nullopt) {
        seasons->warnings = time.warnings;
        seasons->notes.insert(seasons->notes.begin(), time.notes.begin(), time.notes.end());
        time = std::move(*seasons);
        return;
      }
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
    if (auto read = numbers ? std::nullopt : read_time_column(table, i)) {
      read->warnings = time.warnings;
      read->notes.insert(read->notes.begin(), time.notes.begin(), time.notes.end());
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
        time = *read_time_column(table, i);
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
    if (parts->hours_end)
      time.notes.push_back(
          fmt::format("column '{}' is read as hours 1 to 24, which end at their number: 1 is 00:00 to 01:00",
                      table.columns[time.columns.back()].name));
    if (!time.cells.empty() && time.cells[0].style.pattern == "%G")
      time.notes.push_back(fmt::format("column '{}' is read as ISO weeks, dated by their Monday",
                                       table.columns[time.columns[1]].name));
    return time;
  }
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const io::CsvColumn& column = table.columns[i];
    if (column.kind != io::CsvColumn::number || has_other_use(column, config)) continue;
    if (auto numbers = read_time_numbers(table, i)) {
      find_clock(table, *numbers, config);
      return *numbers;
    }
  }
  if (auto counted = find_counted_rows(table, config)) return *counted;
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
    if (holds_frame_index(table, i)) {
      time.others.push_back(i);
      time.notes.push_back(fmt::format("column '{}' is a row index and is dropped", column.name));
      if (time.columns.empty() && !rises(column.numbers))
        time.warnings.push_back(fmt::format(
            "the row index '{}' does not rise, and there are no dates: the rows follow each other in time "
            "as in the file; sort them before if that is not their order",
            column.name));
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

/// Takes dates as local times of config.time_zone: `time` keeps UTC and is written as local time. Days and
/// longer steps are those of the local calendar and stay as they are.
void apply_zone(const io::CsvTable& table, TableTime& time, const ForecastDataConfig& config) {
  if (config.time_zone.empty() || time.columns.empty() || time.counted) return;
  const auto zone = io::TimeZone::find(config.time_zone);
  require(zone != nullptr, ErrorKind::config,
          "data.time_zone: expected a name such as Europe/Berlin or an offset such as +01:00, got '{}'{}",
          config.time_zone,
          config.time_zone.find('/') != std::string::npos ? " (not found in /usr/share/zoneinfo)" : "");
  if (time.style.has_offset || time.style.numbers == io::DateStyle::unix_time) {
    time.style.guessed_zone = {};
    time.notes.push_back(
        fmt::format("the times of column '{}' are read by their UTC offset, not by data.time_zone",
                    table.columns[time.columns[0]].name));
    return;
  }
  if (are_days(time.dates)) {
    time.notes.push_back(fmt::format("the times are local days of {}", config.time_zone));
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
  constexpr int64_t kDay = io::kSecondsOfDay;
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

bool names_row(const std::string& name) {
  static const std::array<std::string_view, 9> names = {"no",  "nr",    "id",     "index", "idx",
                                                        "row", "rowid", "row_id", "#"};
  return std::find(names.begin(), names.end(), io::to_lower(name)) != names.end();
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
  follow_date_order(table, time, config);
  leave_out_others(table, time, config);
  require_whole_seconds(table, time, config);
  apply_zone(table, time, config);
  if (time.style.short_year && time.style.has_day && config.time_format.empty())
    time.notes.push_back("years of two digits are read as 1969 to 2068");
  return time;
}

std::string date_order_of(const io::DateStyle& style) {
  if (style.numbers != io::DateStyle::calendar || style.month != io::DateStyle::number || !style.has_day ||
      !style.pattern.empty())
    return {};
  return style.order == io::DateStyle::day_first     ? "day_first"
         : style.order == io::DateStyle::month_first ? "month_first"
                                                     : "";
}

void follow_date_order(const io::CsvTable& table, TableTime& time, const ForecastDataConfig& config) {
  io::DateStyle& style = time.style;
  const std::string& trained = config.date_order;
  const std::string order = date_order_of(style);
  if (trained.empty() || order.empty() || !config.time_format.empty()) return;
  style.order_guessed = style.order_guessed && order != trained;
  if (order == trained) return;
  io::DateStyle other = style;
  other.order = trained == "day_first" ? io::DateStyle::day_first : io::DateStyle::month_first;
  other.order_guessed = false;
  for (size_t row = 0; row < time.dates.size(); ++row) {
    const int64_t date = time.dates[row];
    if (date == io::kMissingDate) continue;
    const bool day_before = style.midnight_24 && date % io::kSecondsOfDay == 0;
    if (io::to_civil(date - (day_before ? io::kSecondsOfDay : 0)).day > 12)
      fail(ErrorKind::data,
           "{}:{}: {} is {}, but the dates of the run's training data are {}: write both in one order, or as "
           "2017-06-01",
           table.source, TableLines(table)(static_cast<int64_t>(row)), io::format_date_time(date, style),
           style.text(), other.text());
  }
  for (int64_t& date : time.dates)
    if (date != io::kMissingDate) date = io::exchange_day_and_month(date, style.midnight_24);
  style = std::move(other);
  if (!time.cells.empty()) time.cells[0].style.order = style.order;
  time.notes.push_back(
      fmt::format("dates are read as {}, the order of the run's training data", style.text()));
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
