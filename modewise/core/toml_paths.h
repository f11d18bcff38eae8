#pragma once
// The names of the keys in a TOML text.

#include <set>
#include <string>
#include <string_view>

namespace modewise {

/// The dotted paths of all keys with a value ("model.head.norm"). A config error that `source` opens where
/// the text is not TOML.
std::set<std::string> toml_paths(std::string_view text, const std::string& source);

}  // namespace modewise
