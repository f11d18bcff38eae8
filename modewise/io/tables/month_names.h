#pragma once
// English month names in tables.

#include <array>
#include <optional>
#include <string_view>

namespace modewise::io {

inline constexpr std::array<std::string_view, 12> kMonthNames = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

struct MonthName {
  int month = 1;
  bool full = false;  // otherwise three letters; Sept and May count as three letters
};

/// The month of a full name, its first three letters or "Sept"; case-insensitive.
std::optional<MonthName> find_month(std::string_view name);

}  // namespace modewise::io
