#include "modewise/data/forecasting/tables/date_and_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>

#include "modewise/io/mapped_file.h"
#include "modewise/io/number_text.h"
#include "modewise/io/tables/csv_scanner.h"
#include "modewise/io/tables/date_column.h"
#include "modewise/io/tables/time_zone.h"
#include "modewise/io/text_input.h"

namespace modewise::data {
namespace {

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

}  // namespace

bool is_regular(std::vector<int64_t> times) {
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::vector<int64_t> differences;
  for (size_t i = 1; i < times.size(); ++i)
    if (times[i - 1] != io::kMissingDate) differences.push_back(times[i] - times[i - 1]);
  if (differences.empty()) return false;
  std::sort(differences.begin(), differences.end());
  const int64_t median = differences[differences.size() / 2];
  return median <= io::kSecondsOfDay &&
         std::count(differences.begin(), differences.end(), median) * 2 >= std::ssize(differences);
}

std::vector<int64_t> sums(const std::vector<int64_t>& dates, const ClockColumn& clock) {
  std::vector<int64_t> times(dates.size(), io::kMissingDate);
  for (size_t row = 0; row < dates.size(); ++row)
    if (dates[row] != io::kMissingDate && clock.seconds[row] != io::kMissingDate)
      times[row] = dates[row] + clock.seconds[row];
  return times;
}

void add_clock(const io::CsvTable& table, TableTime& time, size_t i, const ClockColumn& clock,
               const ForecastDataConfig& config) {
  time.notes.push_back(fmt::format(
      "columns '{}' and '{}' together are the time of a row{}", table.columns[time.columns[0]].name,
      table.columns[i].name,
      clock.meaning.empty() ? "" : fmt::format(" ('{}': {})", table.columns[i].name, clock.meaning)));
  follow_date_order(table, time, config);
  if (time.style.order_guessed) decide_order(time, clock);
  time.dates = clock.cell.unit > 0 ? follow_long_days(time, clock, config) : sums(time.dates, clock);
  time.cells = {TimeCell{time.style}, clock.cell};
  if (clock.cell.unit > 0 && table.columns[i].kind == io::CsvColumn::number)
    time.cells[1].style.padded = writes_leading_zeros(table, i);
  time.columns.push_back(i);
  time.style.clock_separator = ' ';
  time.style.clock = clock.seconds_shown ? io::DateStyle::seconds : io::DateStyle::minutes;
}

}  // namespace modewise::data
