#pragma once
// Fill values: numbers that usually stand for a missing value, such as 1e20 of climate data, 9.96921e36 of
// NetCDF, −3.4e38 and −9999 of rasters, −32768 of 16-bit integers.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace modewise::data {

/// Finds fill values in a stream of numbers.
class FillValues {
 public:
  /// Counts `x` if it may be a fill value; `place` is returned with the first of equal ones.
  void see(double x, int64_t place) {
    if (may_be_fill(x))
      count(x, place);
    else if (x < low_ || x > high_)
      widen(x);
  }

  struct Found {
    double value = 0;
    int64_t first = 0, count = 0;
  };
  /// The fill values, in the order of their first places, at most 4. ±1e20, 9.96921e36, 3.4e38 and the
  /// like always are; −9999, 32767 and the like only if no other number is beyond half of them.
  std::vector<Found> found() const;

 private:
  static bool may_be_fill(double x);
  void count(double x, int64_t place);
  void widen(double x);

  std::vector<Found> candidates_;
  double low_ = std::numeric_limits<double>::infinity();  // of the other numbers
  double high_ = -std::numeric_limits<double>::infinity();
};

/// The shortest text of a value that is read as the same float32 if it is one, else as the same double.
std::string fill_text(double value);

}  // namespace modewise::data
