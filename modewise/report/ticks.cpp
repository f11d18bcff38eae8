#include "modewise/report/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "modewise/core/error.h"

namespace modewise::report {
namespace {

constexpr std::string_view kMinus = "−";
constexpr int64_t kMinute = 60, kHour = 3600, kDay = 86400;

std::string with_minus(std::string text) {
  return text.starts_with('-') ? std::string(kMinus) + text.substr(1) : text;
}

std::string superscript(int exponent) {
  constexpr std::array<std::string_view, 10> digits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out = exponent < 0 ? "⁻" : "";
  for (const char c : std::to_string(std::abs(exponent))) out += digits[static_cast<size_t>(c - '0')];
  return out;
}

int floor_log10(double value) {
  const int guess = static_cast<int>(std::floor(std::log10(value)));
  if (std::pow(10.0, guess + 1) <= value) return guess + 1;
  return std::pow(10.0, guess) > value ? guess - 1 : guess;
}

// The step (1, 2 or 5 times a power of ten) that splits `span` most nearly into `count` parts.
double nice_step(double span, int count) {
  const double raw = span / std::max(1, count);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double multiple = raw / power;
  return power * (multiple < 1.5 ? 1 : multiple < 3.2 ? 2 : multiple < 7.2 ? 5 : 10);
}

// 20000 -> 20,000; four digits are not grouped.
std::string grouped(std::string digits) {
  const size_t start = digits.starts_with('-') ? 1 : 0;
  size_t end = std::min(digits.find('.'), digits.size());
  if (end - start <= 4) return digits;
  while (end > start + 3) digits.insert(end -= 3, ",");
  return digits;
}

// All labels of an axis have one format: plain decimals, or powers of ten if the numbers are very large or
// small.
std::string tick_label(double value, double step, double largest) {
  if (value == 0) return "0";
  if (largest >= 1e6 || largest < 1e-3) {
    const int exponent = floor_log10(largest);
    const int decimals = std::max(0, exponent - floor_log10(step * 1.0000001));
    std::string mantissa = fmt::format("{:.{}f}", value / std::pow(10.0, exponent), std::min(decimals, 12));
    return with_minus(fmt::format("{}×10{}", mantissa, superscript(exponent)));
  }
  const int decimals = std::clamp(-static_cast<int>(std::floor(std::log10(step * 1.0000001))), 0, 15);
  return with_minus(grouped(fmt::format("{:.{}f}", value, decimals)));
}

using Days = std::chrono::sys_days;

std::chrono::year_month_day civil(int64_t seconds) {
  const int64_t day = seconds >= 0 ? seconds / kDay : -((-seconds + kDay - 1) / kDay);
  return Days(std::chrono::days(day));
}

int64_t seconds_of(int64_t year, unsigned month) {
  const Days days = std::chrono::year_month_day(std::chrono::year(static_cast<int>(year)),
                                                std::chrono::month(month), std::chrono::day(1));
  return days.time_since_epoch().count() * kDay;
}

std::string month_name(const std::chrono::year_month_day& date) {
  constexpr std::array<std::string_view, 12> names = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return std::string(names[static_cast<unsigned>(date.month()) - 1]);
}

std::string year_text(const std::chrono::year_month_day& date) {
  return fmt::format("{}", static_cast<int>(date.year()));
}

// Ticks every `step` seconds (a divisor of a day, or whole days). The second line has the day or year, where
// it changes.
std::vector<Tick> clock_ticks(double low, double high, int64_t step) {
  std::vector<Tick> ticks;
  std::string before;
  const int64_t monday = step % (7 * kDay) == 0 ? 4 * kDay : 0;  // 1970-01-05
  const auto first =
      static_cast<int64_t>(std::ceil((low - static_cast<double>(monday)) / static_cast<double>(step))) *
          step +
      monday;
  for (int64_t at = first; static_cast<double>(at) <= high; at += step) {
    const auto date = civil(at);
    const int64_t in_day = ((at % kDay) + kDay) % kDay;
    const std::string day = fmt::format("{} {}", static_cast<unsigned>(date.day()), month_name(date));
    std::string label, context;
    if (step >= kDay) {
      label = day;
      context = year_text(date);
    } else {
      label = step < kMinute
                  ? fmt::format("{:02}:{:02}:{:02}", in_day / kHour, in_day / kMinute % 60, in_day % 60)
                  : fmt::format("{:02}:{:02}", in_day / kHour, in_day / kMinute % 60);
      context = day + " " + year_text(date);
    }
    ticks.push_back({static_cast<double>(at), label, context == before ? "" : context});
    before = context;
  }
  return ticks;
}

std::vector<Tick> month_ticks(double low, double high, int step) {
  std::vector<Tick> ticks;
  std::string before;
  const auto start = civil(static_cast<int64_t>(std::floor(low)));
  int64_t index = static_cast<int>(start.year()) * 12LL + static_cast<unsigned>(start.month()) - 1;
  index = (index / step) * step;
  for (;; index += step) {
    const int64_t at = seconds_of(index / 12, static_cast<unsigned>(index % 12) + 1);
    if (static_cast<double>(at) > high) return ticks;
    if (static_cast<double>(at) < low) continue;
    const auto date = civil(at);
    if (step % 12 == 0) {
      ticks.push_back({static_cast<double>(at), year_text(date), ""});
    } else {
      const std::string year = year_text(date);
      ticks.push_back({static_cast<double>(at), month_name(date), year == before ? "" : year});
      before = year;
    }
  }
}

}  // namespace

std::string number_label(double value, int digits) {
  if (!std::isfinite(value)) return "–";
  if (value == 0) return "0";
  const double rounded = std::stod(fmt::format("{:.{}e}", value, std::max(0, digits - 1)));
  const int exponent = floor_log10(std::abs(rounded));
  if (exponent >= 6 || exponent < -4) {
    std::string mantissa = fmt::format("{:.{}g}", rounded / std::pow(10.0, exponent), digits);
    return with_minus(fmt::format("{}×10{}", mantissa, superscript(exponent)));
  }
  const bool whole = exponent >= digits - 1;  // all integer digits are significant
  return with_minus(
      fmt::format("{:.{}f}", whole ? value : rounded, std::clamp(digits - 1 - exponent, 0, 12)));
}

std::vector<Tick> number_ticks(double low, double high, int count) {
  require(std::isfinite(low) && std::isfinite(high) && low <= high, ErrorKind::internal,
          "ticks need finite low <= high, got {} and {}", low, high);
  const double span = high - low;
  const double largest = std::max(std::abs(low), std::abs(high));
  if (!(span > largest * 1e-13) || !std::isfinite(span)) return {{low, number_label(low), ""}};
  const double step = nice_step(span, count);
  std::vector<Tick> ticks;
  const double slack = step * 1e-6;
  const auto first = std::ceil((low - slack) / step), last = std::floor((high + slack) / step);
  for (double i = first; i <= last; ++i) ticks.push_back({i * step, tick_label(i * step, step, largest), ""});
  if (ticks.empty()) ticks.push_back({low, number_label(low), ""});
  return ticks;
}

std::vector<Tick> log_ticks(double low, double high, int count) {
  require(low > 0 && std::isfinite(high) && low <= high, ErrorKind::internal,
          "logarithmic ticks need finite 0 < low <= high, got {} and {}", low, high);
  const int first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  std::vector<Tick> ticks;
  const auto add = [&](double value) {
    if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) return;
    const int exponent = floor_log10(value * (1 + 1e-9));
    const bool plain = exponent >= -3 && exponent <= 5;
    const double mantissa = value / std::pow(10.0, exponent);
    std::string label = plain            ? fmt::format("{:g}", value)
                        : mantissa < 1.5 ? "10" + superscript(exponent)
                                         : fmt::format("{:.0f}×10{}", mantissa, superscript(exponent));
    ticks.push_back({value, std::move(label), ""});
  };
  const double powers = std::log10(high) - std::log10(low);
  if (powers >= 2) {
    const int stride = std::max(1, static_cast<int>(std::ceil(powers / std::max(1, count))));
    for (int exponent = first; exponent <= last; ++exponent)
      if (((exponent % stride) + stride) % stride == 0) add(std::pow(10.0, exponent));
  } else {
    for (int exponent = first; exponent <= last; ++exponent)
      for (const double multiple : {1.0, 2.0, 5.0}) add(multiple * std::pow(10.0, exponent));
  }
  return ticks.size() >= 2 ? ticks : number_ticks(low, high, count);
}

