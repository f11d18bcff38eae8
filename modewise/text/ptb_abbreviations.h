#pragma once
// Abbreviations that keep their period in caption tokenization.

#include <string_view>

namespace modewise::text {

enum class PtbAbbreviation {
  none,
  common,         // "Blvd.": in any context
  title,          // "St.": unless a letter follows immediately
  before_number,  // "no." before a digit
};

/// Kind of abbreviation of the letters before a period.
PtbAbbreviation ptb_abbreviation(std::string_view letters);

/// Whether `word` begins a sentence: "row A. The man" is two sentences.
bool opens_a_sentence(std::string_view word);

}  // namespace modewise::text
