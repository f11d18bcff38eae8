#include "modewise/data/forecasting/panel.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <unordered_map>

#include "modewise/core/error.h"
#include "modewise/core/hash.h"
#include "modewise/core/random.h"
#include "modewise/data/forecasting/long_table.h"
#include "modewise/data/forecasting/sources.h"
#include "modewise/data/forecasting/table_time.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {
namespace {

constexpr int64_t kMaxTensorSeries = 500;
constexpr double kSharedDates = 0.9;
constexpr int64_t kShortestMonth = 28 * int64_t{86400};

/// A long table with its time and ids.
struct LongTable {
  io::CsvTable table;
  TableTime time;
  TableIds ids;
};

std::optional<LongTable> read_long_table(const ForecastDataConfig& config) {
  LongTable out{read_table(config), {}, {}};
  out.time = find_time(out.table, config);
  if (out.time.columns.empty() && config.id.empty()) return std::nullopt;
  std::optional<TableIds> ids = find_ids(out.table, out.time, config);
  if (!ids) return std::nullopt;
  out.ids = std::move(*ids);
  return out;
}

/// Rows of the table by series and date: rows [begins[s], begins[s + 1]) of `rows` are those of series s.
struct Grouped {
  std::vector<int64_t> rows, begins;

  std::span<const int64_t> of(size_t s) const {
    return std::span(rows).subspan(static_cast<size_t>(begins[s]),
                                   static_cast<size_t>(begins[s + 1] - begins[s]));
  }
};

Grouped group(const LongTable& table) {
  const std::vector<int32_t>& of_row = table.ids.of_row;
  const std::vector<int64_t>& dates = table.time.dates;
  Grouped grouped;
  grouped.begins.assign(table.ids.labels.size() + 1, 0);
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

/// Steps of a clock: a position is a number of seconds or of months since 1970.
struct Positions {
  bool months = false;
  int64_t step = 1;

  int64_t of(int64_t date) const {
    if (!months) return date;
    const io::CivilTime civil = io::to_civil(date);
    return civil.year * 12 + civil.month - 1;
  }
};

/// Whether all dates of each series are one day of the month, or its last.
bool are_monthly(const Grouped& grouped, const std::vector<int64_t>& dates) {
  for (size_t s = 0; s + 1 < grouped.begins.size(); ++s) {
    bool ends = true;
    int64_t day = 0, last = INT64_MIN;
    for (const int64_t row : grouped.of(s)) {
      const int64_t date = dates[static_cast<size_t>(row)];
      if (last != INT64_MIN && date - last < kShortestMonth) return false;
      last = date;
      const io::CivilTime civil = io::to_civil(date);
      ends = ends && civil.day == io::days_in_month(civil.year, civil.month);
      if (day == 0) day = civil.day;
      if (civil.day != day) day = -1;
    }
    if (day < 0 && !ends) return false;
  }
  return true;
}

/// The most common difference of consecutive dates of a series.
Positions common_step(const Grouped& grouped, const std::vector<int64_t>& dates, const std::string& source) {
  Positions positions{are_monthly(grouped, dates), 0};
  std::unordered_map<int64_t, int64_t> counts;
  for (size_t s = 0; s + 1 < grouped.begins.size(); ++s) {
    const std::span<const int64_t> rows = grouped.of(s);
    for (size_t i = 1; i < rows.size(); ++i)
      ++counts[positions.of(dates[static_cast<size_t>(rows[i])]) -
               positions.of(dates[static_cast<size_t>(rows[i - 1])])];
  }
  int64_t most = 0;
  for (const auto& [step, count] : counts) {
    if (step <= 0 || count < most || (count == most && step > positions.step)) continue;
    most = count;
    positions.step = step;
  }
  require(most > 0, ErrorKind::data, "{}: expected a series with at least two dates, every series has one",
          source);
  return positions;
}

/// Puts the rows of each series on its steps: offsets, starts, clock; returns the panel's row of each row of
/// `grouped`.
std::vector<int64_t> lay_out(Panel& panel, const LongTable& table, const Grouped& grouped) {
  const std::vector<int64_t>& dates = table.time.dates;
  const size_t series = table.ids.labels.size();
  std::vector<int64_t> places(grouped.rows.size());
  panel.offsets.assign(1, 0);
  panel.starts.assign(series, 0);
  if (dates.empty()) {
    panel.offsets = grouped.begins;
    std::iota(places.begin(), places.end(), int64_t{0});
    for (size_t s = 0; s < series; ++s)
      panel.clock.length = std::max(panel.clock.length, grouped.begins[s + 1] - grouped.begins[s]);
    return places;
  }
  const auto line = [&](int64_t row) { return TableLines(table.table)(row); };
  for (size_t row = 0; row < dates.size(); ++row)
    if (dates[row] == io::kMissingDate)
      fail(ErrorKind::data, "{}:{}: expected a date, the cell is empty", panel.source,
           line(static_cast<int64_t>(row)));
  const Positions positions = common_step(grouped, dates, panel.source);
  int64_t earliest = INT64_MAX, earliest_date = INT64_MAX, latest = INT64_MIN, month_day = 0, filled = 0;
  const auto position = [&](int64_t row) { return positions.of(dates[static_cast<size_t>(row)]); };
  std::vector<int64_t> firsts(series);
  for (size_t s = 0; s < series; ++s) {
    const std::span<const int64_t> rows = grouped.of(s);
    const int64_t first = position(rows.front());
    firsts[s] = first;
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t at = position(rows[i]) - first;
      if (i > 0 && dates[static_cast<size_t>(rows[i])] == dates[static_cast<size_t>(rows[i - 1])])
        fail(ErrorKind::data,
             "{}:{}: series '{}' has a second row for {}: set data.id to all series id columns", panel.source,
             line(rows[i]), table.ids.labels[s],
             io::format_date_time(dates[static_cast<size_t>(rows[i])], table.time.style));
      if (at % positions.step != 0) {
        TimeAxis axis;
        axis.dated = true;
        (positions.months ? axis.months : axis.step) = positions.step;
        fail(ErrorKind::data,
             "{}:{}: the series of most rows are {} apart, but '{}' has {} after {}: a panel has one time "
             "step; "
             "part the table by time step, or set data.resample",
             panel.source, line(rows[i]), axis.frequency_text(), table.ids.labels[s],
             io::format_date_time(dates[static_cast<size_t>(rows[i])], table.time.style),
             io::format_date_time(dates[static_cast<size_t>(rows[i - 1])], table.time.style));
      }
      places[static_cast<size_t>(grouped.begins[s]) + i] = panel.offsets.back() + at / positions.step;
      month_day = std::max<int64_t>(month_day, io::to_civil(dates[static_cast<size_t>(rows[i])]).day);
    }
    const int64_t length = (position(rows.back()) - first) / positions.step + 1;
    const int64_t missing = length - std::ssize(rows);
    require(missing <= std::max<int64_t>(std::ssize(rows), 10), ErrorKind::data,
            "{}: series '{}' has {} rows over {} steps of the table: more than half would be missing",
            panel.source, table.ids.labels[s], rows.size(), length);
    filled += missing;
    panel.offsets.push_back(panel.offsets.back() + length);
    if (first < earliest) {
      earliest = first;
      earliest_date = dates[static_cast<size_t>(rows.front())];
    }
    latest = std::max(latest, position(rows.back()));
  }
  for (size_t s = 0; s < series; ++s) {
    // Series of another phase, such as weeks that begin on other days, begin in the step before.
    panel.starts[s] = (firsts[s] - earliest) / positions.step;
  }
  panel.clock.dated = true;
  panel.clock.style = table.time.style;
  panel.clock.start = earliest_date;
  (positions.months ? panel.clock.months : panel.clock.step) = positions.step;
  if (positions.months) panel.clock.month_day = month_day;
  panel.clock.length = (latest - earliest) / positions.step + 1;
  if (filled > 0)
    panel.notes.push_back(fmt::format("{} missing rows of the series are filled as missing", filled));
  return places;
}

/// Value columns: numbers that are neither time nor id.
std::vector<size_t> value_columns(const LongTable& table, const ForecastDataConfig& config, Panel& panel) {
  std::vector<std::string> names;
  for (const io::CsvColumn& column : table.table.columns) names.push_back(column.name);
  const auto taken = [&](size_t i) {
    const auto among = [i](const std::vector<size_t>& columns) {
      return std::find(columns.begin(), columns.end(), i) != columns.end();
    };
    return among(table.time.columns) || among(table.ids.columns);
  };
  std::vector<size_t> chosen;
  for (const size_t i : chosen_columns(names, config, table.table.source)) {
    if (taken(i)) continue;
    const io::CsvColumn& column = table.table.columns[i];
    if (column.kind == io::CsvColumn::number) {
      chosen.push_back(i);
      continue;
    }
    require(config.columns.empty(), ErrorKind::data, "{}: column '{}' must hold numbers", table.table.source,
            column.name);
    panel.notes.push_back(fmt::format("column '{}' holds {} and is dropped", column.name,
                                      column.kind == io::CsvColumn::date ? "dates" : "text"));
  }
  require(!chosen.empty(), ErrorKind::data, "{}: expected at least one column of numbers, got {}",
          table.table.source, fmt::join(names, ", "));
  return chosen;
}

double count_distinct(std::vector<int64_t> dates) {
  std::sort(dates.begin(), dates.end());
  return static_cast<double>(std::unique(dates.begin(), dates.end()) - dates.begin());
}

}  // namespace

