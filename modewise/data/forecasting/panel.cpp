#include "modewise/data/forecasting/panel.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/hash.h"
#include "modewise/core/random.h"
#include "modewise/data/forecasting/panel_clock.h"
#include "modewise/data/forecasting/sources.h"
#include "modewise/data/forecasting/tables/long_table.h"
#include "modewise/data/forecasting/tables/table_time.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {
namespace {

constexpr int64_t kMaxTensorSeries = 500;
constexpr double kSharedDates = 0.9;

/// Puts the rows of each series on the clock: offsets, starts; returns the panel's row of each row of
/// `grouped`.
std::vector<int64_t> lay_out(Panel& panel, const SeriesTable& table, const RowsOfSeries& grouped,
                             const ForecastDataConfig& config) {
  PanelClock clock = lay_series(table, grouped, config);
  panel.clock = std::move(clock.axis);
  panel.starts = std::move(clock.starts);
  panel.phases = std::move(clock.phases);
  panel.notes.insert(panel.notes.end(), clock.notes.begin(), clock.notes.end());
  panel.offsets.assign(1, 0);
  int64_t filled = 0;
  std::vector<std::string> sparse_series;  // more than half of their rows would be missing
  for (size_t s = 0; s < panel.starts.size(); ++s) {
    const std::span<const int64_t> rows = grouped.of(s);
    const std::span<int64_t> places =
        std::span(clock.rows).subspan(static_cast<size_t>(grouped.begins[s]), rows.size());
    int64_t last = -1, distinct = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t at = places[i];
      if (at == last && config.resample.empty()) fail_second_row(table, rows[i - 1], rows[i]);
      places[i] += panel.offsets.back();
      distinct += at != last;
      last = at;
    }
    const int64_t missing = last + 1 - distinct;
    if (missing > std::max<int64_t>(distinct, 10)) sparse_series.push_back(table.ids.series.label(s));
    filled += missing;
    panel.offsets.push_back(panel.offsets.back() + last + 1);
  }
  if (!sparse_series.empty())
    fail(ErrorKind::data,
         "{}: more than half of the rows of {} of {} series would be missing at the time step of {}: {}; "
         "the series of a panel have one time step: part the table, or pool the dates (data.resample)",
         panel.source, sparse_series.size(), panel.series(), panel.clock.frequency_text(),
         first_names(sparse_series));
  if (filled > 0)
    panel.notes.push_back(fmt::format("{} within the series {} filled as missing",
                                      counted(filled, "missing row"), is_or_are(filled)));
  return std::move(clock.rows);
}

/// Data error if a series has no value.
void require_values(const Panel& panel) {
  const bool* seen = panel.observed.const_data_ptr<bool>();
  const int64_t width = panel.variables();
  std::vector<std::string> empty;
  for (int64_t s = 0; s < panel.series(); ++s) {
    const bool* first = seen + panel.offsets[static_cast<size_t>(s)] * width;
    if (std::find(first, first + panel.rows(s) * width, true) == first + panel.rows(s) * width)
      empty.push_back(panel.name(s));
  }
  require(empty.empty(), ErrorKind::data, "{}: {} of {} series {} no value: {}; leave out their rows",
          panel.source, empty.size(), panel.series(), empty.size() == 1 ? "has" : "have", first_names(empty));
}

/// Rows of each series until its last observed value; 0: it has none.
std::vector<int64_t> observed_rows(const Panel& panel) {
  const int64_t width = panel.variables();
  const bool* observed = panel.observed.defined() ? panel.observed.const_data_ptr<bool>() : nullptr;
  std::vector<int64_t> rows;
  for (int64_t s = 0; s < panel.series(); ++s) {
    const int64_t begin = panel.offsets[static_cast<size_t>(s)] * width;
    int64_t cells = panel.rows(s) * width;
    while (observed != nullptr && cells > 0 && !observed[begin + cells - 1]) --cells;
    rows.push_back((cells + width - 1) / width);
  }
  return rows;
}

