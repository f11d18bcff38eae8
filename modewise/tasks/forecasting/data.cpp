#include "modewise/tasks/forecasting/data.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/hash.h"
#include "modewise/data/forecasting/load_series.h"
#include "modewise/data/forecasting/tables/table_time.h"
#include "modewise/data/forecasting/tensor_cells.h"
#include "modewise/io/tables/date_time.h"
#include "modewise/tasks/forecasting/choose_defaults.h"

namespace modewise::tasks {
namespace {

std::vector<double> doubles(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

std::string step_text(const data::TimeAxis& time) {
  return time.dated ? time.frequency_text() : "no dates";
}

/// Hash of the values as float64, whatever their type.
std::string hash_of_doubles(const at::Tensor& values) {
  constexpr int64_t kBlock = int64_t{1} << 20;
  const at::Tensor flat = values.reshape(-1);
  ContentHash hash;
  for (int64_t first = 0; first < flat.numel(); first += kBlock) {
    const at::Tensor block =
        flat.narrow(0, first, std::min(kBlock, flat.numel() - first)).to(at::kDouble).contiguous();
    hash.add({static_cast<const std::byte*>(block.const_data_ptr()), block.nbytes()});
  }
  return hash.text();
}

/// ForecastDataConfig::date_order of dates whose first one is `start`, written as `text`; "": not determined.
std::string order_of_first_date(int64_t start, const std::string& text) {
  const std::optional<io::WrittenDate> written = io::read_date_time(text);
  if (!written || data::date_order_of(written->style).empty()) return "";
  io::DateStyle day_first = written->style, month_first = written->style;
  day_first.order = io::DateStyle::day_first;
  month_first.order = io::DateStyle::month_first;
  const bool day = io::format_date_time(start, day_first) == text,
             month = io::format_date_time(start, month_first) == text;
  return day == month ? "" : data::date_order_of(day ? day_first : month_first);
}

}  // namespace

void print_warnings(const data::Series& series) {
  for (const std::string& warning : series.warnings) spdlog::warn("{}: {}", series.source, warning);
}

std::string hash_of(const data::Series& series) {
  const auto bytes = [](const at::Tensor& tensor) {
    const at::Tensor flat = tensor.contiguous();
    return content_hash({static_cast<const std::byte*>(flat.const_data_ptr()), flat.nbytes()});
  };
  std::string all = hash_of_doubles(series.values);
  if (series.observed.defined()) all += bytes(series.observed);
  if (series.known) all += hash_of(data::first_rows(*series.known, series.rows()));
  return content_hash(as_bytes(all));
}

data::SplitWindows cut_forecast_windows(const ForecastConfig& config, const data::Splits& splits) {
  data::SplitWindows windows =
      data::cut_windows(splits, config.window(), config.forecast.train_stride, config.forecast.train_fraction,
                        config.forecast.validation_stride);
  const int64_t batch = config.forecast.test_drop_last, size = windows.test.size();
  if (batch > 0 && size >= batch) {
    const int64_t whole = size / batch * batch;
    const double kept = static_cast<double>(whole) + 0.5;  // + 0.5 against rounding down
    windows.test = data::WindowSet("test", splits.test, config.window(), true, 1,
                                   std::min(kept / static_cast<double>(size), 1.0));
  }
  return windows;
}

const data::WindowSet& windows_of(const data::SplitWindows& windows, const std::string& part) {
  require(part == "train" || part == "validation" || part == "test" || part == "all", ErrorKind::usage,
          "there is no split '{}' (there are train, validation, test, all)", part);
  const data::WindowSet& found = part == "train"        ? windows.train
                                 : part == "validation" ? windows.validation
                                                        : windows.test;
  require(found.size() > 0, ErrorKind::data,
          "the {} split has no rows (data.split_ratios); use --split validation", part);
  return found;
}

namespace {

/// Removes the test rows before their values are used.
void leave_test_out(ForecastData& data) {
  const int64_t rows = std::max(data.splits.train.end, data.splits.validation.end);
  data.unread = data.series.rows() - rows;
  data.series = data::first_rows(std::move(data.series), rows);
  data.splits.test = {rows, rows};
}

/// `flags`: as in future_covariate_features, whose rows extend `rows_ahead` beyond the series.
data::WindowSource scaled_source(const data::ForecastDataConfig& config, const data::Series& series,
                                 const data::Scaler& scaler, const std::optional<data::Scaler>& known_scaler,
                                 bool flags, int64_t rows_ahead = 0) {
  data::WindowSource source(scaler.transform(series), series.observed);
  const at::Tensor features = data::future_covariate_features(
      config, series, known_scaler.value_or(data::Scaler()), flags, series.rows() + rows_ahead);
  if (features.defined()) source.set_known(features);
  return source;
}

}  // namespace

ForecastData load_forecast_data(ForecastConfig& config) {
  ForecastData result;
  result.series = data::load_series(config.data);
  if (config.forecast.lookback > 0 && config.forecast.longest() > 0)
    data::check_window(config.window(), result.series);
  result.splits = data::make_splits(config.data, result.series);
  result.chosen = choose_defaults(config, result.series, result.splits);
  if (!config.train.test) leave_test_out(result);
  result.windows = cut_forecast_windows(config, result.splits);
  result.hash = hash_of(result.series);
  result.scaler = data::Scaler::fit(result.series, result.splits.train);
  for (std::string& sentence : data::leave_out(result.series, result.scaler.left_out))
    result.series.warnings.push_back(
        sentence + ": data.split_dates or data.split_ratios with later training rows include it");
  if (result.series.known) {
    result.known_scaler = data::Scaler::fit(*result.series.known, result.splits.train);
    const std::vector<std::string>& notes = result.known_scaler->notes;
    result.scaler.notes.insert(result.scaler.notes.end(), notes.begin(), notes.end());
  }
  result.source = scaled_source(config.data, result.series, result.scaler, result.known_scaler,
                                data::known_has_gaps(result.series));
  return result;
}

DataSummary summarize(const ForecastData& data) {
  std::optional<FutureCovariateSummary> known;
  data::FutureCovariateShape ahead;
  if (const at::Tensor& features = data.source.known(); features.defined())
    ahead = {features.size(-2), features.dim() - 2};
  if (data.known_scaler)
    known = {data.series.known->modes, *data.known_scaler, data::known_has_gaps(data.series)};
  return {data.series.modes,
          data.scaler,
          data.series.time,
          data.series.source,
          data.hash,
          data.series.observed.defined(),
          data.series.header,
          data.series.decimal,
          data.series.units,
          data.series.categories,
          known,
          ahead,
          {},
          data.unread,
          data.series.time.dated ? data::date_order_of(data.series.time.style) : ""};
}

nlohmann::ordered_json to_json(const DataSummary& summary) {
  const data::TimeAxis& time = summary.time;
  nlohmann::ordered_json json = {{"source", summary.source},
                                 {"hash", summary.hash},
                                 {"rows", time.length},
                                 {"missing", summary.missing}};
  if (summary.unread > 0) json["unread_rows"] = summary.unread;
  if (summary.header) json["header"] = *summary.header;
  if (!summary.decimal.empty()) json["decimal"] = summary.decimal;
  if (!summary.date_order.empty()) json["date_order"] = summary.date_order;
  if (summary.units) json["units"] = *summary.units;
  if (!summary.categories.empty()) json["categories"] = summary.categories;
  json["time"] = {{"dated", time.dated}, {"start", time.start},   {"start_text", time.text_at(0)},
                  {"step", time.step},   {"months", time.months}, {"week", time.week}};
  json["modes"] = data::to_json(summary.modes);
  json["scaler"] = summary.scaler.to_json();
  if (summary.ahead.features > 0)
    json["ahead"] = {{"features", summary.ahead.features}, {"modes", summary.ahead.modes}};
  if (summary.known)
    json["known"] = {{"missing", summary.known->missing},
                     {"modes", data::to_json(summary.known->modes)},
                     {"scaler", summary.known->scaler.to_json()}};
  return json;
}

DataSummary data_summary(const nlohmann::json& json, const std::string& source) {
  DataSummary result;
  result.source = json.at("source");
  result.hash = json.at("hash");
  result.missing = json.at("missing");
  if (json.contains("header")) result.header = json["header"].get<bool>();
  result.decimal = json.value("decimal", "");
  result.date_order = json.value("date_order", "");
  if (json.contains("units")) result.units = json["units"].get<std::map<std::string, std::string>>();
  if (json.contains("categories")) result.categories = json["categories"].get<data::Categories>();
  const auto& time = json.at("time");
  result.time.length = json.at("rows");
  result.unread = json.value("unread_rows", int64_t{0});
  result.time.dated = time.at("dated");
  result.time.start = time.at("start");
  result.time.step = time.at("step");
  result.time.months = time.at("months");
  if (result.date_order.empty() && result.time.dated)
    result.date_order = order_of_first_date(result.time.start, time.value("start_text", ""));
  if (time.contains("week"))
    result.time.week = time["week"].get<std::vector<int64_t>>();
  else
    result.calendar_days = "all";  // runs made before calendars have every step
  result.modes = data::modes_from_json(json.at("modes"), source);
  result.scaler = data::Scaler::from_json(json.at("scaler"), source);
  if (json.contains("ahead")) result.ahead = {json["ahead"].at("features"), json["ahead"].at("modes")};
  if (json.contains("known")) {
    const nlohmann::json& known = json["known"];
    result.known = {data::modes_from_json(known.at("modes"), source),
                    data::Scaler::from_json(known.at("scaler"), source), known.at("missing")};
  }
  return result;
}

data::Series shape_of(const DataSummary& summary) {
  const auto row = [](const std::vector<data::SeriesMode>& modes, bool missing) {
    data::Series one;
    std::vector<int64_t> sizes = {1};
    for (const data::SeriesMode& mode : modes) sizes.push_back(std::ssize(mode.labels));
    one.modes = modes;
    one.values = at::zeros(sizes, at::kDouble);
    if (missing) one.observed = at::zeros(sizes, at::kBool);
    return one;
  };
  data::Series series = row(summary.modes, summary.missing);
  series.time = summary.time;
  if (summary.known)
    series.known = std::make_shared<const data::Series>(row(summary.known->modes, summary.known->missing));
  return series;
}

void require_same_units(const std::map<std::string, std::string>& trained, const std::string& training_source,
                        const std::map<std::string, std::string>& units, const std::string& source) {
  std::map<std::string, std::string> all = trained;
  all.insert(units.begin(), units.end());
  for (const auto& [column, any] : all) {
    const auto was = trained.find(column), is = units.find(column);
    if (was != trained.end() && is != units.end()) {
      require(was->second == is->second, ErrorKind::data,
              "{}: the unit of column '{}' is {}, but the run was trained on {}, where it is {}: convert the "
              "column",
              source, column, is->second, training_source, was->second);
      continue;
    }
    const std::string unit = "the unit " + any;
    spdlog::warn(
        "{}: column '{}' has {}, but the run was trained on {}, where it has {}: the numbers are taken "
        "as they are",
        source, column, is == units.end() ? "no unit" : unit, training_source,
        was == trained.end() ? "no unit" : unit);
  }
}

void require_fits(const DataSummary& run, const data::Series& series) {
  data::require_same_modes(run.modes, series);
  if (run.units) require_same_units(*run.units, run.source, series.units, series.source);
  if (run.known) data::require_same_modes(run.known->modes, *series.known);
  if (run.time.dated && series.time.dated)
    require(run.time.step == series.time.step && run.time.months == series.time.months &&
                run.time.week == series.time.week,
            ErrorKind::data, "{}: its rows are {} apart, but the run was trained on {} with {}",
            series.source, step_text(series.time), run.source, step_text(run.time));
}

int64_t row_offset(const DataSummary& run, const data::Series& series) {
  if (!run.time.dated || !series.time.dated) return 0;
  if (!run.time.week.empty()) return run.time.row_of(series.time.start);
  if (run.time.step > 0) return (series.time.start - run.time.start) / run.time.step;
  const auto months = [](int64_t seconds) {
    const io::CivilTime civil = io::to_civil(seconds);
    return civil.year * 12 + civil.month;
  };
  return (months(series.time.start) - months(run.time.start)) / std::max<int64_t>(run.time.months, 1);
}

data::WindowSource run_source(const DataSummary& run, const data::ForecastDataConfig& config,
                              const data::Series& series, int64_t first, int64_t rows_ahead) {
  std::optional<data::Scaler> known_scaler;
  if (run.known) {
    known_scaler = run.known->scaler;
    if (!run.known->missing)
      data::require_future_covariates(
          series, first, series.rows(),
          fmt::format("the run was trained on {}, where no future covariate is missing", run.source));
  }
  return scaled_source(config, series, run.scaler, known_scaler, run.known && run.known->missing, rows_ahead);
}

models::ForecastInput model_input(const data::WindowBatch& batch, int64_t row_offset) {
  return {batch.past, batch.past_observed,
          row_offset == 0 ? batch.first_step : batch.first_step.add(row_offset), batch.known};
}

models::FittingRows fitting_rows(const data::WindowSource& source, const data::Scaler& scaler) {
  return {source.values(), source.observed(), scaler.mean, scaler.stddev, 0, source.rows(), {}, {},
          source.known()};
}

models::FittingRows fitting_rows(const ForecastData& data) {
  models::FittingRows rows = fitting_rows(data.source, data.scaler);
  const int64_t end = std::max(data.splits.train.end, data.splits.validation.end);
  rows.values = rows.values.narrow(-1, 0, end);
  if (rows.observed.defined()) rows.observed = rows.observed.narrow(-1, 0, end);
  rows.first = data.splits.train.begin;
  rows.last = data.splits.train.end;
  const auto first_rows = [](const data::WindowSet& set) {
    std::vector<int64_t> rows_of(static_cast<size_t>(set.size()));
    for (int64_t window = 0; window < set.size(); ++window)
      rows_of[static_cast<size_t>(window)] = set.first_row(window);
    return rows_of;
  };
  rows.training = first_rows(data.windows.train);
  rows.validation = first_rows(data.windows.validation);
  return rows;
}

at::Tensor cycle_profile(const ForecastData& data, int64_t cycle) {
  const int64_t series = data.series.series_count();
  const std::vector<double> means = scaler_means(data.scaler), stddevs = scaler_stddevs(data.scaler);
  const at::Tensor contiguous = data.series.values.contiguous();
  const data::TensorCells values(contiguous);
  const at::Tensor observed =
      data.series.observed.defined() ? data.series.observed.contiguous() : data.series.observed;
  std::vector<double> sums(static_cast<size_t>(cycle * series)), counts(sums.size());
  std::vector<double> all(static_cast<size_t>(series)), all_counts(all.size());
  for (int64_t row = data.splits.train.begin; row < data.splits.train.end; ++row)
    for (int64_t s = 0; s < series; ++s) {
      if (observed.defined() && !observed.const_data_ptr<bool>()[row * series + s]) continue;
      const auto at = static_cast<size_t>(row % cycle * series + s), place = static_cast<size_t>(s);
      const double value = (values[row * series + s] - means[place]) / stddevs[place];
      sums[at] += value;
      ++counts[at];
      all[place] += value;
      ++all_counts[place];
    }
  std::vector<int64_t> shape = data.series.shape();
  shape.insert(shape.begin(), cycle);
  const at::Tensor profile = at::empty(shape, at::kFloat);
  for (size_t at = 0; at < sums.size(); ++at) {
    const size_t s = at % static_cast<size_t>(series);
    profile.mutable_data_ptr<float>()[at] =
        counts[at] > 0 ? static_cast<float>(sums[at] / counts[at] - all[s] / all_counts[s]) : 0;
  }
  return profile;
}

std::vector<double> scaler_means(const data::Scaler& scaler) {
  return doubles(scaler.mean);
}
std::vector<double> scaler_stddevs(const data::Scaler& scaler) {
  return doubles(scaler.stddev);
}

}  // namespace modewise::tasks
