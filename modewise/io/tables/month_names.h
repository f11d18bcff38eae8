#pragma once
// English names of months, as tables write them.

#include <array>
#include <optional>
#include <string_view>

namespace modewise::io {

inline constexpr std::array<std::string_view, 12> kMonthNames = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

struct MonthName {
  int month = 1;
  bool full = false;  // else of three letters; Sept counts as such, May as such too
};

/// Of a name in full, of its first three letters or "Sept", in whatever letters.
std::optional<MonthName> find_month(std::string_view name);

}  // namespace modewise::io