/// Ends each series at its last value to forecast, with a warning. Future covariates have done so before, and
/// a plan may have empty rows.
void leave_out_empty_ends(Panel& panel, const ForecastDataConfig& config) {
  if (!config.known.empty() || config.follows) return;
  const std::vector<int64_t> before = panel.offsets;
  const int64_t after = end_at_last_values(panel);
  if (after == 0) return;
  std::vector<std::string> shorter;
  for (int64_t s = 0; s < panel.series(); ++s)
    if (const auto at = static_cast<size_t>(s); panel.rows(s) < before[at + 1] - before[at])
      shorter.push_back(panel.name(s));
  panel.warnings.push_back(fmt::format(
      "{} after the last value to forecast of {} of {} series {} left out: {}", counted(after, "row"),
      shorter.size(), panel.series(), is_or_are(after), first_names(shorter)));
}

/// `config` whose columns, if it names any, include the future covariates.
ForecastDataConfig with_known_columns(ForecastDataConfig config) {
  if (!config.columns.empty())
    config.columns.insert(config.columns.end(), config.known.begin(), config.known.end());
  return config;
}

}  // namespace

std::string first_names(const std::vector<std::string>& names) {
  const std::span<const std::string> shown(names.data(), std::min<size_t>(names.size(), 5));
  return fmt::format("'{}'{}", fmt::join(shown, "', '"), names.size() > shown.size() ? " …" : "");
}

int64_t Panel::time_at(int64_t s, int64_t row) const {
  if (!clock.has_times()) return row;
  return phases.empty() ? clock.at(clock_row(s, row)) : clock.at(row, phases[static_cast<size_t>(s)]);
}

std::string Panel::time_text(int64_t s, int64_t row) const {
  const int64_t time = time_at(s, row);
  return clock.dated ? io::format_date_time(time, clock.style) : fmt::format("{}", time);
}

int64_t Panel::row_at(int64_t s, int64_t time) const {
  int64_t row = 0;
  if (phases.empty()) {
    row = clock.first_row_at(time) - starts[static_cast<size_t>(s)];
  } else {
    TimeAxis own = clock;
    own.start = phases[static_cast<size_t>(s)].start;
    own.month_day = phases[static_cast<size_t>(s)].month_day;
    own.business = phases[static_cast<size_t>(s)].business;
    row = own.first_row_at(time);
  }
  return row >= 0 && row < rows(s) && time_at(s, row) == time ? row : -1;
}

std::string Panel::name(int64_t s) const {
  return layout.series.label(static_cast<size_t>(s));
}

PanelChoice choose_panel(const ForecastDataConfig& config) {
  if (config.panel != "auto") return {config.panel == "yes", "", {}};
  if (!config.statics.empty())
    return {true, "data.static_covariates describe independent series: the table is read as a panel", {}};
  if (config.path.empty() || !config.resample.empty() || config.dates == "rows" || !reads_table(config))
    return {};
  if (config.id.empty() && !header_names_ids(config)) return {};  // wide tables are read once
  ForecastDataConfig as_panel = with_known_columns(config);
  as_panel.panel = "yes";  // row numbers are times of panels only
  std::optional<SeriesTable> table = read_long_table(as_panel);
  if (!table || table->time.columns.empty() || (table->time.counted && table->ids.series.size() == 1))
    return {};
  if (table->time.counted) {
    std::string reason = fmt::format(
        "{} series are read as a panel of independent series, because column '{}' numbers their rows; "
        "data.id = "
        "none reads one series",
        table->ids.series.size(), table->table.columns[table->time.columns[0]].name);
    return {true, std::move(reason), std::move(table)};
  }
  const auto dates = static_cast<double>(sorted_distinct(table->time.dates).size());
  std::vector<int64_t> rows(table->ids.series.size());
  for (const int32_t s : table->ids.of_row) ++rows[static_cast<size_t>(s)];
  const auto shortest = std::min_element(rows.begin(), rows.end());
  const auto series = std::ssize(rows);
  const bool shared = static_cast<double>(*shortest) >= kSharedDates * dates,
             few = series <= kMaxTensorSeries;
  if (shared && few) {
    if (series == 1) return {};
    return {false,
            fmt::format("{} series share one clock and are read as one tensor; data.panel = yes reads them "
                        "as independent, each with its own end and scale",
                        series),
            {}};
  }
  std::string reason = fmt::format(
      "{} series are read as a panel of independent series, because {}; data.panel = no reads "
      "one tensor",
      series,
      few ? fmt::format("series '{}' has {} of {} dates",
                        table->ids.series.label(static_cast<size_t>(shortest - rows.begin())), *shortest,
                        dates)
          : fmt::format("there are more than {}", kMaxTensorSeries));
  return {true, std::move(reason), std::move(table)};
}

