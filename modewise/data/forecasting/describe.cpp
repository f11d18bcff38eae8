#include "modewise/data/forecasting/describe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/data/forecasting/tensor_cells.h"

namespace modewise::data {
namespace {

std::vector<SeriesStatistics> statistics_of(const Series& series) {
  const SeriesMode& mode = series.modes.back();
  const size_t width = mode.labels.size();
  const TensorCells values(series.values);
  const bool* observed = series.observed.defined() ? series.observed.const_data_ptr<bool>() : nullptr;
  const auto cells = static_cast<size_t>(series.values.numel());
  std::vector<SeriesStatistics> all(width);
  std::vector<double> count(width), squares(width);
  for (size_t i = 0; i < width; ++i) {
    all[i].name = mode.labels[i];
    all[i].min = std::numeric_limits<double>::infinity();
    all[i].max = -all[i].min;
  }
  for (size_t cell = 0; cell < cells; ++cell) {
    SeriesStatistics& s = all[cell % width];
    if (observed != nullptr && !observed[cell]) {
      ++s.missing;
      continue;
    }
    // Welford's update: one pass, no cancellation.
    const double value = values[static_cast<int64_t>(cell)], difference = value - s.mean;
    s.mean += difference / ++count[cell % width];
    squares[cell % width] += difference * (value - s.mean);
    s.min = std::min(s.min, value);
    s.max = std::max(s.max, value);
  }
  for (size_t i = 0; i < width; ++i) {
    if (count[i] > 0)
      all[i].stddev = std::sqrt(squares[i] / count[i]);
    else
      all[i].min = all[i].mean = all[i].max = all[i].stddev = std::numeric_limits<double>::quiet_NaN();
  }
  return all;
}

std::vector<Gap> gaps_of(const Series& series) {
  std::vector<Gap> gaps;
  if (!series.observed.defined()) return gaps;
  const int64_t count = series.series_count();
  const bool* observed = series.observed.const_data_ptr<bool>();
  for (int64_t row = 0; row < series.rows(); ++row) {
    if (std::any_of(observed + row * count, observed + (row + 1) * count, [](bool seen) { return seen; }))
      continue;
    if (gaps.empty() || gaps.back().first_row + gaps.back().rows != row) gaps.push_back({row, 0, {}, {}});
    ++gaps.back().rows;
  }
  for (Gap& gap : gaps) {
    gap.first_time = series.time.text_at(gap.first_row);
    gap.last_time = series.time.text_at(gap.first_row + gap.rows - 1);
  }
  return gaps;
}

// The first split begins at row 0, so that no lookback begins before the data.
SplitLine line_of(const std::string& name, SplitRange range, WindowShape shape, const Series& series) {
  SplitLine line{name, range.rows(), 0, series.time.text_at(range.begin), series.time.text_at(range.end - 1)};
  try {
    line.windows = WindowSet(name, range, shape, true).size();
  } catch (const Error&) {  // no window fits: shown as 0; training reports the error
  }
  return line;
}

nlohmann::json number(double x) {
  return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json();
}

}  // namespace

Description describe(const Series& series, const ForecastDataConfig& config, WindowShape shape) {
  Description d;
  d.source = series.source;
  d.rows = series.rows();
  d.cells = series.values.numel();
  d.missing_cells = series.missing_cells();
  d.modes = series.modes;
  d.dated = series.time.dated;
  d.first_time = series.time.text_at(0);
  d.last_time = series.time.text_at(series.rows() - 1);
  d.frequency = series.time.frequency_text();
  d.variables = statistics_of(series);
  d.gaps = gaps_of(series);
  d.notes = series.notes;
  d.notes.insert(d.notes.end(), series.warnings.begin(), series.warnings.end());
  try {
    const Splits splits = make_splits(config, series);
    d.split_rule = splits.rule;
    d.splits = {line_of("training", splits.train, shape, series),
                line_of("validation", splits.validation, shape, series)};
    if (splits.test.rows() > 0) d.splits.push_back(line_of("test", splits.test, shape, series));
  } catch (const Error& error) {
    d.split_problem = error.what();
  }
  return d;
}

nlohmann::json to_json(const Description& d) {
  nlohmann::json variables = nlohmann::json::array(), gaps = nlohmann::json::array(),
                 splits = nlohmann::json::array();
  for (const SeriesStatistics& s : d.variables)
    variables.push_back({{"name", s.name},
                         {"missing", s.missing},
                         {"min", number(s.min)},
                         {"mean", number(s.mean)},
                         {"max", number(s.max)},
                         {"std", number(s.stddev)},
                         {"deviation", number(s.stddev)}});  // old name of std
  for (const Gap& gap : d.gaps)
    gaps.push_back({{"first_row", gap.first_row},
                    {"rows", gap.rows},
                    {"first", gap.first_time},
                    {"last", gap.last_time}});
  for (const SplitLine& line : d.splits)
    splits.push_back({{"name", line.name},
                      {"rows", line.rows},
                      {"windows", line.windows},
                      {"first", line.first_time},
                      {"last", line.last_time}});
  nlohmann::json json = {{"source", d.source},
                         {"rows", d.rows},
                         {"cells", d.cells},
                         {"missing_cells", d.missing_cells},
                         {"modes", to_json(d.modes)},
                         {"dated", d.dated},
                         {"first", d.first_time},
                         {"last", d.last_time},
                         {"frequency", d.frequency},
                         {"variables", variables},
                         {"gaps", gaps},
                         {"splits", splits},
                         {"notes", d.notes}};
  if (d.split_problem.empty())
    json["split_rule"] = d.split_rule;
  else
    json["split_problem"] = d.split_problem;
  return json;
}

}  // namespace modewise::data
