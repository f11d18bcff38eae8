#include "modewise/data/forecasting/tables/series_ids.h"

#include <fmt/ranges.h>

#include "modewise/core/error.h"

namespace modewise::data {

void SeriesIds::add(const std::vector<std::string>& cells) {
  columns_.resize(cells.size());
  for (size_t i = 0; i < cells.size(); ++i)
    require(columns_[i].push_back(cells[i]), ErrorKind::data, "the ids of {} series take more than 4 GiB",
            size());
}

std::vector<std::string> SeriesIds::operator[](size_t series) const {
  std::vector<std::string> cells;
  for (const io::TextCells& column : columns_) cells.emplace_back(column[series]);
  return cells;
}

std::string SeriesIds::label(size_t series) const {
  return fmt::format("{}", fmt::join((*this)[series], "/"));
}

std::vector<std::string> SeriesIds::labels() const {
  std::vector<std::string> all;
  for (size_t series = 0; series < size(); ++series) all.push_back(label(series));
  return all;
}

}  // namespace modewise::data