Panel load_panel(const ForecastDataConfig& asked, std::optional<SeriesTable> table) {
  const ForecastDataConfig config = with_known_columns(asked);
  if (!table)
    table = std::filesystem::is_directory(config.path) ? read_panel_folder(config) : read_long_table(config);
  require(table.has_value(), ErrorKind::data,
          "{}: expected a long table with a column of series ids, such as unique_id, and several rows for an "
          "id: data.id names the column; a table with a column or a row for each series is made long by "
          "pandas.melt, or read as one tensor with data.panel = no",
          config.path);
  Panel panel;
  panel.source = table->table.source;
  panel.header = table->table.had_header;
  panel.units = table->units();
  panel.notes = std::move(table->notes);
  panel.warnings = std::move(table->warnings);
  panel.time_columns = time_columns(table->table, table->time);
  const RowsOfSeries grouped = group_rows(*table);
  const std::vector<int64_t> places = lay_out(panel, *table, grouped, config);
  std::vector<int64_t>().swap(table->time.dates);  // freed early: files may be large
  std::vector<int32_t>().swap(table->ids.of_row);
  for (const size_t column : table->ids.columns) panel.layout.id.push_back(table->table.columns[column].name);
  if (!std::filesystem::is_directory(config.path))
    panel.notes.insert(panel.notes.begin(), long_table_note(panel.layout.id, std::ssize(table->ids.series)));
  panel.layout.series = std::move(table->ids.series);
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
    int64_t pooled = 0;  // values of the cell, more than one with data.resample
    for (size_t i = 0; i < places.size() && !column.numbers.empty(); ++i) {
      const double value = column.numbers[static_cast<size_t>(grouped.rows[i])];
      if (is_missing(value)) continue;
      double& cell = values[places[i] * width + v];
      bool& observed_before = seen[places[i] * width + v];
      pooled = observed_before ? pooled + 1 : 1;
      cells += !observed_before;
      observed_before = true;
      if (pooled == 1 || config.resample_by == "last")
        cell = value;
      else
        cell += config.resample_by == "sum" ? value : (value - cell) / static_cast<double>(pooled);
    }
    column.numbers = {};
  }
  if (cells < observed.numel()) {
    panel.observed = observed;
    require_values(panel);
  }
  panel.statics = std::move(table->statics);
  take_known(panel, config);
  leave_out_empty_ends(panel, config);
  return panel;
}

PanelSplits split_panel(const Panel& panel, int64_t horizon, int64_t windows, int64_t test_windows) {
  PanelSplits splits;
  splits.rule = fmt::format("last {}{} of each series", windows, windows == 1 ? " horizon" : " horizons");
  if (test_windows < 0) test_windows = windows;
  const int64_t held = horizon * windows, tested = horizon * test_windows;
  int64_t short_series = 0;
  for (int64_t s = 0; s < panel.series(); ++s) {
    const int64_t rows = panel.rows(s);
    // At least two rows of history before the first window of a split.
    constexpr int64_t kHistory = 2;
    const bool test = rows >= tested + kHistory, validation = rows >= tested + held + kHistory;
    const int64_t test_begin = test ? rows - tested : rows,
                  train = validation ? test_begin - held : test_begin;
    for (int64_t window = 0; window < test_windows && test; ++window)
      splits.test.push_back({s, test_begin + window * horizon});
    for (int64_t window = 0; window < windows && validation; ++window)
      splits.validation.push_back({s, train + window * horizon});
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

namespace {

/// Moments of the first rows of each series in a table [R, V]; `keeps_flags`: columns of 0 and 1 keep them.
void fit_moments(const at::Tensor& table, const at::Tensor& mask, std::span<const int64_t> offsets,
                 std::span<const int64_t> rows, bool keeps_flags, std::vector<double>& means,
                 std::vector<double>& stddevs) {
  const int64_t width = table.size(1), series = std::ssize(rows);
  means.assign(static_cast<size_t>(series * width), 0);
  stddevs.assign(means.size(), 1);
  const double* values = table.const_data_ptr<double>();
  const bool* observed = mask.defined() ? mask.const_data_ptr<bool>() : nullptr;
  at::parallel_for(0, series, 256, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s)
      for (int64_t v = 0; v < width; ++v) {
        const int64_t first = offsets[static_cast<size_t>(s)], last = first + rows[static_cast<size_t>(s)];
        double count = 0, sum = 0, squares = 0;
        bool flags = keeps_flags;
        for (int64_t row = first; row < last; ++row) {
          if (observed != nullptr && !observed[row * width + v]) continue;
          ++count;
          sum += values[row * width + v];
          flags = flags && (values[row * width + v] == 0 || values[row * width + v] == 1);
        }
        if (count == 0 || flags) continue;
        const double mean = sum / count;
        for (int64_t row = first; row < last; ++row) {
          if (observed != nullptr && !observed[row * width + v]) continue;
          const double difference = values[row * width + v] - mean;
          squares += difference * difference;
        }
        const auto at = static_cast<size_t>(s * width + v);
        means[at] = mean;
        const double stddev = std::sqrt(squares / count);
        if (stddev > 1e-12 * std::abs(mean) && stddev > 0) stddevs[at] = stddev;
      }
  });
}

}  // namespace

