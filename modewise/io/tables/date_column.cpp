#include "modewise/io/tables/date_column.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "modewise/io/number_text.h"
#include "modewise/io/tables/date_pattern.h"
#include "modewise/io/tables/date_scanner.h"

namespace modewise::io {
namespace {

constexpr size_t kFewSeen = 1024, kMaxSeen = 65536;  // texts of dates that are remembered

}  // namespace

int64_t exchange_day_and_month(int64_t seconds, bool midnight_24) {
  const int64_t carried = midnight_24 && seconds % kSecondsOfDay == 0 ? kSecondsOfDay : 0;
  CivilTime time = to_civil(seconds - carried);
  if (time.day > 12) return seconds;
  std::swap(time.month, time.day);
  return to_seconds(time) + carried;
}

namespace {

bool named(const DateStyle& style) {
  return style.month != DateStyle::number || style.weekday != DateStyle::no_weekday;
}

bool same_form(const DateStyle& a, const DateStyle& b) {
  return (a.order == DateStyle::year_first) == (b.order == DateStyle::year_first) && a.has_day == b.has_day &&
         a.separator == b.separator && a.has_offset == b.has_offset && a.quarter == b.quarter &&
         a.pattern == b.pattern && a.interval_mark.empty() == b.interval_mark.empty() &&
         (a.weekday == DateStyle::no_weekday) == (b.weekday == DateStyle::no_weekday) &&
         (!named(a) || (a.languages & b.languages) != 0) &&
         (a.month == DateStyle::number) == (b.month == DateStyle::number) &&
         (a.month == DateStyle::number || a.order == b.order);
}

/// The length of a column's intervals; days with a change of the clock may differ by an hour.
int64_t shared_interval(int64_t a, int64_t b) {
  if (a == b) return a;
  if (a < 0 || b < 0 || a > kSecondsOfDay + 3600 || b > kSecondsOfDay + 3600) return -1;
  return a == 0 ? b : a;
}

// Merges styles: rows may omit the time at midnight or write both 9:00 and 10:00; the result is the most
// complete style.
void widen(DateStyle& style, const DateStyle& row) {
  if (style.clock == DateStyle::no_clock && row.clock != DateStyle::no_clock) {
    style.clock_separator = row.clock_separator;
    style.clock_mark = row.clock_mark;
    style.padded_hour = row.padded_hour;
  }
  style.clock = std::max(style.clock, row.clock);
  if (style.fraction_digits == 0) style.fraction_mark = row.fraction_mark;
  style.fraction_digits = std::max(style.fraction_digits, row.fraction_digits);
  style.padded = style.padded && row.padded;
  if (row.clock != DateStyle::no_clock) style.padded_hour = style.padded_hour && row.padded_hour;
  if (row.twelve_hours && !style.twelve_hours) {
    style.half_days = row.half_days;
    style.half_day_space = row.half_day_space;
  }
  style.twelve_hours = style.twelve_hours || row.twelve_hours;
  style.midnight_24 = style.midnight_24 || row.midnight_24;
  style.short_year = style.short_year && row.short_year;
  style.month = std::max(style.month, row.month);      // May is both short and full
  style.month_dot = style.month_dot || row.month_dot;  // May has none
  style.languages = style.languages & row.languages;
  if (style.letters != row.letters) style.letters = Letters::title;
  if (style.zone != row.zone && style.offset_minutes == row.offset_minutes) style.zone = row.zone;
  if (style.guessed_zone.empty()) style.guessed_zone = row.guessed_zone;
  if (!style.interval_mark.empty()) style.interval = shared_interval(style.interval, row.interval);
}

}  // namespace

std::optional<WrittenDate> DateColumn::read(std::string_view text) const {
  if (pattern_.empty()) return read_date_time(text);
  text = strip_spaces(text);
  auto date = read_pattern(text, pattern_);
  if (date && text.empty()) return date;
  return std::nullopt;
}

bool DateColumn::add_seen(const Seen& seen) {
  if (!offsets_.empty() || seen.offset != style_.offset_minutes) {
    offsets_.resize(dates_.size(), style_.offset_minutes);
    offsets_.push_back(seen.offset);
  }
  dates_.push_back(seen.seconds);
  return true;
}

bool DateColumn::add(std::string_view text) {
  if (CivilTime time; plain_ && scan_iso_seconds(text, time)) {
    dates_.push_back(to_seconds(time));
    return true;
  }
  // At most an eighth of the rows, so that short columns take no memory for it.
  if (seen_.size() < kMaxSeen && dates_.size() >= 8 * std::max(2 * seen_.size(), kFewSeen))
    seen_ = std::vector<Seen>(std::max(2 * seen_.size(), kFewSeen));
  Seen first;
  Seen& seen = seen_.empty() ? first : seen_[std::hash<std::string_view>{}(text) % seen_.size()];
  if (!text.empty() && seen.text == text) return add_seen(seen);
  const auto date = read(text);
  if (!date) return false;
  const DateStyle& row = date->style;
  if (!any_) {
    style_ = row;
    any_ = true;
  } else if (!same_form(style_, row)) {
    return false;
  } else {
    widen(style_, row);
  }
  plain_ = pattern_.empty() && style_ == DateStyle{};
  if (row.order != DateStyle::year_first) {
    month_first_fits_ = month_first_fits_ && (row.order_guessed || row.order == DateStyle::month_first);
    day_first_fits_ = day_first_fits_ && (row.order_guessed || row.order == DateStyle::day_first);
  }
  // Rows whose day may be a month are kept in the usual order; intervals may have decided theirs.
  const bool exchange = row.order != DateStyle::year_first && row.month == DateStyle::number &&
                        row.order != usual_order(row.separator);
  const int64_t seconds = to_seconds(date->time);
  seen.text = text;
  seen.seconds = exchange ? exchange_day_and_month(seconds, row.midnight_24) : seconds;
  seen.offset = row.offset_minutes;
  return add_seen(seen);
}

void DateColumn::add_missing() {
  dates_.push_back(missing);
  if (!offsets_.empty()) offsets_.push_back(style_.offset_minutes);
}

bool DateColumn::increasing(bool exchanged) const {
  int64_t last = missing;
  for (const int64_t date : dates_) {
    if (date == missing) continue;
    const int64_t value = exchanged ? exchange_day_and_month(date, style_.midnight_24) : date;
    if (value < last) return false;
    last = value;
  }
  return true;
}

/// Whether all rows are one number of seconds or of months apart.
bool DateColumn::steady(bool exchanged) const {
  const auto months = [](int64_t seconds) {
    const CivilTime time = to_civil(seconds);
    return time.year * 12 + time.month;
  };
  int64_t last = missing, first_step = missing, first_months = 0;
  bool seconds_fit = true, months_fit = true;
  for (const int64_t date : dates_) {
    if (date == missing) continue;
    const int64_t value = exchanged ? exchange_day_and_month(date, style_.midnight_24) : date;
    if (last != missing && first_step == missing) {
      first_step = value - last;
      first_months = months(value) - months(last);
    } else if (last != missing) {
      seconds_fit = seconds_fit && value - last == first_step;
      months_fit = months_fit && first_months != 0 && months(value) - months(last) == first_months;
    }
    if (!seconds_fit && !months_fit) return false;
    last = value;
  }
  return true;
}

bool DateColumn::decide() {
  if (any_ && style_.order != DateStyle::year_first && style_.month == DateStyle::number) {
    if (!month_first_fits_ && !day_first_fits_) return false;
    const DateStyle::Order usual = usual_order(style_.separator);
    const bool usual_fits = usual == DateStyle::month_first ? month_first_fits_ : day_first_fits_;
    bool exchanged = !usual_fits;
    style_.order_guessed = month_first_fits_ && day_first_fits_;
    // Time goes forward, and regularly.
    for (const auto fits : {&DateColumn::increasing, &DateColumn::steady}) {
      if (!style_.order_guessed) break;
      const bool as_usual = (this->*fits)(false), as_other = (this->*fits)(true);
      if (as_usual == as_other) continue;
      exchanged = as_other;
      style_.order_guessed = false;
    }
    style_.order = usual;
    if (exchanged) {
      // Rows that fit both orders were read in the usual one; their day is at most 12.
      for (int64_t& date : dates_) {
        if (date != missing) date = exchange_day_and_month(date, style_.midnight_24);
      }
      style_.order = usual == DateStyle::month_first ? DateStyle::day_first : DateStyle::month_first;
    }
  }
  if (!offsets_.empty()) {
    for (size_t i = 0; i < dates_.size(); ++i) {
      if (dates_[i] != missing) dates_[i] -= int64_t{offsets_[i]} * 60;
    }
    offsets_ = {};
    style_.offset_minutes = 0;
    if (!style_.zone.empty()) style_.zone = "UTC";
  } else {
    style_.guessed_zone = {};  // the offset does not matter
  }
  return true;
}

}  // namespace modewise::io
