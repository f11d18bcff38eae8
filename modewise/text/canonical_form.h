#pragma once
// Unicode normalization of texts that are compared.

#include <string>
#include <string_view>

namespace modewise::text {

/// The canonical decomposition (NFD), which is equal for é as one character and as e with an accent. Invalid
/// UTF-8 is kept.
std::string canonical_form(std::string_view text);

}  // namespace modewise::text