std::string Panel::name(int64_t s) const {
  return fmt::format("{}", fmt::join(layout.series[static_cast<size_t>(s)], "/"));
}

bool is_panel(const ForecastDataConfig& config, std::string& reason) {
  if (config.panel != "auto") return config.panel == "yes";
  if (config.path.empty() || !config.resample.empty() || config.dates == "rows" || !reads_table(config))
    return false;
  const std::optional<LongTable> table = read_long_table(config);
  if (!table || table->time.columns.empty()) return false;
  const double dates = count_distinct(table->time.dates);
  std::vector<int64_t> rows(table->ids.labels.size());
  for (const int32_t s : table->ids.of_row) ++rows[static_cast<size_t>(s)];
  const auto shortest = std::min_element(rows.begin(), rows.end());
  const auto series = std::ssize(rows);
  if (series <= kMaxTensorSeries && static_cast<double>(*shortest) >= kSharedDates * dates) return false;
  reason =
      series > kMaxTensorSeries
          ? fmt::format("{} series are read as a panel of independent series", series)
          : fmt::format(
                "series '{}' has {} of {:g} dates, so the {} series are read as a panel of independent "
                "series",
                table->ids.labels[static_cast<size_t>(shortest - rows.begin())], *shortest, dates, series);
  reason += "; data.panel = no reads one tensor";
  return true;
}

