#include "modewise/io/tables/date_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "modewise/io/tables/csv.h"
#include "modewise/io/tables/date_pattern.h"

namespace modewise::io {
namespace {

/// Calls `read` with each number that is there; nullopt as soon as it gives nullopt, or if there is none.
template <class Read>
std::optional<NumberDates> read_each(const NumberCells& numbers, const Read& read) {
  NumberDates result;
  result.dates.reserve(numbers.size());
  bool any = false;
  for (const double x : numbers) {
    if (std::isnan(x)) {
      result.dates.push_back(kMissingDate);
      continue;
    }
    const std::optional<int64_t> date = read(x);
    if (!date) return std::nullopt;
    result.dates.push_back(*date);
    any = true;
  }
  if (!any) return std::nullopt;
  return result;
}

DateStyle number_style(DateStyle::Numbers numbers) {
  DateStyle style;
  style.numbers = numbers;
  return style;
}

bool whole(double x) {
  return x == std::floor(x);
}

}  // namespace

std::optional<NumberDates> read_unix_time(const NumberCells& numbers, std::string_view form) {
  constexpr double kEarliest = 1e8, kLatest = 4e9;
  struct Unit {
    std::string_view form;
    int64_t per_second;
    int digits;
  };
  for (const Unit& unit : {Unit{"epoch_s", 1, 0}, Unit{"epoch_ms", 1000, 3}, Unit{"epoch_us", 1000'000, 6},
                           Unit{"epoch_ns", 1000'000'000, 9}}) {
    if (!form.empty() && form != unit.form) continue;
    const int64_t units = unit.per_second;
    const auto scale = static_cast<double>(units);
    bool fractions = false;
    auto result = read_each(numbers, [&](double x) -> std::optional<int64_t> {
      if (form.empty() && !(x >= kEarliest * scale && x < kLatest * scale)) return std::nullopt;
      if (std::abs(x) >= 9e18) return std::nullopt;
      const double seconds = std::floor(x / scale);
      // Doubles near 1.7e18 are 256 apart.
      if (units < 1000'000'000) fractions = fractions || std::fmod(x, scale) != 0;
      if (units == 1000'000'000) {
        const int64_t rest = static_cast<int64_t>(x) % units;
        fractions = fractions || (rest > 256 && rest < units - 256);
        return static_cast<int64_t>(x) / units + (rest >= units - 256 ? 1 : 0);
      }
      return static_cast<int64_t>(seconds);
    });
    if (!result) continue;
    result->style = number_style(DateStyle::unix_time);
    result->style.epoch = units;
    if (fractions) result->style.fraction_digits = std::max(unit.digits, 1);
    return result;
  }
  return std::nullopt;
}

std::optional<NumberDates> read_calendar_numbers(const NumberCells& numbers, size_t digits,
                                                 std::string_view pattern) {
  DateStyle style;
  auto result = read_each(numbers, [&](double x) -> std::optional<int64_t> {
    if (!whole(x) || x < 0 || x >= 1e15) return std::nullopt;
    const std::string text = std::to_string(static_cast<int64_t>(x));
    if (text.size() != digits || text < "1600" || text >= "2300") return std::nullopt;
    std::string_view rest = text;
    auto date = read_pattern(rest, pattern);
    if (!date || !rest.empty()) return std::nullopt;
    const bool midnight_24 = style.midnight_24 || date->style.midnight_24;
    style = std::move(date->style);
    style.midnight_24 = midnight_24;
    return to_seconds(date->time);
  });
  if (result) result->style = style;
  return result;
}

std::optional<NumberDates> read_calendar_numbers(const NumberCells& numbers) {
  struct Form {
    size_t digits;
    const char* pattern;
  };
  for (const Form& form : {Form{6, "%Y%m"}, Form{8, "%Y%m%d"}, Form{10, "%Y%m%d%H"}, Form{12, "%Y%m%d%H%M"},
                           Form{14, "%Y%m%d%H%M%S"}})
    if (auto result = read_calendar_numbers(numbers, form.digits, form.pattern)) return result;
  return std::nullopt;
}

std::optional<NumberDates> read_excel_days(const NumberCells& numbers) {
  const int64_t start = to_seconds({1899, 12, 30});
  auto result = read_each(numbers, [&](double x) -> std::optional<int64_t> {
    if (!(x >= 20000 && x < 80000)) return std::nullopt;
    return start + static_cast<int64_t>(std::llround(x * static_cast<double>(kSecondsOfDay)));
  });
  if (result) result->style = number_style(DateStyle::excel_days);
  return result;
}

std::optional<NumberDates> read_decimal_years(const NumberCells& numbers) {
  int digits = 0;
  for (const double x : numbers) {
    if (std::isnan(x)) continue;
    if (!(x >= 1600 && x < 2300)) return std::nullopt;
    // The fewest digits that give the number, up to two roundings of a double.
    const auto rest = [&] { return std::abs(std::remainder(x * std::pow(10, digits), 1)); };
    while (digits < 9 && rest() > 4e-16 * x * std::pow(10, digits)) ++digits;
  }
  if (digits == 0) return std::nullopt;
  const double rounding = 0.51 * std::pow(10, -digits) + 1e-9;  // of a year
  for (const int parts : {12, 365, 8760}) {
    for (const bool middle : {false, true}) {
      auto result = read_each(numbers, [&](double x) -> std::optional<int64_t> {
        auto year = static_cast<int64_t>(std::floor(x + rounding));
        const int64_t begin = to_seconds({year, 1, 1});
        const int64_t seconds = to_seconds({year + 1, 1, 1}) - begin;
        const double of_year =
            parts == 12 ? 12 : static_cast<double>(seconds) / (parts == 365 ? kSecondsOfDay : 3600);
        const double tolerance = rounding * of_year;
        if (tolerance > 0.25) return std::nullopt;  // too few digits to tell
        const double position = (x - static_cast<double>(year)) * of_year - (middle ? 0.5 : 0);
        const double nearest = std::max(0.0, std::round(position));
        if (std::abs(position - nearest) > tolerance) return std::nullopt;
        if (parts == 12) return add_months(begin, static_cast<int64_t>(nearest));
        return begin + static_cast<int64_t>(nearest) * (parts == 365 ? kSecondsOfDay : 3600);
      });
      if (!result) continue;
      result->style = number_style(DateStyle::decimal_year);
      result->style.year_digits = digits;
      result->style.year_parts = parts;
      result->style.year_middle = middle;
      return result;
    }
  }
  return std::nullopt;
}

std::optional<NumberDates> read_years(const NumberCells& numbers) {
  auto result = read_each(numbers, [&](double x) -> std::optional<int64_t> {
    if (!whole(x) || x < 1600 || x >= 2300) return std::nullopt;
    return to_seconds({static_cast<int64_t>(x), 1, 1});
  });
  if (!result) return result;
  result->style.pattern = "%Y";
  result->style.clock = DateStyle::no_clock;
  result->style.has_day = false;
  return result;
}

}  // namespace modewise::io
