#pragma once
// Ids of the series of a long table, in compact columns: there may be millions of series.

#include <cstddef>
#include <string>
#include <vector>

#include "modewise/io/tables/text_cells.h"

namespace modewise::data {

class SeriesIds {
 public:
  /// Adds a series with one cell for each id column. Data error above 4 GiB of texts.
  void add(const std::vector<std::string>& cells);

  size_t size() const { return columns_.empty() ? 0 : columns_[0].size(); }
  /// The cells of a series.
  std::vector<std::string> operator[](size_t series) const;
  /// The cells of a series, joined by "/".
  std::string label(size_t series) const;
  std::vector<std::string> labels() const;

 private:
  std::vector<io::TextCells> columns_;
};

}  // namespace modewise::data