Panel load_panel(const ForecastDataConfig& config) {
  std::optional<LongTable> table = read_long_table(config);
  require(table.has_value(), ErrorKind::data,
          "{}: expected a long table with a column of series ids, such as unique_id: data.id names it",
          config.path);
  Panel panel;
  panel.source = table->table.source;
  panel.header = table->table.had_header;
  panel.warnings = date_warnings(table->time);
  panel.time_columns = time_columns(table->table, table->time);
  const std::vector<size_t> columns = value_columns(*table, config, panel);
  const Grouped grouped = group(*table);
  const std::vector<int64_t> places = lay_out(panel, *table, grouped);
  for (const size_t column : table->ids.columns) panel.layout.id.push_back(table->table.columns[column].name);
  panel.layout.series = std::move(table->ids.cells);
  const auto width = std::ssize(columns);
  panel.values = at::zeros({panel.offsets.back(), width}, at::kDouble);
  at::Tensor observed = at::zeros({panel.offsets.back(), width}, at::kBool);
  double* values = panel.values.mutable_data_ptr<double>();
  bool* seen = observed.mutable_data_ptr<bool>();
  int64_t cells = 0;
  for (int64_t v = 0; v < width; ++v) {
    io::CsvColumn& column = table->table.columns[columns[static_cast<size_t>(v)]];
    panel.layout.values.push_back(column.name);
    for (size_t i = 0; i < places.size(); ++i) {
      const double value = column.numbers[static_cast<size_t>(grouped.rows[i])];
      const bool missing =
          std::isnan(value) || std::find(config.missing_values.begin(), config.missing_values.end(), value) !=
                                   config.missing_values.end();
      if (missing) continue;
      values[places[i] * width + v] = value;
      seen[places[i] * width + v] = true;
      ++cells;
    }
    std::vector<double>().swap(column.numbers);  // freed early: files may be large
  }
  if (cells < observed.numel()) panel.observed = observed;
  return panel;
}

