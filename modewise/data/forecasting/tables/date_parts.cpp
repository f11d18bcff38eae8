#include "modewise/data/forecasting/tables/date_parts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "modewise/core/error.h"
#include "modewise/data/forecasting/tables/table_time.h"
#include "modewise/io/ascii.h"
#include "modewise/io/tables/date_pattern.h"
#include "modewise/io/tables/month_names.h"

namespace modewise::data {
namespace {

/// A part of a date: the names of its column, its code in a pattern, its smallest and largest number.
struct DatePart {
  std::initializer_list<std::string_view> names;
  const char* code;
  int low, high;
  std::string_view letters;  // that may stand before the number in a text
};

const DatePart kYearPart{{"year", "yr", "yyyy", "yy", "jahr", "annee", "année", "año", "ano", "anio", "anno",
                          "jaar", "rok", "år", "年"},
                         "%Y",
                         1,
                         9999,
                         ""};
const DatePart kMonthPart{{"month", "mo", "mon", "monat", "mois", "mes", "mês", "mese", "maand", "miesiąc",
                           "månad", "måned", "月", "mm", "period"},
                          "%m",
                          1,
                          12,
                          "M"};
const DatePart kDayPart{
    {"day", "dy", "tag", "jour", "dia", "día", "giorno", "dag", "dzień", "日", "dd"}, "%d", 1, 31, ""};
const DatePart kHourPart{{"hour", "hr", "stunde", "heure", "hora", "ora", "uur", "hh"}, "%H", 0, 24, ""};
const DatePart kMinutePart{{"minute", "mn", "mm"}, "%M", 0, 59, ""};
const DatePart kSecondPart{{"second", "ss"}, "%S", 0, 60, ""};
const DatePart kQuarterPart{
    {"quarter", "qtr", "quartal", "trimestre", "trimester", "kwartaal", "period"}, "%q", 1, 4, "Q"};
const DatePart kWeekPart{{"week", "wk", "isoweek", "iso_week", "weekofyear", "woche", "kw", "semaine",
                          "semana", "settimana", "vecka", "uge", "uke", "period"},
                         "%V",
                         1,
                         53,
                         "W"};
const DatePart kDayOfYearPart{
    {"doy", "dayofyear", "day_of_year", "yday", "jday", "julian_day"}, "%j", 1, 366, ""};

/// PartNumbers of a column, and its part of a pattern.
struct PartNumbers {
  size_t column = 0;
  std::vector<int> values;
  std::string pattern;
  io::DateStyle style;  // of the names of months
};

/// The numbers of a column of texts such as M01 or Jan; false if a cell is none.
bool read_part_texts(const io::CsvColumn& column, const DatePart& part, PartNumbers& out) {
  bool named = false, padded = true;
  for (const std::string_view text : column.texts) {
    if (const auto month = &part == &kMonthPart ? io::find_month(text) : std::nullopt) {
      out.values.push_back(month->number);
      out.style.month = month->full && (!named || out.style.month == io::DateStyle::full_name)
                            ? io::DateStyle::full_name
                            : io::DateStyle::short_name;
      out.style.languages =
          named ? static_cast<uint16_t>(out.style.languages & month->languages) : month->languages;
      out.style.letters = month->letters;
      if (!named && !out.values.empty() && out.values.size() > 1) return false;
      named = true;
      continue;
    }
    if (named || part.letters.empty() || !text.starts_with(part.letters)) return false;
    const std::string_view digits = text.substr(part.letters.size());
    int value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return false;
    padded = padded && digits.size() == 2;
    out.values.push_back(value);
  }
  out.style.padded = padded;
  out.pattern = named ? "%b" : std::string(part.letters) + part.code;
  return true;
}

/// The column of a part among those that nothing else takes.
std::optional<PartNumbers> find_part(const io::CsvTable& table, const DatePart& part,
                                     const std::function<bool(const io::CsvColumn&)>& taken) {
  for (const std::string_view name : part.names)
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const io::CsvColumn& column = table.columns[i];
      if (io::to_lower(column.name) != name || taken(column)) continue;
      PartNumbers found;
      found.column = i;
      if (column.kind == io::CsvColumn::text) {
        if (!read_part_texts(column, part, found)) continue;
        return found;
      }
      if (column.kind != io::CsvColumn::number || name == "period") continue;
      const int low = name == "yy" ? 1000 : part.low;  // two digits do not give the century
      for (const double x : column.numbers)
        found.values.push_back(x >= low && x <= part.high && x == std::floor(x) ? static_cast<int>(x) : -1);
      if (name != part.names.begin()[0] && std::count(found.values.begin(), found.values.end(), -1) > 0)
        continue;
      found.pattern = part.code;
      found.style.padded = false;
      return found;
    }
  return std::nullopt;
}

std::string part_text(const io::CsvColumn& column, size_t row) {
  if (column.kind == io::CsvColumn::text)
    return column.texts[row].empty() ? "empty" : std::string(column.texts[row]);
  return std::isnan(column.numbers[row]) ? "empty" : fmt::format("{}", column.numbers[row]);
}

[[noreturn]] void fail_parts(const io::CsvTable& table, const std::vector<PartNumbers>& parts, size_t row) {
  std::vector<std::string> names, values;
  for (const PartNumbers& part : parts) {
    names.push_back(table.columns[part.column].name);
    values.push_back(part_text(table.columns[part.column], row));
  }
  const int64_t line = TableLines(table)(static_cast<int64_t>(row));
  const bool texts = std::any_of(parts.begin(), parts.end(), [&](const PartNumbers& part) {
    return table.columns[part.column].kind == io::CsvColumn::text;
  });
  fail(ErrorKind::data, "{}:{}: the columns {} must give a date, got {}{}", table.source, line,
       fmt::join(names, ", "), fmt::join(values, ", "),
       texts ? fmt::format("; data.skip_lines = {} leaves the line out", line) : "");
}

/// Seconds of a row with year, month, day, hour, minute, second; nullopt if there is no such date.
std::optional<int64_t> seconds_of_parts(const std::vector<PartNumbers>& parts, size_t row) {
  std::array<int, 6> part = {1970, 1, 1, 0, 0, 0};
  for (size_t i = 0; i < parts.size(); ++i) part[i] = parts[i].values[row];
  if (std::any_of(part.begin(), part.end(), [](int value) { return value < 0; }) || part[1] > 12 ||
      part[2] < 1 || part[2] > io::days_in_month(part[0], part[1]))
    return std::nullopt;
  return io::to_seconds({part[0], part[1], part[2], 0, 0, 0}) + part[3] * 3600 + part[4] * 60 + part[5];
}

/// Seconds of a row with a year, a quarter, week or day of the year, and perhaps an hour.
std::optional<int64_t> seconds_of_pattern(const std::vector<PartNumbers>& parts, size_t row) {
  const std::string_view code = std::string_view(parts[1].pattern).substr(parts[1].pattern.size() - 2);
  const int number = parts[1].values[row];
  if (number < 0 || parts[0].values[row] < 0) return std::nullopt;
  const std::string text = fmt::format("{:04} {:0{}}", parts[0].values[row], number,
                                       code == "%q"   ? 1
                                       : code == "%V" ? 2
                                                      : 3);
  std::string_view rest = text;
  const auto date = io::read_pattern(rest, code == "%V" ? "%G %V" : fmt::format("%Y {}", code));
  if (!date || !rest.empty()) return std::nullopt;
  const int hour = parts.size() > 2 ? parts[2].values[row] : 0;
  if (hour < 0) return std::nullopt;
  return io::to_seconds(date->time) + int64_t{hour} * 3600;
}

/// Counts hours from 1 to 24 from 0, as clock_column.cpp does: they end at their number.
bool end_hours(PartNumbers& part) {
  if (part.pattern != "%H" || part.values.empty()) return false;
  const auto [low, high] = std::minmax_element(part.values.begin(), part.values.end());
  if (*low < 1 || *high != 24) return false;
  for (int& hour : part.values) --hour;
  part.pattern = "%h";
  return true;
}

io::DateStyle style_of_parts(size_t parts) {
  io::DateStyle style;
  style.has_day = parts >= 3;
  style.clock = parts >= 6   ? io::DateStyle::seconds
                : parts >= 4 ? io::DateStyle::minutes
                             : io::DateStyle::no_clock;
  return style;
}

}  // namespace

