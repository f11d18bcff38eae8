#pragma once
// Key paths of a TOML document.

#include <set>
#include <string>
#include <string_view>

namespace modewise {

/// The dotted paths of all keys with a value ("model.head.norm"). Throws a config error that begins with
/// `source` if the text is not TOML.
std::set<std::string> toml_paths(std::string_view text, const std::string& source);

}  // namespace modewise