PanelSplits split_panel(const Panel& panel, int64_t horizon, int64_t windows) {
  PanelSplits splits;
  splits.rule = fmt::format("last {}{} of each series", windows, windows == 1 ? " horizon" : " horizons");
  const int64_t held = horizon * windows;
  int64_t short_series = 0;
  for (int64_t s = 0; s < panel.series(); ++s) {
    const int64_t rows = panel.rows(s);
    // At least two rows of history before the first window of a split.
    constexpr int64_t kHistory = 2;
    const bool test = rows >= held + kHistory, validation = rows >= 2 * held + kHistory;
    const int64_t test_begin = test ? rows - held : rows, train = validation ? test_begin - held : test_begin;
    for (int64_t window = 0; window < windows; ++window) {
      if (test) splits.test.push_back({s, test_begin + window * horizon});
      if (validation) splits.validation.push_back({s, train + window * horizon});
    }
    splits.train_rows.push_back(train);
    if (train >= kHistory) splits.train.push_back({s, 0});
    short_series += !validation;
  }
  if (short_series > 0)
    splits.rule +=
        fmt::format(" ({} of {} series are too short for a validation window)", short_series, panel.series());
  return splits;
}

int64_t draw_origin(int64_t rows, WindowShape shape, uint64_t seed, uint64_t batch, uint64_t series) {
  const int64_t last = std::max<int64_t>(rows - shape.horizon, std::min<int64_t>(rows / 2, rows - 1));
  const int64_t first = std::clamp<int64_t>(shape.lookback / 2, 1, std::max<int64_t>(last, 1));
  const int64_t choices = std::max<int64_t>(last - first + 1, 1);
  const RandomStream stream{seed, RandomSite::windows, batch};
  return first + static_cast<int64_t>(stream.word(series) % static_cast<uint64_t>(choices));
}

PanelScaler PanelScaler::fit(const Panel& panel, std::span<const int64_t> rows) {
  const int64_t width = panel.variables();
  PanelScaler scaler;
  scaler.mean.assign(static_cast<size_t>(panel.series() * width), 0);
  scaler.stddev.assign(scaler.mean.size(), 1);
  const double* values = panel.values.const_data_ptr<double>();
  const bool* observed = panel.observed.defined() ? panel.observed.const_data_ptr<bool>() : nullptr;
  at::parallel_for(0, panel.series(), 256, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s)
      for (int64_t v = 0; v < width; ++v) {
        const int64_t first = panel.offsets[static_cast<size_t>(s)],
                      last = first + rows[static_cast<size_t>(s)];
        double count = 0, sum = 0, squares = 0;
        for (int64_t row = first; row < last; ++row) {
          if (observed != nullptr && !observed[row * width + v]) continue;
          ++count;
          sum += values[row * width + v];
        }
        if (count == 0) continue;
        const double mean = sum / count;
        for (int64_t row = first; row < last; ++row) {
          if (observed != nullptr && !observed[row * width + v]) continue;
          const double difference = values[row * width + v] - mean;
          squares += difference * difference;
        }
        const auto at = static_cast<size_t>(s * width + v);
        scaler.mean[at] = mean;
        const double stddev = std::sqrt(squares / count);
        if (stddev > 1e-12 * std::abs(mean) && stddev > 0) scaler.stddev[at] = stddev;
      }
  });
  return scaler;
}

