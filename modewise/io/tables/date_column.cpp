#include "modewise/io/tables/date_column.h"

#include <algorithm>
#include <utility>

namespace modewise::io {
namespace {

int64_t exchange_day_and_month(int64_t seconds) {
  CivilTime time = to_civil(seconds);
  std::swap(time.month, time.day);
  return to_seconds(time);
}

bool same_form(const DateStyle& a, const DateStyle& b) {
  return (a.order == DateStyle::year_first) == (b.order == DateStyle::year_first) && a.has_day == b.has_day &&
         a.separator == b.separator && a.has_offset == b.has_offset && a.quarter == b.quarter &&
         (a.month == DateStyle::number) == (b.month == DateStyle::number) &&
         (a.month == DateStyle::number || a.order == b.order);
}

// Merges styles: rows may omit the time at midnight or write both 9:00 and 10:00; the result is the most
// complete style.
void widen(DateStyle& style, const DateStyle& row) {
  if (style.clock == DateStyle::no_clock && row.clock != DateStyle::no_clock) {
    style.clock_separator = row.clock_separator;
    style.padded_hour = row.padded_hour;
  }
  style.clock = std::max(style.clock, row.clock);
  style.fraction_digits = std::max(style.fraction_digits, row.fraction_digits);
  style.padded = style.padded && row.padded;
  if (row.clock != DateStyle::no_clock) style.padded_hour = style.padded_hour && row.padded_hour;
  style.twelve_hours = style.twelve_hours || row.twelve_hours;
  style.short_year = style.short_year && row.short_year;
  style.month = std::max(style.month, row.month);  // May is both short and full
  style.capitals = style.capitals && row.capitals;
}

}  // namespace

bool DateColumn::add(std::string_view text) {
  const auto date = read_date_time(text);
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
  if (row.order != DateStyle::year_first) {
    month_first_fits_ = month_first_fits_ && (row.order_guessed || row.order == DateStyle::month_first);
    day_first_fits_ = day_first_fits_ && (row.order_guessed || row.order == DateStyle::day_first);
  }
  if (!offsets_.empty() || row.offset_minutes != style_.offset_minutes) {
    offsets_.resize(dates_.size(), style_.offset_minutes);
    offsets_.push_back(row.offset_minutes);
  }
  dates_.push_back(to_seconds(date->time));
  return true;
}

void DateColumn::add_missing() {
  dates_.push_back(missing);
  if (!offsets_.empty()) offsets_.push_back(style_.offset_minutes);
}

bool DateColumn::increasing(bool exchanged) const {
  int64_t last = missing;
  for (const int64_t date : dates_) {
    if (date == missing) continue;
    const int64_t value = exchanged ? exchange_day_and_month(date) : date;
    if (value <= last) return false;
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
    if (style_.order_guessed && increasing(true) != increasing(false)) {
      exchanged = increasing(true);
      style_.order_guessed = false;
    }
    style_.order = usual;
    if (exchanged) {
      // Rows that fit both orders were read in the usual one; their day is at most 12.
      for (int64_t& date : dates_) {
        if (date != missing && to_civil(date).day <= 12) date = exchange_day_and_month(date);
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
  }
  return true;
}

}  // namespace modewise::io
