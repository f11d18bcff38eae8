#pragma once
// JSON parser with bounds on nesting and members, used for every document that is read.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace modewise {

/// Maximum nesting. Copying, printing and freeing a document recurse once per level.
constexpr int kMaxJsonDepth = 100;

/// Maximum members of an object in an ordered_json, whose lookups are linear.
constexpr size_t kMaxOrderedMembers = 16384;

/// Parses `text`. Throws data errors that begin with `source` if it is not JSON or exceeds one of the two
/// limits.
template <class Json = nlohmann::ordered_json>
Json parse_json(std::string_view text, const std::string& source);

extern template nlohmann::json parse_json(std::string_view text, const std::string& source);
extern template nlohmann::ordered_json parse_json(std::string_view text, const std::string& source);

}  // namespace modewise
