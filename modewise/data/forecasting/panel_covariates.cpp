#include "modewise/data/forecasting/panel_covariates.h"

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/forecasting/calendar.h"
#include "modewise/data/forecasting/panel.h"

namespace modewise::data {
namespace {

constexpr size_t kMaxCategories = 64;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

size_t position_of(const std::vector<std::string>& names, const std::string& name, const char* option,
                   const std::string& source) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end())
    fail(ErrorKind::config, "{}: {} has no column '{}'{}", option, source, name,
         nearest_name_hint(name, names));
  return static_cast<size_t>(at - names.begin());
}

/// One value of each series; rows without a value are left out.
template <class Value, class Cell, class Missing>
std::vector<Value> constant_values(const io::CsvTable& table, const TableIds& ids, const std::string& name,
                                   const Value& missing, const Cell& cell, const Missing& is_missing) {
  std::vector<Value> values(ids.series.size(), missing);
  for (size_t row = 0; row < ids.of_row.size(); ++row) {
    const auto found = cell(row);
    if (is_missing(found)) continue;
    Value& value = values[static_cast<size_t>(ids.of_row[row])];
    if (is_missing(value)) value = Value(found);
    if (found != value)
      fail(ErrorKind::data,
           "{}:{}: the static covariate '{}' of series '{}' is {}, but {} in an earlier row: a column that "
           "varies is a variable or one of data.future_covariates",
           table.source, TableLines(table)(static_cast<int64_t>(row)), name,
           ids.series.label(static_cast<size_t>(ids.of_row[row])), found, value);
  }
  return values;
}

/// Data error for the first covariate of `path` that is missing in the `horizon` rows after a series. `of`:
/// position in `future` of each series; -1: none.
void require_plan(const Panel& panel, const PanelKnown& known, const Panel& future,
                  std::span<const int64_t> of, const std::string& path, int64_t horizon) {
  const int64_t width = std::ssize(known.names);
  for (int64_t s = 0; s < panel.series(); ++s)
    for (int64_t cell = 0; cell < horizon * width; ++cell) {
      const int64_t first = known.offsets[static_cast<size_t>(s)] + panel.rows(s), step = cell / width;
      if (known.observed.const_data_ptr<bool>()[first * width + cell]) continue;
      const auto date = [](const Panel& one, int64_t series, int64_t row) {
        return one.clock.has_times() ? one.time_text(series, row) : fmt::format("row {}", row + 1);
      };
      const int64_t there = of[static_cast<size_t>(s)];
      fail(ErrorKind::data,
           "{}: the future covariate '{}' of series '{}' is missing {}{}, step {} of the forecast: the file "
           "{}, "
           "and the model needs {} to {}",
           path, known.names[static_cast<size_t>(cell % width)], panel.name(s),
           panel.clock.dated ? "on " : "in ", date(panel, s, panel.rows(s) + step), step + 1,
           there < 0 ? "has no rows of the series; its ids are " + first_names(future.layout.series.labels())
                     : fmt::format("covers {} to {} of it", date(future, there, 0),
                                   date(future, there, future.rows(there) - 1)),
           date(panel, s, panel.rows(s)), date(panel, s, panel.rows(s) + horizon - 1));
    }
}

/// Columns `columns` of rows of [R, W].
template <class T>
at::Tensor columns_of(const at::Tensor& table, const std::vector<size_t>& columns) {
  at::Tensor out = at::empty({table.size(0), std::ssize(columns)}, table.options());
  const T* from = table.const_data_ptr<T>();
  T* to = out.mutable_data_ptr<T>();
  for (int64_t row = 0; row < table.size(0); ++row, from += table.size(1))
    for (const size_t column : columns) *to++ = from[column];
  return out;
}

at::Tensor mask_of(const Panel& panel) {
  return panel.observed.defined() ? panel.observed : at::ones(panel.values.sizes(), at::kBool);
}

/// Covariates [R', K] of `panel` with `horizon` more rows for each series, missing where they are not known.
PanelKnown extended(const Panel& panel, int64_t horizon) {
  const PanelKnown& known = panel.known;
  const int64_t width = std::ssize(known.names);
  PanelKnown out{known.names, {0}, {}, {}};
  for (int64_t s = 0; s < panel.series(); ++s)
    out.offsets.push_back(out.offsets.back() + panel.rows(s) + horizon);
  out.values = at::zeros({out.offsets.back(), width}, at::kDouble);
  out.observed = at::zeros({out.offsets.back(), width}, at::kBool);
  for (size_t s = 0; s + 1 < out.offsets.size(); ++s) {
    const int64_t count =
        std::min(known.offsets[s + 1] - known.offsets[s], out.offsets[s + 1] - out.offsets[s]) * width;
    std::copy_n(known.values.const_data_ptr<double>() + known.offsets[s] * width, count,
                out.values.mutable_data_ptr<double>() + out.offsets[s] * width);
    std::copy_n(known.observed.const_data_ptr<bool>() + known.offsets[s] * width, count,
                out.observed.mutable_data_ptr<bool>() + out.offsets[s] * width);
  }
  return out;
}

}  // namespace

