#include <bit>
#include <cmath>

#include "modewise/io/number_text.h"
#include "modewise/io/tables/number_cells.h"
#include "modewise/io/tables/written_number.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

namespace {

// A plain number is a written number of the same value in the format without thousands.
void check_cell(std::string_view cell, NumberCells& cells) {
  const WrittenNumber written = read_written_number(cell);
  for (size_t i = 0; i < kNumberFormats.size(); ++i) {
    double value = 0;
    const bool read = parse_written_number(cell, kNumberFormats[i], value);
    expect(read == ((written.formats >> i & 1) != 0) && (!read || std::isfinite(value)));
  }
  for (const char decimal : {'.', ','}) {
    double plain = 0, same = 0;
    bool marked = false;
    if (!parse_number(cell, decimal, plain, marked)) continue;
    expect(std::isfinite(plain) && parse_number(cell, decimal, same) && same == plain);
    cells.push_back(plain);
    expect(std::bit_cast<uint64_t>(cells.back()) == std::bit_cast<uint64_t>(plain));
    if (parse_written_number(cell, {decimal, 0}, same)) expect(same == plain);
  }
  const std::string_view before = without_flag(cell), unit = unit_behind(cell);
  expect(cell.find(before) != std::string_view::npos && cell.find(unit) != std::string_view::npos);
  is_missing_mark(cell);
  for (size_t at = 0; at < cell.size(); ++at)
    if (cell[at] == '.' || cell[at] == ',') could_group(cell, at);
}

}  // namespace

// The cells are the lines of the input.
FUZZ_TARGET(number_text) {
  std::string_view text = input_text(data, size);
  NumberCells cells;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    check_cell(text.substr(0, end), cells);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return 0;
}