std::optional<DateParts> read_date_parts(const io::CsvTable& table,
                                         const std::function<bool(const io::CsvColumn&)>& taken) {
  auto year = find_part(table, kYearPart, taken);
  if (!year || table.columns[year->column].kind != io::CsvColumn::number) return std::nullopt;
  std::vector<PartNumbers> parts = {std::move(*year)};
  bool of_pattern = false;
  const auto named_mm = [&](const io::CsvColumn& column) { return io::to_lower(column.name) == "mm"; };
  const auto add = [&](const DatePart& part) {
    auto found = find_part(table, part, [&](const io::CsvColumn& column) {
      const bool found_before = std::any_of(parts.begin(), parts.end(), [&](const PartNumbers& one) {
        return &table.columns[one.column] == &column;
      });
      // After a month of another name mm are millimetres, after "YYYY MM DD hh" they are minutes.
      return found_before || taken(column) ||
             (parts.size() > 1 && named_mm(column) && !named_mm(table.columns[parts[1].column]));
    });
    if (found) parts.push_back(std::move(*found));
    return found.has_value();
  };
  if (add(kMonthPart)) {
    for (const DatePart* part : {&kDayPart, &kHourPart, &kMinutePart, &kSecondPart})
      if (!add(*part)) break;
  } else if (add(kDayOfYearPart)) {
    of_pattern = true;
    add(kHourPart);
  } else {
    of_pattern = add(kQuarterPart) || add(kWeekPart);
  }
  if (parts.size() == 1) {
    // Under other names years are numbers that are dates.
    if (parts[0].column != 0 || io::to_lower(table.columns[0].name) != kYearPart.names.begin()[0])
      return std::nullopt;
    const io::NumberCells& years = table.columns[0].numbers;  // 2024.0417
    if (std::any_of(years.begin(), years.end(),
                    [](double x) { return x != std::floor(x) && !std::isnan(x); }))
      return std::nullopt;
  }
  DateParts result;
  result.hours_end = end_hours(parts.back());
  for (size_t row = 0; row < static_cast<size_t>(table.rows); ++row) {
    const std::optional<int64_t> date =
        of_pattern ? seconds_of_pattern(parts, row) : seconds_of_parts(parts, row);
    if (!date) fail_parts(table, parts, row);
    result.dates.push_back(*date);
  }
  bool plain = !of_pattern && !result.hours_end;
  for (PartNumbers& part : parts) {
    result.columns.push_back(part.column);
    plain = plain && table.columns[part.column].kind == io::CsvColumn::number;
    part.style.pattern = part.pattern;
    if (part.pattern.ends_with("%V")) parts[0].style.pattern = result.cells[0].style.pattern = "%G";
    const bool hour = part.pattern == "%H" || part.pattern == "%h";
    part.style.clock = hour ? io::DateStyle::hours : io::DateStyle::no_clock;
    if (table.columns[part.column].kind == io::CsvColumn::number && part.pattern != "%Y")
      part.style.pattern.insert(part.style.pattern.find('%') + 1, "-");
    result.cells.push_back({part.style});
  }
  if (plain) result.cells.clear();
  result.style = style_of_parts(of_pattern ? (parts.size() > 2                   ? 4
                                              : parts[1].pattern.ends_with("%q") ? 2
                                                                                 : 3)
                                           : parts.size());
  return result;
}

}  // namespace modewise::data
