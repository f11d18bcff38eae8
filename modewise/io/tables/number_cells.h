#pragma once
// Compact column of numbers: numbers of few digits (7, -2.75, 1013.2) are integers of 1, 2 or 4 bytes that
// share a power of ten, others doubles. Every number comes back to the bit.

#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <variant>
#include <vector>

namespace modewise::io {

class NumberCells {
 public:
  class const_iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = double;
    using difference_type = std::ptrdiff_t;
    using pointer = const double*;
    using reference = double;

    const_iterator() = default;
    const_iterator(const NumberCells* cells, std::ptrdiff_t index) : cells_(cells), index_(index) {}
    double operator*() const { return (*cells_)[static_cast<size_t>(index_)]; }
    double operator[](difference_type step) const { return *(*this + step); }
    const_iterator& operator++() { return *this += 1; }
    const_iterator& operator--() { return *this -= 1; }
    const_iterator operator++(int) { return {cells_, index_++}; }
    const_iterator operator--(int) { return {cells_, index_--}; }
    const_iterator& operator+=(difference_type step) {
      index_ += step;
      return *this;
    }
    const_iterator& operator-=(difference_type step) { return *this += -step; }
    friend const_iterator operator+(const_iterator at, difference_type step) { return at += step; }
    friend const_iterator operator+(difference_type step, const_iterator at) { return at += step; }
    friend const_iterator operator-(const_iterator at, difference_type step) { return at -= step; }
    friend difference_type operator-(const const_iterator& a, const const_iterator& b) {
      return a.index_ - b.index_;
    }
    bool operator==(const const_iterator&) const = default;
    auto operator<=>(const const_iterator& other) const { return index_ <=> other.index_; }

   private:
    const NumberCells* cells_ = nullptr;
    std::ptrdiff_t index_ = 0;
  };

  NumberCells() = default;
  NumberCells(std::initializer_list<double> numbers) {
    for (const double number : numbers) push_back(number);
  }
  NumberCells(const std::vector<double>& numbers) {  // NOLINT(google-explicit-constructor): the same numbers
    for (const double number : numbers) push_back(number);
  }

  void push_back(double number);
  void reserve(size_t cells);

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  double operator[](size_t index) const {
    if (const auto* bytes = std::get_if<0>(&cells_)) return number_of((*bytes)[index]);
    if (const auto* shorts = std::get_if<1>(&cells_)) return number_of((*shorts)[index]);
    if (const auto* ints = std::get_if<2>(&cells_)) return number_of((*ints)[index]);
    return (*std::get_if<3>(&cells_))[index];
  }
  double front() const { return (*this)[0]; }
  double back() const { return (*this)[size_ - 1]; }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, static_cast<std::ptrdiff_t>(size_)}; }
  size_t bytes_per_cell() const;

  /// As of two vectors: NaN differs from NaN.
  friend bool operator==(const NumberCells& a, const NumberCells& b);

 private:
  template <class Integer>
  static constexpr Integer missing = std::numeric_limits<Integer>::min();
  template <class Integer>
  static constexpr Integer minus_zero = missing<Integer> + 1;
  /// The largest integer for a number; the same below 0.
  template <class Integer>
  static constexpr int64_t largest = std::numeric_limits<Integer>::max() - 1;

  static double number_of(double cell) { return cell; }
  template <class Integer>
  double number_of(Integer cell) const {
    if (cell > minus_zero<Integer>) return static_cast<double>(cell) / divisor_;
    return cell == minus_zero<Integer> ? -0.0 : std::numeric_limits<double>::quiet_NaN();
  }
  bool scale_to(double number);
  void store_as(size_t type, int64_t factor);
  template <class Cell>
  void convert(int64_t factor);
  template <class Cell>
  void append(double number, int64_t whole);

  std::variant<std::vector<int8_t>, std::vector<int16_t>, std::vector<int32_t>, std::vector<double>> cells_;
  double divisor_ = 1;   // the power of ten of the integers
  int64_t maximum_ = 0;  // the largest integer so far, without sign
  size_t size_ = 0, reserved_ = 0;
};

}  // namespace modewise::io
