#include "modewise/data/forecasting/future_covariates.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/name_index.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/forecasting/calendar.h"
#include "modewise/data/forecasting/load_series.h"

namespace modewise::data {
namespace {

/// `config.known`, with categorical columns replaced by their one-hot columns.
std::vector<std::string> known_names(const ForecastDataConfig& config, const Categories& categories) {
  std::vector<std::string> names;
  for (const std::string& name : config.known) {
    const auto words = categories.find(name);
    if (words == categories.end() || words->second.size() == 2)
      names.push_back(name);
    else
      for (const std::string& word : words->second) names.push_back(fmt::format("{}={}", name, word));
  }
  return names;
}

std::vector<size_t> known_positions(const Series& series, const ForecastDataConfig& config) {
  const std::vector<std::string>& labels = series.modes.back().labels;
  const NameIndex places(labels);
  std::vector<bool> taken(labels.size(), false);
  std::vector<size_t> positions;
  for (const std::string& name : known_names(config, series.categories)) {
    const auto position = places.find(name);
    if (!position)
      fail(ErrorKind::config, "data.future_covariates: {} has no column of numbers '{}'{}", series.source,
           name, nearest_name_hint(name, labels));
    require(!taken[*position], ErrorKind::config, "data.future_covariates: duplicate column '{}'", name);
    taken[*position] = true;
    positions.push_back(*position);
  }
  require(positions.size() < labels.size(), ErrorKind::config,
          "data.future_covariates lists all columns of {}, none is left to forecast", series.source);
  return positions;
}

/// Removes the variable mode of a long table with one variable.
void drop_single_variable(Series& series) {
  if (!series.long_layout || series.modes.size() < 2 || series.modes.back().labels.size() > 1) return;
  series.modes.pop_back();
  series.values = series.values.squeeze(-1);
  if (series.observed.defined()) series.observed = series.observed.squeeze(-1);
}

/// A covariate series of `rows` missing rows, with the modes of `like`.
Series all_missing(const Series& like, int64_t rows) {
  Series out = like;
  std::vector<int64_t> shape = like.values.sizes().vec();
  shape[0] = rows;
  out.values = at::zeros(shape, at::kDouble);
  out.observed = at::full(shape, false, at::kBool);
  out.time.length = rows;
  return out;
}

void copy_rows(const Series& from, int64_t first, Series& to, int64_t target, int64_t count) {
  to.values.narrow(0, target, count).copy_(from.values.narrow(0, first, count));
  at::Tensor observed = to.observed.narrow(0, target, count);
  if (from.observed.defined())
    observed.copy_(from.observed.narrow(0, first, count));
  else
    observed.fill_(true);
}

/// Row of `future` at step `step` after `series`; −1: none.
int64_t row_of_step(const Series& future, const Series& series, int64_t step) {
  if (!future.time.dated) return step < future.rows() ? step : -1;
  const int64_t date = series.time.at(series.rows() + step), row = future.time.first_row_at(date);
  return row < future.rows() && future.time.at(row) == date ? row : -1;
}

/// Reads the covariate columns of a file that continues the data.
Series read_known(ForecastDataConfig config, const Series& known, const std::string& path) {
  config.columns = std::exchange(config.known, {});
  config.path = path;
  config.format = "auto";
  config.follows = true;
  config.keeps_empty = true;
  config.simulate.clear();
  config.drop.clear();
  config.start.clear();
  config.step.clear();
  config.mode_names.clear();
  config.ordered_modes.clear();
  config.knock_out = 0;
  const NameIndex used(config.columns);
  const auto unused = [&](const std::string& column) { return !used.contains(column); };
  std::erase_if(config.categories, unused);
  std::erase_if(config.words, [&](const auto& words) { return unused(words.first); });
  Series future = load_series(config);
  if (future.modes.size() < known.modes.size()) {  // a long table with one covariate column
    future.modes.push_back(known.modes.back());
    future.values = future.values.unsqueeze(-1);
    if (future.observed.defined()) future.observed = future.observed.unsqueeze(-1);
  }
  require_same_modes(known.modes, future);
  return future;
}

}  // namespace

void take_known(Series& series, const ForecastDataConfig& config) {
  if (config.known.empty()) return;
  const std::vector<size_t> taken = known_positions(series, config);
  std::vector<bool> is_taken(series.modes.back().labels.size(), false);
  for (const size_t at : taken) is_taken[at] = true;
  std::vector<size_t> rest;
  for (size_t at = 0; at < is_taken.size(); ++at)
    if (!is_taken[at]) rest.push_back(at);
  Series known = with_positions(series, taken);
  known.modes.back().name = "known column";
  known.long_layout.reset();
  series = with_positions(std::move(series), rest);
  if (series.long_layout) series.long_layout->values = series.modes.back().labels;
  drop_single_variable(series);
  const int64_t ahead = end_at_last_value(series);
  series.known = std::make_shared<const Series>(std::move(known));
  std::string note = fmt::format("future covariates, not forecast: {}", fmt::join(config.known, ", "));
  if (ahead > 0)
    note += fmt::format("; {} after the last row with a value to forecast", counted(ahead, "row"));
  series.notes.push_back(std::move(note));
}

bool known_has_gaps(const Series& series) {
  return series.known && series.known->observed.defined() &&
         !series.known->observed.narrow(0, 0, series.rows()).all().item<bool>();
}

FutureCovariateShape known_shape(const ForecastDataConfig& config, const Series& series) {
  FutureCovariateShape shape{calendar_width(config, series.time), 0};
  if (!series.known) return shape;
  shape.modes = std::ssize(series.known->modes) - 1;
  shape.features += std::ssize(series.known->modes.back().labels) * (known_has_gaps(series) ? 2 : 1);
  return shape;
}

at::Tensor future_covariate_features(const ForecastDataConfig& config, const Series& series,
                                     const Scaler& scaler, bool flags, int64_t rows) {
  std::vector<at::Tensor> parts;
  if (series.known) {
    const Series& known = *series.known;
    parts.push_back(scaler.transform(known).narrow(0, 0, rows));
    if (flags)
      parts.push_back(known.observed.defined() ? known.observed.narrow(0, 0, rows).to(at::kFloat)
                                               : at::full(parts[0].sizes(), 1, at::kFloat));
  }
  if (calendar_width(config, series.time) > 0) {
    at::Tensor codes = calendar_codes(config, series.time, rows);
    if (!parts.empty()) {
      std::vector<int64_t> sizes(static_cast<size_t>(parts[0].dim()), 1), wanted = parts[0].sizes().vec();
      sizes.front() = rows;
      sizes.back() = wanted.back() = codes.size(1);
      codes = codes.view(sizes).expand(wanted);
    }
    parts.push_back(codes);
  }
  return parts.empty() ? at::Tensor() : at::cat(parts, -1);
}

std::vector<std::string> known_labels(const ForecastDataConfig& config, const Series& series, bool flags) {
  std::vector<std::string> labels;
  if (series.known)
    for (int repeat = 0; repeat < (flags ? 2 : 1); ++repeat)
      for (const std::string& name : series.known->modes.back().labels) labels.push_back(name);
  const std::vector<std::string> parts = calendar_parts(config, series.time);
  const int64_t codes = parts.empty() ? 0 : calendar_width(config, series.time) / std::ssize(parts);
  for (const std::string& part : parts) labels.insert(labels.end(), static_cast<size_t>(codes), part);
  return labels;
}

void require_future_covariates(const Series& series, int64_t first, int64_t last, const std::string& why) {
  if (!series.known) return;
  const Series& known = *series.known;
  const int64_t width = known.series_count();
  const bool* cells = known.observed.defined() ? known.observed.const_data_ptr<bool>() : nullptr;
  for (int64_t row = first; row < last; ++row)
    for (int64_t i = 0; i < width; ++i)
      if (row >= known.rows() || (cells != nullptr && !cells[row * width + i]))
        fail(ErrorKind::data, "{}: the future covariate '{}' is missing {}{}; {}", series.source,
             known.series_name(i),
             series.time.dated ? "on " + series.time.text_at(row) : fmt::format("in row {}", row + 1),
             row >= series.rows() ? fmt::format(", step {} of the forecast", row - series.rows() + 1)
                                  : std::string(),
             why);
}

void take_future(Series& series, ForecastDataConfig config, const std::string& path, int64_t horizon) {
  require(
      series.known != nullptr, ErrorKind::data,
      "{}: the run was trained without future covariates (data.future_covariates), so there is nothing to "
      "read from it",
      path);
  const Series& known = *series.known;
  const Series future = read_known(std::move(config), known, path);
  require(future.time.dated || series.time_columns.names.empty(), ErrorKind::data,
          "{}: its rows must have dates, as those of {} have", path, series.source);
  Series joined = all_missing(known, series.rows() + horizon);
  copy_rows(known, 0, joined, 0, series.rows());
  std::vector<int64_t> rows_there;
  for (int64_t step = 0; step < horizon; ++step) {
    rows_there.push_back(row_of_step(future, series, step));
    if (rows_there.back() >= 0) copy_rows(future, rows_there.back(), joined, series.rows() + step, 1);
  }
  const auto covered = future.time.dated ? fmt::format("covers {} to {}", future.time.text_at(0),
                                                       future.time.text_at(future.rows() - 1))
                                         : fmt::format("has {}", counted(future.rows(), "row"));
  for (int64_t step = 0; step < horizon; ++step)
    for (int64_t i = 0; i < known.series_count(); ++i) {
      const int64_t row = series.rows() + step, there = rows_there[static_cast<size_t>(step)];
      if (joined.observed.const_data_ptr<bool>()[row * known.series_count() + i]) continue;
      fail(ErrorKind::data,
           "{}: the future covariate '{}' is missing {}, step {} of the forecast; the file {}{}, and the "
           "model "
           "needs all {} of its horizon after the last one of {}{}",
           path, known.series_name(i),
           series.time.dated ? "on " + series.time.text_at(row) : fmt::format("in row {}", step + 1),
           step + 1, covered,
           there < 0 ? "" : fmt::format(" (the cell is empty: {})", future.where(there, i)),
           counted(horizon, "row"), series.source,
           series.time.dated ? fmt::format(", {} to {}", series.time.text_at(series.rows()),
                                           series.time.text_at(series.rows() + horizon - 1))
                             : "");
    }
  joined.place = [before = known.place, after = future.place, rows_there, rows = series.rows(), path](
                     int64_t row, int64_t index) -> std::string {
    if (row < rows) return before ? before(row, index) : fmt::format("row {}", row + 1);
    return after ? after(rows_there[static_cast<size_t>(row - rows)], index) : path;
  };
  series.known = std::make_shared<const Series>(std::move(joined));
}

}  // namespace modewise::data
