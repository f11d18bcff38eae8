#include "modewise/io/tables/month_names.h"

#include <algorithm>

namespace modewise::io {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::optional<MonthName> find_month(std::string_view name) {
  for (size_t i = 0; i < kMonthNames.size(); ++i) {
    const std::string_view full = kMonthNames[i];
    const int month = static_cast<int>(i) + 1;
    if (same_letters(name, full.substr(0, 3))) return MonthName{month, false};
    if (same_letters(name, full)) return MonthName{month, true};
  }
  if (same_letters(name, "Sept")) return MonthName{9, false};
  return std::nullopt;
}

}  // namespace modewise::io
