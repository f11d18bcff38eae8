#include "modewise/data/forecasting/panel_clock.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/data/forecasting/panel.h"
#include "modewise/data/forecasting/tables/long_table.h"
#include "modewise/data/forecasting/tables/table_rows.h"

namespace modewise::data {
namespace {

constexpr int64_t kFirstMonday = 4 * io::kSecondsOfDay, kWeek = 7 * io::kSecondsOfDay;

int64_t floor_divide(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

/// Finds the step of the series and lays their rows.
class SeriesLayout {
 public:
  SeriesLayout(const SeriesTable& table, const RowsOfSeries& grouped, const ForecastDataConfig& config)
      : table_(table), grouped_(grouped), config_(config), distinct_(sorted_distinct(table.time.dates)) {
    out_.starts.assign(static_cast<size_t>(grouped.series()), 0);
    out_.rows.resize(grouped.rows.size());
    find_unit();
  }

  PanelClock lay() && {
    const bool equally = config_.dates == "rows";
    if (equally) {
      require_one_step();
    } else if (shares_clock()) {
      lay_on_shared_clock();
      return std::move(out_);
    } else {
      require_whole_steps();
    }
    lay_on_own_phases(equally);
    return std::move(out_);
  }

 private:
  int64_t date(int64_t row) const { return table_.time.dates[static_cast<size_t>(row)]; }
  std::string date_text(int64_t seconds) const { return io::format_date_time(seconds, table_.time.style); }
  std::string name(size_t s) const { return table_.ids.series.label(s); }
  int64_t line(int64_t row) const { return TableLines(table_.table)(row); }
  std::string step_text(int64_t step) const {
    return table_.time.counted ? fmt::format("{}", step)
                               : data::step_text(months_ ? 0 : step, months_ ? step : 0);
  }

  std::vector<int64_t> dates_of(size_t s) const {
    std::vector<int64_t> dates;
    for (const int64_t row : grouped_.of(s)) dates.push_back(date(row));
    return dates;
  }
  /// Dates as numbers in the unit of the step.
  int64_t position(int64_t seconds) const { return months_ ? month_number(seconds) : seconds; }

  /// Months if all dates are monthly, or those of each series; else seconds. Then the step in it.
  void find_unit() {
    const bool single_rows = std::ssize(grouped_.rows) == grouped_.series();
    const int64_t trained = config_.step_months > 0 ? config_.step_months : config_.step_seconds;
    if (single_rows && trained > 0) {  // one row for each series of new data
      months_ = own_days_ = config_.step_months > 0;
      step_ = trained;
      return;
    }
    TimeAxis all;
    if (!table_.time.counted) {
      date_positions(distinct_, all);
      months_ = all.month_day != 0;
      own_days_ = !months_ && series_are_monthly();
      months_ = months_ || own_days_;
    }
    phase_ = {0, all.month_day, all.business};
    Differences within;
    std::vector<int64_t> positions;
    for (size_t s = 0; s < out_.starts.size(); ++s) {
      positions.clear();
      for (const int64_t row : grouped_.of(s)) positions.push_back(position(date(row)));
      within.add(positions);
    }
    step_ = within.commonest();
    frequent_ = within.count(step_);
    differences_ = within.all();
    require(step_ > 0, ErrorKind::data, "{}: expected a series of at least 2 rows with other dates, got none",
            table_.table.source);
  }

  /// Whether the dates of each series are on one day of the month, and at least one has three.
  bool series_are_monthly() const {
    bool sure = false;
    for (size_t s = 0; s < out_.starts.size(); ++s) {
      const std::vector<int64_t> dates = dates_of(s);
      TimeAxis own;
      date_positions(dates, own);
      if (own.month_day == 0) return false;
      sure = sure || dates.size() > 2;
    }
    return sure;
  }

  Calendar calendar() const { return {config_.calendar_days, config_.week, true, step_}; }

  /// Whether all dates are whole steps apart, or on one weekly calendar.
  bool shares_clock() {
    if (table_.time.counted || own_days_ || distinct_.size() < 2) return false;
    if (!config_.resample.empty()) return true;
    const int64_t first = position(distinct_.front());
    if (std::ranges::all_of(distinct_, [&](int64_t one) { return (position(one) - first) % step_ == 0; }))
      return true;
    by_week_ = !months_ && !week_of(distinct_, step_, calendar()).empty();
    return by_week_;
  }

  void lay_on_shared_clock() {
    ForecastDataConfig sparse = config_;
    sparse.panel = "yes";
    const Clock clock = shared_clock(table_.table, table_.time, table_.clock_changes, sparse, step_);
    out_.axis = clock.laid.axis;
    if (!config_.resample.empty()) out_.notes = clock.laid.notes;
    Differences within;
    for (size_t s = 0; s < out_.starts.size(); ++s) {
      const std::span<const int64_t> rows = grouped_.of(s);
      const auto begin = static_cast<size_t>(grouped_.begins[s]);
      out_.starts[s] = clock.row_of(date(rows[0]));
      for (size_t i = 0; i < rows.size(); ++i)
        out_.rows[begin + i] = clock.row_of(date(rows[i])) - out_.starts[s];
      within.add(std::span(out_.rows).subspan(begin, rows.size()));
    }
    require(!by_week_ || within.commonest() <= 1, ErrorKind::data,
            "{}: the rows of each series are {} apart, but not those of all series together: "
            "data.calendar_days = all reads series of different phases",
            table_.table.source, step_text(step_));
  }

  /// Data error for a series whose dates are not whole steps apart. A shorter step of all dates is taken if
  /// it fits, and half of the rows of each series are there.
  void require_whole_steps() {
    for (size_t s = 0; s < out_.starts.size(); ++s) {
      const std::span<const int64_t> rows = grouped_.of(s);
      for (size_t i = 1; i < rows.size(); ++i) {
        const int64_t before = date(rows[i - 1]), after = date(rows[i]);
        if ((position(after) - position(before)) % step_ == 0) continue;
        if (take_step_of_all_dates()) return;
        fail(ErrorKind::data,
             "{}:{}: expected dates at a constant step within each series (gaps allowed); the most common "
             "step is {} ({} of {}), but {} and {} of series '{}' (lines {} and {}) are {} apart{}",
             table_.table.source, line(rows[i]), step_text(step_), frequent_, differences_, date_text(before),
             date_text(after), name(s), line(rows[i - 1]), line(rows[i]),
             table_.time.counted ? fmt::format("{}", after - before) : data::step_text(after - before, 0),
             remedy());
      }
    }
  }

  bool take_step_of_all_dates() {
    std::vector<int64_t> positions;
    for (const int64_t one : distinct_) positions.push_back(position(one));
    Differences all;
    all.add(positions);
    const int64_t step = all.commonest();
    if (!std::ranges::all_of(positions, [&](int64_t one) { return (one - positions[0]) % step == 0; }))
      return false;
    for (size_t s = 0; s < out_.starts.size(); ++s) {
      const std::span<const int64_t> rows = grouped_.of(s);
      if ((position(date(rows.back())) - position(date(rows.front()))) / step > 2 * std::ssize(rows))
        return false;
    }
    step_ = step;
    return true;
  }

  std::string remedy() const {
    if (table_.time.counted) return "";
    return fmt::format(
        "; data.resample = \"{}\" or another step pools dates, data.dates = \"rows\" reads the rows of each "
        "series as equally spaced",
        step_text(step_));
  }

  /// Data error for series whose rows are not about one step apart, with data.dates = rows.
  void require_one_step() const {
    std::vector<std::string> others;
    for (size_t s = 0; s < out_.starts.size(); ++s) {
      std::vector<int64_t> positions = dates_of(s), differences;
      for (int64_t& one : positions) one = position(one);
      for (size_t i = 1; i < positions.size(); ++i) differences.push_back(positions[i] - positions[i - 1]);
      if (differences.empty()) continue;
      const auto middle = differences.begin() + std::ssize(differences) / 2;
      std::nth_element(differences.begin(), middle, differences.end());
      if (3 * *middle < 2 * step_ || 2 * *middle > 3 * step_) others.push_back(name(s));
    }
    require(
        others.empty(), ErrorKind::data,
        "{}: most rows within the series are {} apart, but not those of {} of {} series: {}; the series of a "
        "panel have one time step: part the table",
        table_.table.source, step_text(step_), others.size(), out_.starts.size(), first_names(others));
  }

  /// The dates of each series on a clock of whole steps since a fixed time, so that panels of one step agree.
  /// `equally`: whatever the dates, up to the last one.
  void lay_on_own_phases(bool equally) {
    TimeAxis& axis = out_.axis;
    axis.dated = !table_.time.counted;
    axis.style = table_.time.style;
    axis.clock_changes = table_.clock_changes;
    (months_ ? axis.months : axis.step) = step_;
    std::vector<int64_t> firsts;
    for (size_t s = 0; s < out_.starts.size(); ++s) {
      const std::span<const int64_t> rows = grouped_.of(s);
      SeriesPhase phase = phase_of(s);
      if (equally) {
        phase.start = date(rows.back());
        phase.start = axis.at(1 - std::ssize(rows), phase);
      }
      const auto begin = static_cast<size_t>(grouped_.begins[s]);
      for (size_t i = 0; i < rows.size(); ++i)
        out_.rows[begin + i] =
            equally ? static_cast<int64_t>(i) : (position(date(rows[i])) - position(phase.start)) / step_;
      firsts.push_back(floor_divide(position(phase.start) - origin(), step_));
      out_.phases.push_back(phase);
    }
    const int64_t first = *std::ranges::min_element(firsts);
    for (size_t s = 0; s < firsts.size(); ++s) {
      out_.starts[s] = firsts[s] - first;
      axis.length = std::max(
          axis.length, firsts[s] - first + out_.rows[static_cast<size_t>(grouped_.begins[s + 1]) - 1] + 1);
    }
    axis.start = months_ ? seconds_in_month(first * step_, 1) : first * step_ + origin();
    axis.month_day = months_ ? 1 : 0;
    if (!equally) note_phases();
  }

  int64_t origin() const { return !table_.time.counted && !months_ && step_ % kWeek == 0 ? kFirstMonday : 0; }

  SeriesPhase phase_of(size_t s) const {
    SeriesPhase phase = phase_;
    const std::vector<int64_t> dates = dates_of(s);
    phase.start = dates.front();
    if (!own_days_) return phase;
    TimeAxis own;
    date_positions(dates, own);
    return {phase.start, own.month_day, own.business};
  }

  /// A note about the first two series of different phases.
  void note_phases() {
    if (table_.time.counted) return;
    for (size_t s = 1; s < out_.phases.size(); ++s) {
      const SeriesPhase &one = out_.phases[0], &two = out_.phases[s];
      if ((position(one.start) - position(two.start)) % step_ == 0 && one.month_day == two.month_day &&
          one.business == two.business)
        continue;
      out_.notes.push_back(fmt::format(
          "the rows of each series are {} apart, but not on the same dates: '{}' begins on {}, '{}' on {}",
          step_text(step_), name(0), date_text(one.start), name(s), date_text(two.start)));
      return;
    }
  }

  const SeriesTable& table_;
  const RowsOfSeries& grouped_;
  const ForecastDataConfig& config_;
  std::vector<int64_t> distinct_;
  bool months_ = false;    // unit of the step
  bool by_week_ = false;   // on a weekly calendar, not whole steps apart
  bool own_days_ = false;  // each series has its own day of the month
  SeriesPhase phase_;      // day of the month of all dates
  int64_t step_ = 0, frequent_ = 0, differences_ = 0;
  PanelClock out_;
};

}  // namespace

RowsOfSeries group_rows(const SeriesTable& table) {
  const std::vector<int32_t>& of_row = table.ids.of_row;
  const std::vector<int64_t>& dates = table.time.dates;
  RowsOfSeries grouped;
  grouped.begins.assign(table.ids.series.size() + 1, 0);
  for (const int32_t s : of_row) ++grouped.begins[static_cast<size_t>(s) + 1];
  std::partial_sum(grouped.begins.begin(), grouped.begins.end(), grouped.begins.begin());
  std::vector<int64_t> next(grouped.begins.begin(), grouped.begins.end() - 1);
  grouped.rows.resize(of_row.size());
  for (size_t row = 0; row < of_row.size(); ++row)
    grouped.rows[static_cast<size_t>(next[static_cast<size_t>(of_row[row])]++)] = static_cast<int64_t>(row);
  if (dates.empty()) return grouped;
  const auto earlier = [&](int64_t a, int64_t b) {
    return dates[static_cast<size_t>(a)] < dates[static_cast<size_t>(b)];
  };
  for (size_t s = 0; s + 1 < grouped.begins.size(); ++s) {
    const auto begin = grouped.rows.begin() + grouped.begins[s],
               end = grouped.rows.begin() + grouped.begins[s + 1];
    if (!std::is_sorted(begin, end, earlier)) std::stable_sort(begin, end, earlier);
  }
  return grouped;
}

PanelClock lay_series(const SeriesTable& table, const RowsOfSeries& grouped,
                      const ForecastDataConfig& config) {
  const std::vector<int64_t>& dates = table.time.dates;
  if (dates.empty()) {
    require(config.resample.empty(), ErrorKind::data,
            "{}: data.resample needs dates, but no column holds dates", table.table.source);
    PanelClock out;
    out.starts.assign(static_cast<size_t>(grouped.series()), 0);
    for (size_t s = 0; s < out.starts.size(); ++s) {
      const int64_t count = grouped.begins[s + 1] - grouped.begins[s];
      for (int64_t row = 0; row < count; ++row) out.rows.push_back(row);
      out.axis.length = std::max(out.axis.length, count);
    }
    return out;
  }
  require_dates(dates, TableLines(table.table), table.table.source);
  require(config.resample.empty() || config.dates != "rows", ErrorKind::config,
          "data.resample needs dates, which data.dates = rows ignores: set only one of them");
  require(config.resample.empty() || !table.time.counted, ErrorKind::config,
          "data.resample needs dates, but column '{}' of {} numbers the rows",
          table.table.columns[table.time.columns[0]].name, table.table.source);
  return SeriesLayout(table, grouped, config).lay();
}

}  // namespace modewise::data
