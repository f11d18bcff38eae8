#pragma once
// Numbers of things in sentences.

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace modewise {

/// "1 row", "3 rows", "2 classes".
template <std::integral Count>
std::string counted(Count count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : noun.ends_with('s') ? "es" : "s");
}

/// The verb after such a number: "is" or "are".
template <std::integral Count>
std::string_view is_or_are(Count count) {
  return count == 1 ? "is" : "are";
}

}  // namespace modewise
