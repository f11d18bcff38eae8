#include "modewise/data/forecasting/tables/local_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "modewise/data/forecasting/tables/series_table.h"
#include "modewise/io/tables/time_zone.h"

namespace modewise::data {
namespace {

constexpr int64_t kClockHour = 3600, kClockDay = 24 * kClockHour, kClockSummer = 215 * kClockDay,
                  kClockYear = 300 * kClockDay;

struct Rows {
  std::span<const int64_t> dates;
  std::span<const int32_t> series;  // empty: one series
  int64_t step = 0;                 // the most common difference

  int32_t series_of(int64_t row) const { return series.empty() ? 0 : series[static_cast<size_t>(row)]; }
  int64_t date_of(int64_t row) const { return dates[static_cast<size_t>(row)]; }
};

int64_t common_step(std::span<const int64_t> all) {
  const std::vector<int64_t> dates = sorted_distinct(all);
  std::unordered_map<int64_t, int64_t> counts;
  for (size_t i = 1; i < dates.size(); ++i) ++counts[dates[i] - dates[i - 1]];
  int64_t step = 0;
  for (const auto& [difference, count] : counts)
    if (step == 0 || count > counts[step] || (count == counts[step] && difference < step)) step = difference;
  return step;
}

/// Whether clocks change at such a time: in the night, in spring or autumn.
bool in_a_night_of_change(int64_t date) {
  const io::CivilTime time = io::to_civil(date);
  return time.hour <= 4 && ((time.month >= 3 && time.month <= 4) || (time.month >= 9 && time.month <= 11));
}

bool on_sunday(int64_t date) {
  return ((date / kClockDay + 3) % 7 + 7) % 7 == 6;
}

/// Whether a series has two rows of a date, or leaves out one hour.
bool repeats_or_skips_an_hour(const Rows& rows) {
  return dates_by_series(rows.dates, rows.series).any_two([&](int64_t before, int64_t date) {
    return date == before || date - before == rows.step + kClockHour;
  });
}

/// For each row whether its cell is the second of the two values of a column; empty for other columns.
std::vector<bool> two_values(const io::CsvColumn& column, int64_t rows) {
  std::vector<bool> second;
  const auto fill = [&](const auto& cells, const auto& missing) {
    auto other = cells[0];
    for (int64_t row = 0; row < rows; ++row) {
      const auto cell = cells[static_cast<size_t>(row)];
      if (missing(cell)) return std::vector<bool>();
      if (cell != cells[0] && other == cells[0]) other = cell;
      if (cell != cells[0] && cell != other) return std::vector<bool>();
      second.push_back(cell != cells[0]);
    }
    return other == cells[0] ? std::vector<bool>() : second;
  };
  if (column.kind == io::CsvColumn::text)
    return fill(column.texts, [](std::string_view text) { return text.empty(); });
  if (column.kind == io::CsvColumn::number) return fill(column.numbers, [](double x) { return x != x; });
  return {};
}

/// The clock if the rows with `summer` are one hour ahead: each series then has a date once, and at each
/// change of the column one step passes.
std::optional<LocalClock> clock_of_flags(const Rows& rows, const std::vector<bool>& summer) {
  const auto count = std::ssize(rows.dates);
  std::vector<int64_t> standard;
  for (int64_t row = 0; row < count; ++row)
    standard.push_back(rows.date_of(row) - (summer[static_cast<size_t>(row)] ? kClockHour : 0));
  std::vector<int64_t> order(standard.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto at = [&](int64_t place) {
    const auto row = static_cast<size_t>(order[static_cast<size_t>(place)]);
    return std::pair(standard[row], static_cast<bool>(summer[row]));
  };
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return std::pair(standard[static_cast<size_t>(a)], rows.series_of(a)) <
           std::pair(standard[static_cast<size_t>(b)], rows.series_of(b));
  });
  const int64_t base = at(0).second ? kClockHour : 0;
  LocalClock clock;
  for (int64_t place = 1; place < count; ++place) {
    const auto [before, was_summer] = at(place - 1);
    const auto [date, is_summer] = at(place);
    if (date == before &&
        (was_summer != is_summer || rows.series_of(order[static_cast<size_t>(place)]) ==
                                        rows.series_of(order[static_cast<size_t>(place - 1)])))
      return std::nullopt;
    if (was_summer == is_summer) continue;
    if (date - before != rows.step || !in_a_night_of_change(date + (is_summer ? kClockHour : 0)))
      return std::nullopt;
    clock.changes.push_back({date + base, (is_summer ? kClockHour : 0) - base});
  }
  if (clock.changes.empty()) return std::nullopt;
  for (const int64_t date : standard) clock.dates.push_back(date + base);
  return clock;
}

std::optional<LocalClock> clock_of_columns(const io::CsvTable& table, const TableTime& time,
                                           const Rows& rows) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (time.takes(i)) continue;
    std::vector<bool> flags = two_values(table.columns[i], table.rows);
    if (flags.empty()) continue;
    for (int swap = 0; swap < 2; ++swap, flags.flip())
      if (std::optional<LocalClock> clock = clock_of_flags(rows, flags)) {
        clock->column = i;
        return clock;
      }
  }
  return std::nullopt;
}

