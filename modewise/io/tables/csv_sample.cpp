#include "modewise/io/tables/csv_sample.h"

#include <algorithm>
#include <array>

#include "modewise/core/error.h"

namespace modewise::io {
namespace {

constexpr size_t kSampleRows = 100;
constexpr size_t kSampleCells = 100'000;
constexpr size_t kSampleText = 1000;  // bytes per cell; numbers and dates are shorter

}  // namespace

CsvSample read_csv_sample(std::string_view text, char delimiter, const std::string& source,
                          const LeftOutLines& left_out) {
  CsvSample sample;
  CsvScanner scanner(text, delimiter, source);
  scanner.leave_out(left_out);
  size_t cells = 0;
  try {
    CsvRow row;
    while (sample.rows.size() < kSampleRows && cells < kSampleCells &&
           scanner.row([&](size_t c, std::string_view cell) {
             if (c <= kCsvColumnLimit) row.emplace_back(cell.substr(0, kSampleText));
           })) {
      cells += row.size();
      sample.rows.push_back(std::move(row));
      sample.lines.push_back(scanner.line());
      row = {};
    }
  } catch (const Error&) {
    sample.broken = true;
  }
  return sample;
}

std::vector<CsvColumn::Kind> guess_csv_kinds(const std::vector<CsvRow>& rows, size_t first, size_t columns,
                                             char decimal, const MissingValues& missing, bool plain) {
  std::vector<std::array<size_t, 5>> counts(columns, std::array<size_t, 5>{});
  for (size_t i = first; i < rows.size(); ++i) {
    for (size_t c = 0; c < std::min(columns, rows[i].size()); ++c) {
      ++counts[c][static_cast<size_t>(kind_of(rows[i][c], decimal, missing, plain))];
    }
  }
  std::vector<CsvColumn::Kind> kinds;
  for (const auto& [empty, numbers, dates, texts, marks] : counts)
    kinds.push_back(majority_of(numbers, dates, texts, marks));
  return kinds;
}

}  // namespace modewise::io