std::vector<StaticColumn> static_columns(const io::CsvTable& table, const TableIds& ids,
                                         const ForecastDataConfig& config) {
  std::vector<std::string> names;
  for (const io::CsvColumn& column : table.columns) names.push_back(column.name);
  std::vector<StaticColumn> out;
  for (const std::string& name : config.statics) {
    const io::CsvColumn& column =
        table.columns[position_of(names, name, "data.static_covariates", table.source)];
    require(column.kind != io::CsvColumn::date, ErrorKind::data,
            "{}: the static covariate '{}' holds dates: it must hold numbers or categories", table.source,
            name);
    StaticColumn& added = out.emplace_back();
    added.name = name;
    added.numeric = column.kind == io::CsvColumn::number;
    if (added.numeric)
      added.numbers = constant_values<double>(
          table, ids, name, kMissing, [&](size_t row) { return column.numbers[row]; },
          [](double x) { return std::isnan(x); });
    else
      added.words = constant_values<std::string>(
          table, ids, name, "", [&](size_t row) { return column.texts[row]; },
          [](std::string_view word) { return word.empty(); });
  }
  return out;
}

void take_known(Panel& panel, const ForecastDataConfig& config) {
  if (config.known.empty()) return;
  std::vector<size_t> taken, rest;
  for (const std::string& name : config.known) {
    taken.push_back(position_of(panel.layout.values, name, "data.future_covariates", panel.source));
    require(std::count(taken.begin(), taken.end(), taken.back()) == 1, ErrorKind::config,
            "data.future_covariates: duplicate column '{}'", name);
  }
  for (size_t i = 0; i < panel.layout.values.size(); ++i)
    if (std::find(taken.begin(), taken.end(), i) == taken.end()) rest.push_back(i);
  require(!rest.empty(), ErrorKind::config,
          "data.future_covariates lists all columns of {}, none is left to forecast", panel.source);
  const at::Tensor mask = mask_of(panel);
  panel.known = {config.known, panel.offsets, columns_of<double>(panel.values, taken),
                 columns_of<bool>(mask, taken)};
  Panel targets = panel;
  targets.values = columns_of<double>(panel.values, rest);
  targets.observed = columns_of<bool>(mask, rest);
  targets.layout.values.clear();
  for (const size_t i : rest) targets.layout.values.push_back(panel.layout.values[i]);
  panel = std::move(targets);
  panel.notes.push_back(
      fmt::format("future covariates, not forecast: {}; {} rows after the last row of a series",
                  fmt::join(config.known, ", "), end_at_last_values(panel)));
}

void take_future(Panel& panel, ForecastDataConfig config, const std::string& path, int64_t horizon) {
  require(
      !panel.known.names.empty(), ErrorKind::data,
      "{}: the run was trained without future covariates (data.future_covariates), so there is nothing to "
      "read from it",
      path);
  config.columns = std::exchange(config.known, {});
  config.path = path;
  config.statics.clear();
  config.drop.clear();
  config.follows = config.keeps_empty = true;
  const Panel future = load_panel(config);
  require(future.clock.has_times() == panel.clock.has_times(), ErrorKind::data,
          "{}: its rows must have dates if and only if those of {} have", path, panel.source);
  PanelKnown joined = extended(panel, horizon);
  std::unordered_map<std::string, int64_t> series;
  for (int64_t s = 0; s < future.series(); ++s) series.emplace(future.name(s), s);
  const int64_t width = std::ssize(joined.names);
  std::vector<int64_t> places;
  for (int64_t s = 0; s < panel.series(); ++s) {
    const auto found = series.find(panel.name(s));
    places.push_back(found == series.end() ? -1 : found->second);
    if (found == series.end()) continue;
    for (int64_t step = 0; step < horizon; ++step) {
      const int64_t row = panel.clock.has_times()
                              ? future.row_at(found->second, panel.time_at(s, panel.rows(s) + step))
                              : step;
      if (row < 0 || row >= future.rows(found->second)) continue;
      const int64_t from = (future.offsets[static_cast<size_t>(found->second)] + row) * width,
                    to = (joined.offsets[static_cast<size_t>(s)] + panel.rows(s) + step) * width;
      for (int64_t i = 0; i < width; ++i) {
        joined.values.mutable_data_ptr<double>()[to + i] = future.values.const_data_ptr<double>()[from + i];
        joined.observed.mutable_data_ptr<bool>()[to + i] =
            !future.observed.defined() || future.observed.const_data_ptr<bool>()[from + i];
      }
    }
  }
  require_plan(panel, joined, future, places, path, horizon);
  panel.known = std::move(joined);
}