/// Changes of the clock in the rows of one series, from the earliest to the latest.
std::optional<std::vector<ClockChange>> changes_in_order(const Rows& rows, const std::vector<int64_t>& order,
                                                         std::vector<int64_t>& dates) {
  struct Jump {
    size_t place;
    int64_t seconds;
  };
  std::vector<Jump> jumps;
  bool repeats = false;
  for (size_t place = 1; place < order.size(); ++place) {
    const int64_t before = rows.date_of(order[place - 1]), date = rows.date_of(order[place]);
    const bool night = in_a_night_of_change(date) && on_sunday(date);
    if (night && date - before == rows.step - kClockHour) {
      for (const Jump& jump : jumps)
        if (jump.seconds < 0 && date - rows.date_of(order[jump.place]) < kClockYear) return std::nullopt;
      jumps.push_back({place, -kClockHour});
      repeats = true;
    } else if (night && date - before == rows.step + kClockHour) {
      jumps.push_back({place, kClockHour});
    } else if (date <= before) {
      return std::nullopt;
    }
  }
  const int64_t last = rows.date_of(order.back());
  std::vector<ClockChange> changes;
  int64_t shift = 0;
  size_t next = 0;
  for (size_t place = 0; place < order.size(); ++place) {
    const int64_t date = rows.date_of(order[place]);
    if (next < jumps.size() && jumps[next].place == place) {
      if (const int64_t seconds = jumps[next++].seconds; repeats || last - date < kClockSummer) {
        shift += seconds;
        changes.push_back({date - shift, shift});
      }
    }
    dates[static_cast<size_t>(order[place])] = date - shift;
  }
  return changes;
}

std::optional<LocalClock> clock_of_order(const Rows& rows) {
  std::map<int32_t, std::vector<int64_t>> order;
  for (int64_t row = 0; row < std::ssize(rows.dates); ++row) order[rows.series_of(row)].push_back(row);
  LocalClock clock;
  clock.dates.assign(rows.dates.begin(), rows.dates.end());
  for (auto at = order.begin(); at != order.end(); ++at) {
    std::vector<int64_t>& series = at->second;
    if (rows.date_of(series.front()) > rows.date_of(series.back()))
      std::reverse(series.begin(), series.end());
    const auto changes = changes_in_order(rows, series, clock.dates);
    if (!changes) return std::nullopt;
    if (at == order.begin())
      clock.changes = *changes;
    else if (clock.changes != *changes)
      return std::nullopt;  // series that begin at different seasons need a column
  }
  if (clock.changes.empty()) return std::nullopt;
  return clock;
}

std::string note_of(const LocalClock& clock, const io::CsvTable& table, const io::DateStyle& style) {
  const ClockChange& first = clock.changes[0];
  const bool ends = first.shift < 0;
  const std::string change = fmt::format(
      "daylight saving time {} at {}{}", ends ? "ends" : "begins", io::format_date_time(first.from, style),
      clock.changes.size() == 1
          ? ""
          : fmt::format(", the first of {} changes of the clock", clock.changes.size()));
  return fmt::format(
      "{}: {}, known from {}", change,
      ends ? "the repeated hour is one hour later" : "the hour left out is not missing",
      clock.column ? fmt::format("column '{}'", table.columns[*clock.column].name) : "the order of rows");
}

int64_t time_of_day(int64_t date) {
  return (date % kClockDay + kClockDay) % kClockDay;
}

/// Whether days of a local clock may have these UTC times: at several times of the day, but few.
bool are_near_days(std::span<const int64_t> dates) {
  constexpr size_t kMaxTimes = 8;  // of changes of the offset, also of earlier laws
  std::vector<int64_t> times;
  for (const int64_t date : dates) {
    const int64_t time = time_of_day(date);
    if (date == io::kMissingDate || std::find(times.begin(), times.end(), time) != times.end()) continue;
    if (times.size() == kMaxTimes) return false;
    times.push_back(time);
  }
  return times.size() > 1;
}

