#pragma once
// JSON Lines files: one JSON object per line.

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace modewise::io {

/// Calls `each` for every non-empty line, counted from 1. Throws data errors with file and line if a line is
/// not a JSON object.
void for_each_json_line(std::string_view text, const std::string& source,
                        const std::function<void(const nlohmann::json& object, int64_t line)>& each);

}  // namespace modewise::io
