#pragma once
// The header of a CSV file: whether the first row is one, and how its names fit the rows.

#include <cstddef>
#include <string>
#include <vector>

#include "modewise/io/tables/cell_kind.h"
#include "modewise/io/tables/csv_sample.h"

namespace modewise::io {

/// How a header is fitted to rows that all have other numbers of cells.
struct NameFit {
  bool row_names = false;  // the first column has no name
  size_t clock = 0;        // not 0: the column of clock times that share the name of the dates before them
  bool blank_end = false;  // the rows end in a delimiter
  bool spare_end = false;  // the header does

  size_t added() const { return size_t{row_names} + size_t{clock > 0} + size_t{blank_end}; }
  void apply(std::vector<std::string>& names) const;
};

/// Fits the first row to the rows below if all of them have a few cells more or less for a known reason: rows
/// that end in a delimiter, a header that does, row numbers (from 0 or 1) or dates without a name, as R and
/// pandas write them, and spaces between date and clock.
NameFit fit_names(CsvSample& sample, char delimiter);

struct HeaderGuess {
  bool header = false;
  bool warning = false;  // the first row is ambiguous
};

/// Whether the first row is a header: it has text above columns of numbers or dates, or consists of text
/// only, or of distinct integers that look unlike the numbers below them.
HeaderGuess guess_header(const std::vector<CsvRow>& rows, char decimal, const MissingValues& missing,
                         bool plain);

}  // namespace modewise::io
