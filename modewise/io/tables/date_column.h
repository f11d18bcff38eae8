#pragma once
// Date parser of a column with one style. Rows are added one at a time; ambiguities of single rows (is
// 03/04/2016 in March or April?) are resolved over the whole column.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modewise/io/tables/date_time.h"

namespace modewise::io {

/// Exchanges day and month if the day is at most 12; with `midnight_24` midnight belongs to the day before.
int64_t exchange_day_and_month(int64_t seconds, bool midnight_24);

class DateColumn {
 public:
  /// With a `pattern` (date_pattern.h) every row must have this form.
  explicit DateColumn(std::string pattern = {}) : pattern_(std::move(pattern)) {}

  /// False, and adds nothing, if `text` is not a date.
  bool add(std::string_view text);
  void add_missing();
  void reserve(size_t rows) { dates_.reserve(rows); }
  int64_t rows() const { return static_cast<int64_t>(dates_.size()); }

  /// Resolves the style; false if no style fits all rows, e.g. 13/01/2016 and 01/13/2016.
  bool decide();

  /// Valid after decide(). Dates keep local time if all rows have the same UTC offset; otherwise they are
  /// UTC.
  const DateStyle& style() const { return style_; }
  std::vector<int64_t> take_dates() { return std::move(dates_); }

  static constexpr int64_t missing = INT64_MIN;

 private:
  /// Dates of texts in earlier rows, by hash: long tables repeat each date for every series.
  struct Seen {
    std::string text;
    int64_t seconds = 0;
    int offset = 0;
  };
  std::optional<WrittenDate> read(std::string_view text) const;
  bool add_seen(const Seen& seen);
  bool increasing(bool exchanged) const;
  bool steady(bool exchanged) const;

  std::string pattern_;
  std::vector<int64_t> dates_;
  DateStyle style_;
  bool any_ = false;
  bool plain_ = false;  // style_ is the default, 2016-07-01 00:00:00
  bool month_first_fits_ = true, day_first_fits_ = true;
  std::vector<int> offsets_;  // per row, once two rows differ
  std::vector<Seen> seen_;
};

}  // namespace modewise::io
