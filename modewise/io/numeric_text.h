#pragma once
// Plain numeric text matrices: numbers separated by commas, semicolons, tabs or spaces, one row per line,
// without header or dates (exchange_rate.txt, solar_AL.txt).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "modewise/io/tables/number_cells.h"

namespace modewise::io {

struct NumericText {
  int64_t rows = 0, columns = 0;
  NumberCells values;  // [rows, columns] in C order; NaN: missing (nan, NA or an empty cell)
};

/// Throws data errors that name file, line and cell.
NumericText parse_numeric_text(std::span<const std::byte> bytes, const std::string& source);
NumericText read_numeric_text(const std::string& path);

}  // namespace modewise::io