PanelScaler PanelScaler::fit(const Panel& panel, std::span<const int64_t> rows) {
  PanelScaler scaler;
  fit_moments(panel.values, panel.observed, panel.offsets, rows, false, scaler.mean, scaler.stddev);
  if (!panel.known.names.empty())
    fit_moments(panel.known.values, panel.known.observed, panel.known.offsets, rows, true, scaler.known_mean,
                scaler.known_stddev);
  return scaler;
}

Panel head_rows(const Panel& panel, std::span<const int64_t> rows) {
  const int64_t width = panel.variables();
  Panel cut = panel;
  cut.offsets.assign(1, 0);
  for (const int64_t count : rows) cut.offsets.push_back(cut.offsets.back() + count);
  cut.values = at::empty({cut.offsets.back(), width}, at::kDouble);
  if (panel.observed.defined()) cut.observed = at::empty({cut.offsets.back(), width}, at::kBool);
  for (size_t s = 0; s < rows.size(); ++s) {
    const int64_t from = panel.offsets[s] * width, to = cut.offsets[s] * width, count = rows[s] * width;
    std::copy_n(panel.values.const_data_ptr<double>() + from, count,
                cut.values.mutable_data_ptr<double>() + to);
    if (panel.observed.defined())
      std::copy_n(panel.observed.const_data_ptr<bool>() + from, count,
                  cut.observed.mutable_data_ptr<bool>() + to);
  }
  return cut;
}

int64_t end_at_last_values(Panel& panel) {
  if (!panel.observed.defined()) return 0;
  const std::vector<int64_t> rows = observed_rows(panel);
  if (const auto empty = std::ranges::find(rows, 0); empty != rows.end())
    fail(ErrorKind::data, "{}: {} of {} series have no value to forecast, the first is '{}'", panel.source,
         std::ranges::count(rows, 0), panel.series(), panel.name(empty - rows.begin()));
  const int64_t all = panel.offsets.back();
  if (std::reduce(rows.begin(), rows.end()) < all) panel = head_rows(panel, rows);
  if (panel.observed.all().item<bool>()) panel.observed.reset();
  return all - panel.offsets.back();
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
          panel.row_offset + panel.clock_row(window.series, window.origin) - shape.lookback;
    }
  });
  batch.known = gather_covariates(panel, scaler, shape, windows);
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
  for (const SeriesPhase& phase : panel.phases)
    all += fmt::format("{} {} {}\n", phase.start, phase.month_day, phase.business);
  for (int64_t s = 0; s < panel.series(); ++s) all += panel.name(s) + "\n";
  if (!panel.known.names.empty())
    all +=
        bytes(panel.known.values.const_data_ptr<double>(), static_cast<size_t>(panel.known.values.numel())) +
        bytes(panel.known.observed.const_data_ptr<bool>(), static_cast<size_t>(panel.known.observed.numel()));
  for (const StaticColumn& column : panel.statics) {
    all += bytes(column.numbers.data(), column.numbers.size());
    for (const std::string& word : column.words) all += word + "\n";
  }
  return content_hash(std::as_bytes(std::span(all)));
}

}  // namespace modewise::data
