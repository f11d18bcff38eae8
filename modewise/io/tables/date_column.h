#pragma once
// The one style that all dates of a column share. Rows come one at a time; what single rows leave open
// (is 03/04/2016 in March or April?) is decided over the whole column.

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "modewise/io/tables/date_time.h"

namespace modewise::io {

class DateColumn {
 public:
  /// False, and nothing is added, when `text` is no date.
  bool add(std::string_view text);
  void add_missing();
  void reserve(size_t rows) { dates_.reserve(rows); }
  int64_t rows() const { return static_cast<int64_t>(dates_.size()); }

  /// False when the rows cannot be of one style, e.g. 13/01/2016 and 01/13/2016.
  bool decide();

  /// After decide(). Where all rows have the same offset from UTC the dates keep the local clock; otherwise
  /// they are UTC.
  const DateStyle& style() const { return style_; }
  std::vector<int64_t> take_dates() { return std::move(dates_); }

  static constexpr int64_t missing = INT64_MIN;

 private:
  bool increasing(bool exchanged) const;

  std::vector<int64_t> dates_;
  DateStyle style_;
  bool any_ = false;
  bool month_first_fits_ = true, day_first_fits_ = true;
  std::vector<int> offsets_;  // per row, only once two rows differ
};

}  // namespace modewise::io
