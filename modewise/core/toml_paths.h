#pragma once
// Key paths of a TOML document, and their replacement.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace modewise {

/// The dotted paths of all keys with a value ("model.head.norm"). Throws a config error that begins with
/// `source` if the text is not TOML.
std::set<std::string> toml_paths(std::string_view text, const std::string& source);
/// The document, without comments, without the keys whose dotted paths are `removed`, and with strings of
/// dotted paths. Errors as toml_paths.
std::string toml_with(std::string_view text, const std::string& source,
                      const std::function<bool(const std::string& path)>& removed,
                      const std::map<std::string, std::string>& strings);

}  // namespace modewise
