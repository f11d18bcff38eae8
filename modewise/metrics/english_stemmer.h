#pragma once
// English stemmer of Snowball (Porter2), for METEOR: libstemmer's.

#include <string>
#include <string_view>

namespace modewise::metrics {

/// Stem of `word` (lower case). Words of one or two letters and non-ASCII words are returned unchanged.
std::string english_stem(std::string_view word);

}  // namespace modewise::metrics
