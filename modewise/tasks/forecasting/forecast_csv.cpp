#include "modewise/tasks/forecasting/forecast_csv.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>

#include "modewise/data/forecasting/tables/table_time.h"

namespace modewise::tasks {

using report::csv_cell;

std::string cells_text(const std::vector<std::string>& cells, report::CsvReader reader) {
  std::string text;
  for (size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : ",") + csv_cell(cells[i], reader);
  return text;
}

std::string number_text(double value, double unit) {
  constexpr double kNear = 10;                     // standard deviations from 0
  constexpr int kDigits = 7, kMin = 9, kMax = 17;  // of a float32, and of a float64
  if (std::isnan(value)) return "";
  const double distance = std::abs(value) / unit;
  if (!(distance > kNear) && std::abs(value) <= std::numeric_limits<float>::max())
    return fmt::format("{}", static_cast<float>(value));
  const int digits = distance > kNear && std::isfinite(distance)
                         ? std::clamp(kDigits + static_cast<int>(std::log10(distance)), kMin, kMax)
                         : kMin;
  return fmt::format("{}", std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr));
}

std::string value_names(const std::vector<std::string>& names, const std::vector<double>& levels,
                        report::CsvReader reader) {
  std::string text;
  for (const std::string& name : names) {
    text += "," + csv_cell(name, reader);
    for (const double level : levels) text += "," + csv_cell(fmt::format("{}_q{:g}", name, level), reader);
  }
  return text;
}

std::string time_names(const data::TimeColumns& columns, bool dated, report::CsvReader reader) {
  if (!columns.names.empty()) return cells_text(columns.names, reader);
  return dated ? "date" : "row";
}

std::string time_cells(const data::TimeColumns& columns, const std::string& text, int64_t seconds) {
  if (!columns.cells.empty()) {
    std::vector<std::string> cells = data::time_cells(columns, seconds);
    for (std::string& cell : cells) cell = csv_cell(cell);
    return fmt::format("{}", fmt::join(cells, ","));
  }
  if (!columns.parts) return csv_cell(text);
  const io::CivilTime civil = io::to_civil(seconds);
  const std::array<int64_t, 6> parts = {civil.year, civil.month,  civil.day,
                                        civil.hour, civil.minute, civil.second};
  return fmt::format("{}", fmt::join(std::span(parts).first(columns.names.size()), ","));
}

std::string prefixed_rows(std::string_view rows, const std::string& prefix) {
  std::string text;
  bool begins = true, quoted = false;
  for (const char c : rows) {
    if (begins) text += prefix;
    text += c;
    if (c == '"') quoted = !quoted;
    begins = c == '\n' && !quoted;
  }
  return text;
}

}  // namespace modewise::tasks