std::vector<Tick> date_ticks(double low, double high, int count) {
  constexpr double year_10 = -6.18e10, year_9000 = 2.2e11;  // outside, dates are meaningless
  require(low <= high, ErrorKind::internal, "date ticks need low <= high, got {} and {}", low, high);
  if (low < year_10 || high > year_9000) return number_ticks(low, high, count);
  const double wanted = (high - low) / std::max(1, count);
  constexpr std::array<int64_t, 18> steps = {
      1,         2,           5,           10,           15,           30,
      kMinute,   2 * kMinute, 5 * kMinute, 15 * kMinute, 30 * kMinute, kHour,
      2 * kHour, 3 * kHour,   6 * kHour,   12 * kHour,   kDay,         2 * kDay};
  std::vector<Tick> ticks;
  if (wanted <= static_cast<double>(kDay) * 14) {
    int64_t step = wanted <= static_cast<double>(7 * kDay) ? 7 * kDay : 14 * kDay;
    for (const int64_t candidate : steps)
      if (static_cast<double>(candidate) >= wanted) {
        step = candidate;
        break;
      }
    ticks = clock_ticks(low, high, step);
  } else {
    int step = 12 * 5000;
    for (const int candidate : {1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000})
      if (candidate * 30.5 * static_cast<double>(kDay) >= wanted) {
        step = candidate;
        break;
      }
    ticks = month_ticks(low, high, step);
  }
  if (ticks.empty()) {
    const auto at = static_cast<int64_t>(std::floor(low));
    const auto date = civil(at);
    ticks.push_back(
        {low, fmt::format("{} {}", static_cast<unsigned>(date.day()), month_name(date)), year_text(date)});
  }
  return ticks;
}

}  // namespace modewise::report
