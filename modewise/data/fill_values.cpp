#include "modewise/data/fill_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace modewise::data {
namespace {

// Never data: compared to a millionth, since float32 and text round them.
constexpr std::array<double, 7> kHuge = {
    1e20, 1e30, 1e36, 9.969209968386869e36, 1e38, 3.4e38, 3.4028234663852886e38};
// Data unless they lie apart from all other numbers.
constexpr std::array<double, 13> kSpecialValues = {-999,    -9999,         -99999,      -999999, -32768,
                                                   -32767,  -2147483648.0, -2147483647, 99999.0, 999999.,
                                                   32767.0, 65535.0,       2147483647};
constexpr size_t kMaxFound = 4;

bool is_huge(double x) {
  const double size = std::abs(x);
  return size > 9e19 && std::any_of(kHuge.begin(), kHuge.end(),
                                    [&](double fill) { return std::abs(size - fill) < 1e-6 * fill; });
}

}  // namespace

bool FillValues::may_be_fill(double x) {
  if (std::abs(x) < 999) return false;
  return is_huge(x) || std::find(kSpecialValues.begin(), kSpecialValues.end(), x) != kSpecialValues.end();
}

void FillValues::count(double x, int64_t place) {
  const auto known =
      std::find_if(candidates_.begin(), candidates_.end(), [&](const Found& one) { return one.value == x; });
  if (known != candidates_.end())
    ++known->count;
  else if (candidates_.size() < kSpecialValues.size() + kMaxFound)
    candidates_.push_back({x, place, 1});
}

void FillValues::widen(double x) {
  if (!std::isfinite(x)) return;
  low_ = std::min(low_, x);
  high_ = std::max(high_, x);
}

std::vector<FillValues::Found> FillValues::found() const {
  std::vector<Found> out;
  for (const Found& one : candidates_) {
    const bool apart = one.value < 0 ? low_ > one.value / 2 : high_ < one.value / 2;
    if ((is_huge(one.value) || (apart && low_ <= high_)) && out.size() < kMaxFound) out.push_back(one);
  }
  return out;
}

std::string fill_text(double value) {
  const auto single = static_cast<float>(value);
  return static_cast<double>(single) == value ? fmt::format("{}", single) : fmt::format("{}", value);
}

}  // namespace modewise::data
