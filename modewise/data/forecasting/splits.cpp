#include "modewise/data/forecasting/splits.h"

#include <fmt/ranges.h>

#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"

namespace modewise::data {
namespace {

Splits by_ratio(const ForecastDataConfig& config, int64_t rows) {
  const std::vector<double>& ratios = config.split_ratios;
  require(ratios.size() == 3, ErrorKind::config,
          "data.split_ratios: expected three numbers (training, validation, test), got {}", ratios.size());
  require(std::abs(ratios[0] + ratios[1] + ratios[2] - 1) < 1e-6, ErrorKind::config,
          "data.split_ratios: expected numbers that add up to 1, got {} + {} + {} = {:.6g}", ratios[0],
          ratios[1], ratios[2], ratios[0] + ratios[1] + ratios[2]);
  // Truncated like Python's int(), so that the splits match published results.
  const auto train = static_cast<int64_t>(static_cast<double>(rows) * ratios[0]);
  const auto test = static_cast<int64_t>(static_cast<double>(rows) * ratios[2]);
  return {{0, train},
          {train, rows - test},
          {rows - test, rows},
          fmt::format("ratio {} / {} / {}", ratios[0], ratios[1], ratios[2])};
}

Splits as_solar(int64_t rows) {
  const auto train = static_cast<int64_t>(static_cast<double>(rows) * 0.7);
  const auto validation = static_cast<int64_t>(static_cast<double>(rows) * 0.1);
  return {{0, train}, {train, train + validation}, {train + validation, rows}, "solar: 0.7 / 0.1 / rest"};
}

Splits as_ett(const Series& series, const std::string& name, int64_t rows_a_day) {
  const int64_t month = 30 * rows_a_day;
  require(series.rows() >= 20 * month, ErrorKind::data,
          "{}: the split {} (12, 4 and 4 months of 30 days) needs {} rows, got {}", series.source, name,
          20 * month, series.rows());
  return {{0, 12 * month},
          {12 * month, 16 * month},
          {16 * month, 20 * month},
          fmt::format("{}: 12 / 4 / 4 months", name)};
}

/// Parses a split date; an ambiguous day and month are ordered as in `style`, the source's dates.
int64_t split_date(const std::string& text, const io::DateStyle& style) {
  std::optional<io::WrittenDate> date = io::read_date_time(text);
  require(date.has_value(), ErrorKind::config,
          "data.split_dates: expected a date such as 2017-06-01, got '{}'", text);
  if (date->style.order_guessed) {
    require(style.order != io::DateStyle::year_first, ErrorKind::config,
            "data.split_dates: day and month of '{}' are ambiguous; write it as 2017-06-01", text);
    if (style.order != date->style.order) std::swap(date->time.month, date->time.day);
  }
  return io::to_seconds(date->time) - int64_t{date->style.offset_minutes} * 60;
}

Splits by_dates(const ForecastDataConfig& config, const Series& series) {
  const std::vector<std::string>& texts = config.split_dates;
  require(texts.size() == 2 || texts.size() == 3, ErrorKind::config,
          "data.split_dates: expected the first dates of validation and test, and optionally the end of "
          "test, got {}",
          counted(texts.size(), "date"));
  require(series.time.dated, ErrorKind::data, "{}: a split by dates needs dates, this source has none",
          series.source);
  std::vector<int64_t> borders;
  for (const std::string& text : texts)
    borders.push_back(series.time.first_row_at(split_date(text, series.time.style)));
  if (borders.size() == 2) borders.push_back(series.rows());
  return {{0, borders[0]},
          {borders[0], borders[1]},
          {borders[1], borders[2]},
          fmt::format("dates {}", fmt::join(texts, ", "))};
}

}  // namespace

Splits make_splits(const ForecastDataConfig& config, const Series& series) {
  Splits splits;
  if (config.split == "ett_hour")
    splits = as_ett(series, config.split, 24);
  else if (config.split == "ett_minute")
    splits = as_ett(series, config.split, 24 * 4);
  else if (config.split == "solar")
    splits = as_solar(series.rows());
  else if (config.split == "dates")
    splits = by_dates(config, series);
  else
    splits = by_ratio(config, series.rows());
  splits.source = series.source;
  const bool ratio = config.split == "ratio" || config.split == "auto";
  for (const auto& [name, range] :
       {std::pair{"training", splits.train}, std::pair{"validation", splits.validation},
        std::pair{"test", splits.test}})
    require(range.rows() > 0 || (ratio && name == std::string_view("test") && config.split_ratios[2] == 0),
            ErrorKind::data, "{}: the split '{}' leaves no rows for {} ({}, {} to {})", series.source,
            splits.rule, name, counted(series.rows(), "row"), series.time.text_at(0),
            series.time.text_at(series.rows() - 1));
  return splits;
}

}  // namespace modewise::data
