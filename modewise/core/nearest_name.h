#pragma once
// "Did you mean" hints: "unknown key 'lerning_rate', did you mean 'learning_rate'?".

#include <span>
#include <string>
#include <string_view>

namespace modewise {

/// Levenshtein distance in bytes.
size_t edit_distance(std::string_view a, std::string_view b);

/// " (did you mean 'x'?)" for the nearest of `names` if it is near enough, else "".
std::string nearest_name_hint(std::string_view name, std::span<const std::string> names);

/// "a, b, c" for a sentence; a long list is cut to its first 20 names and the count.
std::string listed_names(std::span<const std::string> names);

}  // namespace modewise