bool known_has_gaps(const Panel& panel) {
  if (panel.known.names.empty()) return false;
  const int64_t width = std::ssize(panel.known.names);
  const bool* observed = panel.known.observed.const_data_ptr<bool>();
  for (int64_t s = 0; s < panel.series(); ++s) {
    const bool* first = observed + panel.known.offsets[static_cast<size_t>(s)] * width;
    if (!std::all_of(first, first + panel.rows(s) * width, [](bool seen) { return seen; })) return true;
  }
  return false;
}

void require_future_covariates(const Panel& panel, int64_t horizon) {
  const PanelKnown& known = panel.known;
  if (known.names.empty()) return;
  const int64_t width = std::ssize(known.names);
  for (int64_t s = 0; s < panel.series(); ++s)
    for (int64_t step = 0; step < horizon; ++step) {
      const int64_t row = known.offsets[static_cast<size_t>(s)] + panel.rows(s) + step;
      for (int64_t i = 0; i < width; ++i)
        if (row >= known.offsets[static_cast<size_t>(s) + 1] ||
            !known.observed.const_data_ptr<bool>()[row * width + i])
          fail(
              ErrorKind::data,
              "{}: the future covariate '{}' of series '{}' is missing {}, step {} of the forecast: add rows "
              "with an empty value to forecast, or name a file of them with --future",
              panel.source, known.names[static_cast<size_t>(i)], panel.name(s),
              panel.clock.dated ? "on " + panel.time_text(s, panel.rows(s) + step)
                                : fmt::format("in row {}", panel.rows(s) + step + 1),
              step + 1);
    }
}

std::vector<StaticEncoding> encodings_of(const std::vector<StaticColumn>& columns,
                                         const std::string& source) {
  std::vector<StaticEncoding> out;
  for (const StaticColumn& column : columns) {
    StaticEncoding& encoding = out.emplace_back();
    encoding.name = column.name;
    if (!column.numeric) {
      std::vector<std::string>& words = encoding.categories;
      words = column.words;
      std::sort(words.begin(), words.end());
      words.erase(std::unique(words.begin(), words.end()), words.end());
      if (!words.empty() && words.front().empty()) words.erase(words.begin());
      require(!words.empty() && words.size() <= kMaxCategories, ErrorKind::data,
              "{}: the static covariate '{}' has {} categories, from 1 to {} are possible", source,
              column.name, words.size(), kMaxCategories);
      continue;
    }
    double count = 0, sum = 0, squares = 0;
    for (const double x : column.numbers)
      if (!std::isnan(x)) {
        ++count;
        sum += x;
      }
    encoding.mean = count > 0 ? sum / count : 0;
    for (const double x : column.numbers)
      if (!std::isnan(x)) squares += (x - encoding.mean) * (x - encoding.mean);
    if (squares > 0) encoding.stddev = std::sqrt(squares / count);
  }
  return out;
}

nlohmann::ordered_json to_json(const std::vector<StaticEncoding>& encodings) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const StaticEncoding& one : encodings)
    json.push_back(
        {{"name", one.name}, {"categories", one.categories}, {"mean", one.mean}, {"std", one.stddev}});
  return json;
}

std::vector<StaticEncoding> encodings_from_json(const nlohmann::json& json) {
  std::vector<StaticEncoding> out;
  for (const nlohmann::json& one : json)
    out.push_back({one.at("name"), one.at("categories").get<std::vector<std::string>>(), one.at("mean"),
                   one.at("std")});
  return out;
}

int64_t PanelCovariates::features(int64_t columns) const {
  return columns * (flags ? 2 : 1) + (calendar.defined() ? calendar.size(1) : 0) +
         (statics.defined() ? statics.size(1) : 0);
}

