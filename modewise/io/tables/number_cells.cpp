#include "modewise/io/tables/number_cells.h"

#include <algorithm>
#include <type_traits>

namespace modewise::io {
namespace {

constexpr double kMaxDivisor = 1e9;

/// `number` times `divisor` if that is an integer of 4 bytes and gives the number back, else INT64_MIN.
int64_t whole_of(double number, double divisor) {
  const double product = number * divisor;
  if (!(std::abs(product) < std::numeric_limits<int32_t>::max())) return INT64_MIN;
  const auto whole = static_cast<int64_t>(product + std::copysign(0.5, product));
  return static_cast<double>(whole) / divisor == number ? whole : INT64_MIN;
}

}  // namespace

void NumberCells::push_back(double number) {
  int64_t whole = 0;
  const bool special = std::isnan(number) || number == 0;
  if (cells_.index() < 3 && !special) {
    whole = whole_of(number, divisor_);
    if (whole == INT64_MIN && scale_to(number)) whole = whole_of(number, divisor_);
    if (whole != INT64_MIN) maximum_ = std::max(maximum_, std::abs(whole));
    if (whole == INT64_MIN)
      store_as(3, 1);
    else if (maximum_ > largest<int16_t>)
      store_as(2, 1);
    else if (maximum_ > largest<int8_t>)
      store_as(1, 1);
  }
  switch (cells_.index()) {
    case 0:
      append<int8_t>(number, whole);
      break;
    case 1:
      append<int16_t>(number, whole);
      break;
    case 2:
      append<int32_t>(number, whole);
      break;
    default:
      append<double>(number, whole);
  }
  ++size_;
}

template <class Cell>
void NumberCells::append(double number, int64_t whole) {
  auto& cells = *std::get_if<std::vector<Cell>>(&cells_);
  if constexpr (std::is_same_v<Cell, double>)
    cells.push_back(number);
  else if (std::isnan(number))
    cells.push_back(missing<Cell>);
  else if (number == 0 && std::signbit(number))
    cells.push_back(minus_zero<Cell>);
  else
    cells.push_back(static_cast<Cell>(whole));
}

/// Takes a larger power of ten under which `number` is an integer too; false if there is none.
bool NumberCells::scale_to(double number) {
  for (double divisor = divisor_ * 10; divisor <= kMaxDivisor; divisor *= 10) {
    if (whole_of(number, divisor) == INT64_MIN) continue;
    const auto factor = static_cast<int64_t>(divisor / divisor_);
    if (maximum_ * factor > largest<int32_t>) return false;
    const int64_t maximum = maximum_ * factor;
    const size_t type = maximum > largest<int16_t> ? 2 : maximum > largest<int8_t> ? 1 : 0;
    store_as(std::max(type, cells_.index()), factor);
    maximum_ = maximum;
    divisor_ = divisor;
    return true;
  }
  return false;
}

/// Stores the numbers as type `type` of cells_, integers times `factor`.
void NumberCells::store_as(size_t type, int64_t factor) {
  if (type == cells_.index() && factor == 1) return;
  switch (type) {
    case 0:
      return convert<int8_t>(factor);
    case 1:
      return convert<int16_t>(factor);
    case 2:
      return convert<int32_t>(factor);
    default:
      return convert<double>(factor);
  }
}

template <class Cell>
void NumberCells::convert(int64_t factor) {
  std::vector<Cell> converted;
  converted.reserve(std::max(reserved_, size_));
  const auto each = [&](auto cell) {
    using Old = decltype(cell);
    if constexpr (std::is_same_v<Cell, double> || std::is_same_v<Old, double>)
      converted.push_back(static_cast<Cell>(number_of(cell)));
    else
      converted.push_back(cell == missing<Old>      ? missing<Cell>
                          : cell == minus_zero<Old> ? minus_zero<Cell>
                                                    : static_cast<Cell>(cell * factor));
  };
  std::visit([&](const auto& cells) { std::for_each(cells.begin(), cells.end(), each); }, cells_);
  cells_ = std::move(converted);
}

void NumberCells::reserve(size_t cells) {
  reserved_ = cells;
  std::visit([&](auto& some) { some.reserve(cells); }, cells_);
}

size_t NumberCells::bytes_per_cell() const {
  return std::visit([](const auto& cells) { return sizeof(cells[0]); }, cells_);
}

bool operator==(const NumberCells& a, const NumberCells& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace modewise::io
