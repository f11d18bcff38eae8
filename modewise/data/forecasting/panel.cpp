#include "modewise/data/forecasting/panel.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "modewise/core/counted.h"
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

/// Rows of the table by series and date: rows [begins[s], begins[s + 1]) of `rows` are those of series s.
struct Grouped {
  std::vector<int64_t> rows, begins;

  std::span<const int64_t> of(size_t s) const {
    return std::span(rows).subspan(static_cast<size_t>(begins[s]),
                                   static_cast<size_t>(begins[s + 1] - begins[s]));
  }
};

Grouped group(const SeriesTable& table) {
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

/// Puts the rows of each series on the clock: offsets, starts; returns the panel's row of each row of
/// `grouped`.
std::vector<int64_t> lay_out(Panel& panel, const SeriesTable& table, const Grouped& grouped,
                             const ForecastDataConfig& config) {
  const std::vector<int64_t>& dates = table.time.dates;
  const size_t series = table.ids.labels.size();
  std::vector<int64_t> places(grouped.rows.size());
  panel.starts.assign(series, 0);
  if (dates.empty()) {
    panel.offsets = grouped.begins;
    std::iota(places.begin(), places.end(), int64_t{0});
    for (size_t s = 0; s < series; ++s)
      panel.clock.length = std::max(panel.clock.length, grouped.begins[s + 1] - grouped.begins[s]);
    return places;
  }
  ForecastDataConfig sparse = config;
  sparse.panel = "yes";
  const Clock clock = shared_clock(table.table, table.time, table.clock_changes, sparse);
  panel.clock = clock.laid.axis;
  panel.offsets.assign(1, 0);
  int64_t filled = 0;
  for (size_t s = 0; s < series; ++s) {
    const std::span<const int64_t> rows = grouped.of(s);
    const auto position = [&](size_t i) { return clock.row_of(dates[static_cast<size_t>(rows[i])]); };
    panel.starts[s] = position(0);
    int64_t last = -1;
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t at = position(i) - panel.starts[s];
      if (at == last)
        fail(ErrorKind::data,
             "{}:{}: series '{}' has a second row for {}: set data.id to all series id columns", panel.source,
             TableLines(table.table)(rows[i]), table.ids.labels[s],
             io::format_date_time(dates[static_cast<size_t>(rows[i])], table.time.style));
      places[static_cast<size_t>(grouped.begins[s]) + i] = panel.offsets.back() + at;
      last = at;
    }
    const int64_t missing = last + 1 - std::ssize(rows);
    require(
        missing <= std::max<int64_t>(std::ssize(rows), 10), ErrorKind::data,
        "{}: series '{}' has {} rows over {} steps of {}: more than half would be missing; part the table by "
        "time step",
        panel.source, table.ids.labels[s], rows.size(), last + 1, panel.clock.frequency_text());
    filled += std::max<int64_t>(missing, 0);
    panel.offsets.push_back(panel.offsets.back() + last + 1);
  }
  if (filled > 0)
    panel.notes.push_back(fmt::format("{} within the series {} filled as missing",
                                      counted(filled, "missing row"), is_or_are(filled)));
  return places;
}

double distinct_dates(std::vector<int64_t> dates) {
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
  if (config.id.empty() && !header_names_ids(config)) return false;  // wide tables are read once
  const std::optional<SeriesTable> table = read_long_table(config);
  if (!table || table->time.columns.empty()) return false;
  const double dates = distinct_dates(table->time.dates);
  std::vector<int64_t> rows(table->ids.labels.size());
  for (const int32_t s : table->ids.of_row) ++rows[static_cast<size_t>(s)];
  const auto shortest = std::min_element(rows.begin(), rows.end());
  const auto series = std::ssize(rows);
  if (series > kMaxTensorSeries) {
    reason = fmt::format(
        "{} series are read as a panel of independent series; data.panel = no reads one tensor", series);
    return true;
  }
  if (static_cast<double>(*shortest) < kSharedDates * dates)
    reason = fmt::format(
        "series '{}' has {} of {} dates; data.panel = yes reads the {} series as independent, each with its "
        "own start, end and scale",
        table->ids.labels[static_cast<size_t>(shortest - rows.begin())], *shortest, dates, series);
  return false;
}

Panel load_panel(const ForecastDataConfig& config) {
  require(config.resample.empty(), ErrorKind::config,
          "data.resample: the series of a panel are not resampled");
  std::optional<SeriesTable> table = read_long_table(config);
  require(table.has_value(), ErrorKind::data,
          "{}: expected a long table with a column of series ids, such as unique_id: data.id names it",
          config.path);
  Panel panel;
  panel.source = table->table.source;
  panel.header = table->table.had_header;
  panel.notes = std::move(table->notes);
  panel.warnings = std::move(table->warnings);
  panel.time_columns = time_columns(table->table, table->time);
  const Grouped grouped = group(*table);
  const std::vector<int64_t> places = lay_out(panel, *table, grouped, config);
  for (const size_t column : table->ids.columns) panel.layout.id.push_back(table->table.columns[column].name);
  panel.layout.series = std::move(table->ids.cells);
  const auto width = std::ssize(table->values);
  panel.values = at::zeros({panel.offsets.back(), width}, at::kDouble);
  const at::Tensor observed = at::zeros({panel.offsets.back(), width}, at::kBool);
  double* values = panel.values.mutable_data_ptr<double>();
  bool* seen = observed.mutable_data_ptr<bool>();
  int64_t cells = 0;
  const auto is_missing = [&](double value) {
    return std::isnan(value) || std::find(config.missing_values.begin(), config.missing_values.end(),
                                          value) != config.missing_values.end();
  };
  for (int64_t v = 0; v < width; ++v) {
    io::CsvColumn& column = table->table.columns[table->values[static_cast<size_t>(v)]];
    panel.layout.values.push_back(column.name);
    for (size_t i = 0; i < places.size() && !column.numbers.empty(); ++i) {
      const double value = column.numbers[static_cast<size_t>(grouped.rows[i])];
      if (is_missing(value)) continue;
      values[places[i] * width + v] = value;
      seen[places[i] * width + v] = true;
      ++cells;
    }
    column.numbers = {};  // freed early: files may be large
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
    splits.rule += fmt::format(" ({} of {} series {} too short for a validation window)", short_series,
                               panel.series(), is_or_are(short_series));
  return splits;
}

int64_t draw_origin(int64_t rows, WindowShape shape, uint64_t seed, uint64_t batch, uint64_t series) {
  const int64_t last = std::max<int64_t>(rows - shape.horizon, std::min<int64_t>(rows / 2, rows - 1));
  const int64_t first = std::clamp<int64_t>(shape.lookback / 2, 1, std::max<int64_t>(last, 1));
  const int64_t choices = std::max<int64_t>(last - first + 1, 1);
  const RandomStream stream{seed, RandomSite::augmentation, batch};
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
