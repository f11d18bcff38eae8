#include "modewise/data/label_cells.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>

#include "modewise/io/number_text.h"
#include "modewise/io/tables/cell_kind.h"

namespace modewise::data {

std::string_view cell_text(std::string_view cell) {
  static const io::MissingValues missing(io::CsvOptions().missing, '.');
  cell = io::strip_spaces(cell);
  return missing.contains(cell) ? std::string_view() : cell;
}

std::string without_fraction(std::string_view text, char decimal) {
  constexpr double kAboveExactIntegers = 0x1p53;
  const std::string_view digits = text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0);
  const bool zeros = digits.size() > 1 && digits[0] == '0' && digits[1] != decimal;
  const bool exponent = text.find_first_of("eE") != std::string_view::npos;
  double number = 0;
  if (!io::parse_number(text, decimal, number) || std::abs(number) >= kAboveExactIntegers ||
      (zeros && !exponent) || (number != std::floor(number) && !exponent))
    return std::string(text);
  return fmt::format("{}", number);
}

ClassNames::ClassNames(const io::TextCells& cells, char decimal) : decimal_(decimal) {
  std::map<std::string, std::string, std::less<>> written;
  for (const std::string_view cell : cells) {
    const std::string_view text = cell_text(cell);
    const auto [first, is_new] = written.emplace(without_fraction(text, decimal), text);
    as_written_ = as_written_ || (!is_new && first->second != text);
  }
}

std::string ClassNames::of(std::string_view cell) const {
  const std::string_view text = cell_text(cell);
  return as_written_ ? std::string(text) : without_fraction(text, decimal_);
}

}  // namespace modewise::data
