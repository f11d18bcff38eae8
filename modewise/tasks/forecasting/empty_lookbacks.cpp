#include "modewise/tasks/forecasting/empty_lookbacks.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <vector>

#include "modewise/core/counted.h"

namespace modewise::tasks {
namespace {

constexpr size_t kNamed = 5;  // series in a sentence

/// Row of the last observed value of a series before row `end`; -1: none.
int64_t last_observed(const data::Series& series, int64_t index, int64_t end) {
  const int64_t count = series.series_count();
  const bool* cells = series.observed.const_data_ptr<bool>();
  int64_t row = end - 1;
  while (row >= 0 && !cells[row * count + index]) --row;
  return row;
}

std::string last_value_text(const data::Series& series, int64_t index) {
  const int64_t row = last_observed(series, index, series.rows());
  if (row < 0) return "no value at all";
  return "last value " +
         (series.time.dated ? "on " + series.time.text_at(row) : fmt::format("in row {}", row + 1));
}

std::string listed(const std::vector<std::string>& parts) {
  const std::span<const std::string> shown(parts.data(), std::min(parts.size(), kNamed));
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (parts.size() > kNamed) text += fmt::format(" and {} more", parts.size() - kNamed);
  return text;
}

bool is_left_out(std::span<const int64_t> left_out, int64_t index) {
  return std::ranges::find(left_out, index) != left_out.end();
}

}  // namespace

std::string empty_end_text(const data::Series& series, std::span<const int64_t> left_out, int64_t lookback) {
  if (!series.observed.defined()) return "";
  std::vector<std::string> parts;
  for (int64_t index = 0; index < series.series_count(); ++index)
    if (!is_left_out(left_out, index) &&
        last_observed(series, index, series.rows()) < series.rows() - lookback)
      parts.push_back(fmt::format("'{}' ({})", series.series_name(index), last_value_text(series, index)));
  if (parts.empty()) return "";
  return fmt::format(
      "{}: no value in the last {}, which a forecast reads, of {}: a forecast from there is made without "
      "recent "
      "values of {}, and is often the mean of the training rows",
      series.source, counted(lookback, "row"), listed(parts), parts.size() == 1 ? "it" : "them");
}

void warn_of_empty_lookbacks(const ForecastData& data, const data::WindowSet& windows,
                             const std::string& split) {
  const data::Series& series = data.series;
  if (!series.observed.defined()) return;
  const int64_t lookback = windows.shape().lookback, count = series.series_count();
  const bool* cells = series.observed.const_data_ptr<bool>();
  std::vector<std::string> parts;
  for (int64_t index = 0; index < count; ++index) {
    if (is_left_out(data.scaler.left_out, index)) continue;
    std::vector<int64_t> seen = {0};  // observed values before each row
    for (int64_t row = 0; row < series.rows(); ++row)
      seen.push_back(seen.back() + (cells[row * count + index] ? 1 : 0));
    int64_t empty = 0;
    for (int64_t window = 0; window < windows.size(); ++window) {
      const auto first = static_cast<size_t>(windows.first_row(window));
      empty += seen[first + static_cast<size_t>(lookback)] == seen[first] ? 1 : 0;
    }
    if (empty > 0)
      parts.push_back(fmt::format("'{}' in {} of {} windows ({})", series.series_name(index), empty,
                                  windows.size(), last_value_text(series, index)));
  }
  if (!parts.empty())
    spdlog::warn("{}: {}: no value in the lookback of {}: these forecasts are made without recent values",
                 split, series.source, listed(parts));
}

}  // namespace modewise::tasks
