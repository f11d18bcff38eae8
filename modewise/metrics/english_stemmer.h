#pragma once
// English stemmer: Porter2 ("English" of Snowball, as of 2014), for METEOR.

#include <string>
#include <string_view>

namespace modewise::metrics {

/// Stem of `word` (lower case). Words of one or two letters and non-ASCII words are returned unchanged.
std::string english_stem(std::string_view word);

}  // namespace modewise::metrics
