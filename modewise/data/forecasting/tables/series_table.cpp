#include "modewise/data/forecasting/tables/series_table.h"

#include <algorithm>
#include <numeric>

namespace modewise::data {

std::map<std::string, std::string> SeriesTable::units() const {
  std::map<std::string, std::string> out;
  for (const size_t value : values)
    if (const io::CsvColumn& column = table.columns[value]; !column.unit.empty())
      out[column.name] = column.unit;
  return out;
}

DatesBySeries dates_by_series(std::span<const int64_t> dates, std::span<const int32_t> series) {
  const auto series_of = [&](size_t row) { return series.empty() ? 0 : static_cast<size_t>(series[row]); };
  size_t count = 1;
  for (size_t row = 0; row < series.size(); ++row) count = std::max(count, series_of(row) + 1);
  DatesBySeries grouped;
  grouped.begins.assign(count + 1, 0);
  for (size_t row = 0; row < dates.size(); ++row) ++grouped.begins[series_of(row) + 1];
  std::partial_sum(grouped.begins.begin(), grouped.begins.end(), grouped.begins.begin());
  std::vector<size_t> next(grouped.begins.begin(), grouped.begins.end() - 1);
  grouped.dates.resize(dates.size());
  for (size_t row = 0; row < dates.size(); ++row) grouped.dates[next[series_of(row)]++] = dates[row];
  const auto at = [&](size_t place) { return grouped.dates.begin() + static_cast<std::ptrdiff_t>(place); };
  for (size_t s = 0; s < count; ++s) {
    const auto begin = at(grouped.begins[s]), end = at(grouped.begins[s + 1]);
    if (!std::is_sorted(begin, end)) std::sort(begin, end);
  }
  return grouped;
}

}  // namespace modewise::data
