#pragma once
// Files of JSON objects, one a line.

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace modewise::io {

/// Calls `each` for every line that is not empty, counted from 1. Throws data errors with file and line for
/// one that is no JSON object.
void for_each_json_line(std::string_view text, const std::string& source,
                        const std::function<void(const nlohmann::json& object, int64_t line)>& each);

}  // namespace modewise::io
