#include "modewise/data/forecasting/tables/time_column.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/data/forecasting/tables/counted_rows.h"
#include "modewise/io/tables/date_column.h"
#include "modewise/io/tables/date_pattern.h"

namespace modewise::data {
namespace {

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

/// Times in a column of numbers; `name`: what its name says.
std::optional<io::NumberDates> read_numbers(const io::CsvColumn& column, io::TimeName name, bool is_first) {
  const io::NumberCells& numbers = column.numbers;
  if (io::names_weeks(column.name))
    if (auto weeks = io::read_calendar_numbers(numbers, 6, "%G%V")) return weeks;
  auto long_form = io::read_calendar_numbers(numbers);
  if (!long_form && name != io::TimeName::none) long_form = io::read_calendar_numbers(numbers, 7, "%Y%j");
  if (!long_form && name == io::TimeName::whole)
    if (auto weeks = io::read_calendar_numbers(numbers, 6, "%G%V"); weeks && rises_steadily(weeks->dates))
      return weeks;
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
    if (text.empty() || std::find(missing.begin(), missing.end(), text) != missing.end())
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
  if (config.time_format == "number") {
    std::optional<TableTime> numbers = row_numbers(table, i);
    require(numbers.has_value(), ErrorKind::data,
            "{}: data.time_format = number needs whole numbers in each row of column '{}'", table.source,
            column.name);
    return *numbers;
  }
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

}  // namespace

std::optional<TableTime> read_seasons(const io::CsvTable& table, size_t i) {
  const io::CsvColumn& column = table.columns[i];
  const io::DateStyle& style = column.date_style;
  const bool months = column.kind == io::CsvColumn::date && !style.has_day && !style.quarter &&
                      (style.pattern.empty() || style.pattern == "%Y/%m") &&
                      style.order == io::DateStyle::year_first && style.month == io::DateStyle::number;
  const char mark = style.pattern.empty() ? style.separator : '/';
  if (column.kind == io::CsvColumn::number || (column.kind == io::CsvColumn::date && !months))
    return std::nullopt;
  const auto cell = [&](size_t row) {
    if (!months) return std::string(column.texts[row]);
    if (column.dates[row] == io::kMissingDate) return std::string();
    const io::CivilTime civil = io::to_civil(column.dates[row]);
    return fmt::format("{:04}{}{:02}", civil.year, mark, civil.month);
  };
  const size_t rows = months ? column.dates.size() : column.texts.size();
  std::string first;
  io::DateColumn seasons;
  bool differ = false;
  for (size_t row = 0; row < rows; ++row) {
    const std::string text = cell(row);
    if (text.empty()) {
      seasons.add_missing();
      continue;
    }
    if (first.empty()) {
      first = text;
      seasons = io::DateColumn(std::string(io::season_pattern(first)));
      for (size_t empty = 0; empty < row; ++empty) seasons.add_missing();
    }
    if (io::season_pattern(text).empty() || !seasons.add(text)) return std::nullopt;
    differ = differ || text != first;
  }
  if (!differ) return std::nullopt;
  seasons.decide();
  TableTime time;
  time.columns = {i};
  time.style = seasons.style();
  time.dates = seasons.take_dates();
  time.notes = {fmt::format("column '{}' is read as seasons of two years, such as {}{}", column.name, first,
                            months ? fmt::format("; data.time_format = %Y{}%m reads months", mark) : "")};
  return time;
}

bool rises(const io::NumberCells& numbers) {
  return numbers.size() >= 2 && std::adjacent_find(numbers.begin(), numbers.end(), [](double a, double b) {
                                  return !(a < b);
                                }) == numbers.end();
}

bool counts_evenly(const io::NumberCells& numbers) {
  if (!rises(numbers)) return false;
  const double step = (numbers.back() - numbers.front()) / static_cast<double>(numbers.size() - 1);
  for (size_t row = 1; row < numbers.size(); ++row)
    if (std::abs(numbers[row] - numbers[row - 1] - step) > 0.01 * step) return false;
  return true;
}

bool has_clock(const io::DateStyle& style) {
  return style.numbers != io::DateStyle::calendar || style.clock != io::DateStyle::no_clock;
}

std::optional<TableTime> read_time_column(const io::CsvTable& table, size_t i) {
  const io::CsvColumn& column = table.columns[i];
  if (auto seasons = read_seasons(table, i)) return seasons;
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
  if (io::names_weeks(column.name)) forms = {"%G-%V", "%G/%V", "%V/%G", "%V-%G", "%V.%G"};
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

std::optional<TableTime> read_time_numbers(const io::CsvTable& table, size_t column) {
  const io::CsvColumn& cells = table.columns[column];
  const io::TimeName name = io::time_name(cells.name);
  auto dates = read_numbers(cells, name, column == 0);
  if (!dates) return std::nullopt;
  TableTime time = of_numbers(column, std::move(*dates));
  const bool excel = time.style.numbers == io::DateStyle::excel_days;
  if (excel || name == io::TimeName::none) {
    const size_t row = first_filled(cells);
    io::DateStyle plain;
    plain.clock = has_clock(time.style) ? io::DateStyle::seconds : io::DateStyle::no_clock;
    time.notes.push_back(fmt::format(
        "the numbers of column '{}' are read as {}: {} is {}; data.time_format names another form, data.drop "
        "= {} reads the rows without dates",
        cells.name, excel ? "days since 1899-12-30, as in Excel" : "dates", cells.numbers[row],
        io::format_date_time(time.dates[row], plain), cells.name));
  }
  return time;
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
  static const std::array<std::string_view, 7> forms = {"epoch_s", "epoch_ms",     "epoch_us", "epoch_ns",
                                                        "excel",   "decimal_year", "number"};
  require(std::find(forms.begin(), forms.end(), format) != forms.end(), ErrorKind::config,
          "data.time_format: expected codes such as %Y-%m-%d %H:%M or one of {}, got '{}'",
          fmt::join(forms, ", "), format);
}

TableTime read_formatted_column(const io::CsvTable& table, size_t column, std::optional<size_t> clock,
                                const ForecastDataConfig& config) {
  return is_pattern(config.time_format) ? read_by_pattern(table, column, clock, config)
                                        : read_by_number_form(table, column, config);
}

}  // namespace modewise::data
