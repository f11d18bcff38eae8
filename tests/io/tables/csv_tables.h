#pragma once
// CSV tables from texts, for tests.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/tables/csv.h"
#include "tests/io/damage.h"

namespace modewise::io {

inline void try_csv(std::span<const std::byte> bytes) {
  parse_csv(bytes, "file");
}

inline CsvTable table_of(std::string_view text, const CsvOptions& options = {}) {
  return parse_csv(to_bytes(text), "file", options);
}

inline std::vector<std::string> names_of(const CsvTable& table) {
  std::vector<std::string> names;
  for (const CsvColumn& column : table.columns) names.push_back(column.name);
  return names;
}

using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

}  // namespace modewise::io
