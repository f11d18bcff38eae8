#pragma once
// JSON of files: the one way in which documents are read.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace modewise {

/// Levels that a document may have. What copies, prints or frees a document calls itself at each of them.
constexpr int kMaxJsonDepth = 100;

/// Members that an object of an ordered_json may have: it looks for each among those before it.
constexpr size_t kMaxOrderedMembers = 16384;

/// The document of `text`. Throws data errors that begin with `source` when it is not JSON, has more levels
/// or, as ordered_json, an object with more members.
template <class Json = nlohmann::ordered_json>
Json parse_json(std::string_view text, const std::string& source);

extern template nlohmann::json parse_json(std::string_view text, const std::string& source);
extern template nlohmann::ordered_json parse_json(std::string_view text, const std::string& source);

}  // namespace modewise