/// The zone `name`, or one for each usual rule of daylight saving time, whose local times of `utc` are
/// `local`; null: none.
std::shared_ptr<const io::TimeZone> zone_of(const std::vector<int64_t>& utc,
                                            const std::vector<int64_t>& local, const std::string& name) {
  static constexpr std::array<const char*, 18> kUsual = {
      "Europe/Berlin",    "Europe/London",    "Europe/Athens",       "America/New_York",
      "America/Chicago",  "America/Denver",   "America/Anchorage",   "America/Halifax",
      "America/Santiago", "America/St_Johns", "America/Los_Angeles", "Australia/Sydney",
      "Asia/Jerusalem",   "Pacific/Auckland", "Australia/Adelaide",  "Africa/Cairo",
      "Asia/Beirut",      "America/Sao_Paulo"};
  std::vector<std::string> names = {name};
  if (name.empty()) names.assign(kUsual.begin(), kUsual.end());
  for (const std::string& one : names) {
    const auto zone = io::TimeZone::find(one);
    bool fits = zone != nullptr;
    for (size_t row = 0; row < utc.size() && fits; ++row)
      fits = utc[row] == io::kMissingDate || zone->to_local(utc[row]) == local[row];
    if (fits) return zone;
  }
  return nullptr;
}

}  // namespace

std::optional<LocalClock> find_local_clock(const io::CsvTable& table, const TableTime& time,
                                           std::span<const int32_t> series_of_row) {
  if (time.columns.empty() || time.style.epoch != 0 || time.style.has_offset || table.rows < 3)
    return std::nullopt;
  if (std::find(time.dates.begin(), time.dates.end(), io::kMissingDate) != time.dates.end())
    return std::nullopt;
  const Rows rows{time.dates, series_of_row, common_step(time.dates)};
  if (rows.step <= 0 || rows.step > kClockHour || kClockHour % rows.step != 0) return std::nullopt;
  if (!repeats_or_skips_an_hour(rows)) return std::nullopt;
  std::optional<LocalClock> clock = clock_of_columns(table, time, rows);
  if (!clock) clock = clock_of_order(rows);
  if (clock) clock->note = note_of(*clock, table, time.style);
  return clock;
}

std::optional<std::vector<int64_t>> local_dates(const io::CsvTable& table, const TableTime& time,
                                                io::CsvOptions options) {
  if (time.columns.size() != 1 || time.parts || !time.style.has_offset) return std::nullopt;
  const std::string& name = table.columns[time.columns[0]].name;
  options.header = table.had_header ? io::CsvOptions::yes : io::CsvOptions::no;
  options.is_text = [&](std::string_view column) { return column == name; };
  const io::CsvTable texts = io::read_csv(table.source, options);
  const io::CsvColumn* column = texts.find(name);
  if (column == nullptr || texts.rows != table.rows) return std::nullopt;
  std::vector<int64_t> dates = time.dates;
  bool differ = false;
  for (size_t row = 0; row < dates.size(); ++row) {
    const auto written = io::read_date_time(column->texts[row]);
    if (!written || dates[row] == io::kMissingDate) continue;
    const int64_t offset = int64_t{written->style.offset_minutes - time.style.offset_minutes} * 60;
    dates[row] += offset;
    differ = differ || offset != 0;
  }
  if (!differ) return std::nullopt;
  return dates;
}

bool are_days(std::span<const int64_t> dates) {
  int64_t first = io::kMissingDate;
  bool several = false;
  for (const int64_t date : dates) {
    if (date == io::kMissingDate) continue;
    if (first == io::kMissingDate) first = date;
    if (time_of_day(date) != time_of_day(first)) return false;
    several = several || date != first;
  }
  return first != io::kMissingDate && (several || time_of_day(first) == 0);
}

std::optional<std::string> take_local_days(const io::CsvTable& table, TableTime& time,
                                           const ForecastDataConfig& config, io::CsvOptions options) {
  if (!time.style.has_offset || !are_near_days(time.dates)) return std::nullopt;
  std::optional<std::vector<int64_t>> local = local_dates(table, time, std::move(options));
  if (!local || !are_days(*local)) return std::nullopt;
  const auto last = std::max_element(time.dates.begin(), time.dates.end()) - time.dates.begin();
  const int64_t offset = (*local)[static_cast<size_t>(last)] - time.dates[static_cast<size_t>(last)];
  io::DateStyle& style = time.style;
  style.zone = {};
  style.guessed_zone = {};
  style.offset_minutes = static_cast<int>(offset / 60);
  style.local = zone_of(time.dates, *local, config.time_zone);
  time.dates = std::move(*local);
  const std::string days = "the UTC offset of the dates changes: they are local days";
  if (style.local)
    return fmt::format("{}, forecasts have the offsets of {}{}", days, style.local->name(),
                       config.time_zone.empty() ? "; data.time_zone names another zone" : "");
  if (!config.time_zone.empty())
    return fmt::format("{}, but not of {} (data.time_zone), whose offsets differ; forecasts have the last{}",
                       days, config.time_zone, io::zone_text(style));
  return fmt::format("{}, forecasts have the last offset{}; data.time_zone names their zone", days,
                     io::zone_text(style));
}

}  // namespace modewise::data