WindowBatch gather_panel(const Panel& panel, const PanelScaler& scaler, WindowShape shape,
                         std::span<const PanelWindow> windows, std::span<const int64_t> ends) {
  const int64_t width = panel.variables(), count = std::ssize(windows);
  WindowBatch batch;
  batch.past = at::empty({count, width, shape.lookback}, at::kFloat);
  batch.past_observed = at::empty(batch.past.sizes(), at::kBool);
  batch.future = at::empty({count, width, shape.horizon}, at::kFloat);
  batch.future_observed = at::empty(batch.future.sizes(), at::kBool);
  batch.first_step = at::empty({count}, at::kLong);
  const double* values = panel.values.const_data_ptr<double>();
  const bool* observed = panel.observed.defined() ? panel.observed.const_data_ptr<bool>() : nullptr;
  const auto copy = [&](const PanelWindow& window, int64_t v, int64_t first, int64_t length, int64_t end,
                        float* out, bool* mask) {
    const auto at = static_cast<size_t>(window.series * width + v);
    const int64_t begin = panel.offsets[static_cast<size_t>(window.series)];
    for (int64_t i = 0; i < length; ++i) {
      const int64_t row = first + i, cell = (begin + row) * width + v;
      mask[i] = row >= 0 && row < end && (observed == nullptr || observed[cell]);
      out[i] = mask[i] ? static_cast<float>((values[cell] - scaler.mean[at]) / scaler.stddev[at]) : 0;
    }
  };
  at::parallel_for(0, count, 64, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const PanelWindow& window = windows[static_cast<size_t>(i)];
      const int64_t end = ends[static_cast<size_t>(window.series)];
      for (int64_t v = 0; v < width; ++v) {
        const int64_t past = (i * width + v) * shape.lookback, future = (i * width + v) * shape.horizon;
        copy(window, v, window.origin - shape.lookback, shape.lookback, window.origin,
             batch.past.mutable_data_ptr<float>() + past,
             batch.past_observed.mutable_data_ptr<bool>() + past);
        copy(window, v, window.origin, shape.horizon, end, batch.future.mutable_data_ptr<float>() + future,
             batch.future_observed.mutable_data_ptr<bool>() + future);
      }
      batch.first_step.mutable_data_ptr<int64_t>()[i] =
          panel.clock_row(window.series, window.origin) - shape.lookback;
    }
  });
  return batch;
}

std::string hash_of(const Panel& panel) {
  const auto bytes = [](const auto* data, size_t count) {
    return content_hash({reinterpret_cast<const std::byte*>(data), count * sizeof(*data)});
  };
  std::string all = bytes(panel.values.const_data_ptr<double>(), static_cast<size_t>(panel.values.numel()));
  if (panel.observed.defined())
    all += bytes(panel.observed.const_data_ptr<bool>(), static_cast<size_t>(panel.observed.numel()));
  all += bytes(panel.offsets.data(), panel.offsets.size()) + bytes(panel.starts.data(), panel.starts.size());
  for (int64_t s = 0; s < panel.series(); ++s) all += panel.name(s) + "\n";
  return content_hash(std::as_bytes(std::span(all)));
}

}  // namespace modewise::data
