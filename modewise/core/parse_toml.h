#pragma once
// TOML parser used for every TOML text. Internal: toml++ is slow to compile.

#include <toml++/toml.h>

#include <string>
#include <string_view>

namespace modewise {

/// Parses `text`. Throws a config error "SOURCE:LINE:COLUMN: …" if it is not TOML.
toml::table parse_toml(std::string_view text, const std::string& source);

}  // namespace modewise
