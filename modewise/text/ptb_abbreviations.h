#pragma once
// Abbreviations that keep their period when a caption becomes words.

#include <string_view>

namespace modewise::text {

enum class PtbAbbreviation {
  none,
  common,         // "Blvd.": whatever follows
  title,          // "St.": unless a letter follows at once
  before_number,  // "no." before a digit
};

/// Of the letters before a period.
PtbAbbreviation ptb_abbreviation(std::string_view letters);

/// Words after which "row A. The man" is two sentences.
bool opens_a_sentence(std::string_view word);

}  // namespace modewise::text