PanelCovariates make_covariates(const Panel& panel, const ForecastDataConfig& config,
                                const std::vector<StaticEncoding>& encodings, bool flags, int64_t ahead) {
  PanelCovariates out;
  out.flags = flags;
  if (calendar_width(config, panel.clock) > 0) {
    if (panel.phases.empty()) {
      out.calendar = calendar_codes(config, panel.clock, panel.clock.length + ahead);
    } else {
      std::vector<at::Tensor> codes;
      TimeAxis own = panel.clock;
      for (int64_t s = 0; s < panel.series(); ++s) {
        const SeriesPhase& phase = panel.phases[static_cast<size_t>(s)];
        own.start = phase.start;
        own.month_day = phase.month_day;
        own.business = phase.business;
        codes.push_back(calendar_codes(config, own, panel.rows(s) + ahead));
        out.calendar_begins.push_back(out.calendar_begins.back() + panel.rows(s) + ahead);
      }
      out.calendar = at::cat(codes);
    }
  }
  int64_t width = 0;
  for (const StaticEncoding& encoding : encodings) width += encoding.features();
  if (width == 0) return out;
  out.statics = at::zeros({panel.series(), width}, at::kFloat);
  float* features = out.statics.mutable_data_ptr<float>();
  int64_t first = 0;
  for (size_t i = 0; i < encodings.size(); first += encodings[i++].features()) {
    const StaticEncoding& encoding = encodings[i];
    const StaticColumn& column = panel.statics[i];
    require(column.numeric == encoding.categories.empty(), ErrorKind::data,
            "{}: the static covariate '{}' holds {}, but {} in the run's training data", panel.source,
            encoding.name, column.numeric ? "numbers" : "categories",
            column.numeric ? "categories" : "numbers");
    for (int64_t s = 0; s < panel.series(); ++s) {
      const auto at = static_cast<size_t>(s);
      float* row = features + s * width + first;
      if (column.numeric) {
        if (!std::isnan(column.numbers[at]))
          *row = static_cast<float>((column.numbers[at] - encoding.mean) / encoding.stddev);
        continue;
      }
      if (column.words[at].empty()) continue;
      const auto found =
          std::lower_bound(encoding.categories.begin(), encoding.categories.end(), column.words[at]);
      if (found == encoding.categories.end() || *found != column.words[at])
        fail(
            ErrorKind::data,
            "{}: the static covariate '{}' of series '{}' is '{}', which the training data do not have (they "
            "have {}): leave the cell empty or train again",
            panel.source, encoding.name, panel.name(s), column.words[at],
            fmt::join(encoding.categories, ", "));
      row[found - encoding.categories.begin()] = 1;
    }
  }
  return out;
}

at::Tensor gather_covariates(const Panel& panel, const PanelScaler& scaler, WindowShape shape,
                             std::span<const PanelWindow> windows) {
  if (!scaler.covariates) return {};
  const PanelCovariates& covariates = *scaler.covariates;
  const int64_t columns = std::ssize(panel.known.names), features = covariates.features(columns);
  if (features == 0) return {};
  const int64_t length = shape.lookback + shape.horizon, count = std::ssize(windows);
  at::Tensor out = at::zeros({count, features, length}, at::kFloat);
  const int64_t codes = covariates.calendar.defined() ? covariates.calendar.size(1) : 0,
                fixed = covariates.statics.defined() ? covariates.statics.size(1) : 0;
  const double* values = columns > 0 ? panel.known.values.const_data_ptr<double>() : nullptr;
  const bool* observed = columns > 0 ? panel.known.observed.const_data_ptr<bool>() : nullptr;
  at::parallel_for(0, count, 64, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const int64_t series = windows[static_cast<size_t>(i)].series,
                    first = windows[static_cast<size_t>(i)].origin - shape.lookback;
      float* row = out.mutable_data_ptr<float>() + i * features * length;
      for (int64_t c = 0; c < columns; ++c, row += length) {
        const int64_t begin = panel.known.offsets[static_cast<size_t>(series)],
                      end = panel.known.offsets[static_cast<size_t>(series) + 1] - begin;
        const auto at = static_cast<size_t>(series * columns + c);
        for (int64_t t = std::max<int64_t>(-first, 0); t < length && first + t < end; ++t) {
          const int64_t cell = (begin + first + t) * columns + c;
          if (!observed[cell]) continue;
          row[t] = static_cast<float>((values[cell] - scaler.known_mean[at]) / scaler.known_stddev[at]);
          if (covariates.flags) row[columns * length + t] = 1;
        }
      }
      if (covariates.flags) row += columns * length;
      // Rows of date parts of the first row, and from the first to the last that has any.
      const std::vector<int64_t>& begins = covariates.calendar_begins;
      const bool own = begins.size() > 1;
      const int64_t from_row = own ? begins[static_cast<size_t>(series)] : 0,
                    to_row = own         ? begins[static_cast<size_t>(series) + 1]
                             : codes > 0 ? covariates.calendar.size(0)
                                         : 0,
                    at_row = own ? from_row + first : panel.clock_row(series, first);
      for (int64_t c = 0; c < codes; ++c, row += length)
        for (int64_t t = std::max<int64_t>(from_row - at_row, 0); t < length && at_row + t < to_row; ++t)
          row[t] = covariates.calendar.const_data_ptr<float>()[(at_row + t) * codes + c];
      for (int64_t c = 0; c < fixed; ++c, row += length)
        std::fill_n(row, length, covariates.statics.const_data_ptr<float>()[series * fixed + c]);
    }
  });
  return out;
}

}  // namespace modewise::data
