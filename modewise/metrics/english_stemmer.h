#pragma once
// Stems of English words by Porter's second algorithm ("English" of Snowball, as of 2014), which METEOR
// matches by.

#include <string>
#include <string_view>

namespace modewise::metrics {

/// `word` in lower case. Words of one or two letters are their own stems, and so is what is no ASCII.
std::string english_stem(std::string_view word);

}  // namespace modewise::metrics
