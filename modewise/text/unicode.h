#pragma once
// What characters are to BERT's normalizer (make_unicode_tables.py says by which version of Unicode).

#include <cstddef>
#include <cstdint>

namespace modewise::text {

/// Controls, formats and private use: general category C, but for what is not assigned.
bool is_other_character(char32_t c);
/// General category P.
bool is_punctuation(char32_t c);
/// General category Mn.
bool is_nonspacing_mark(char32_t c);
/// The lower case of one character; İ, whose lower case is two, stays.
char32_t lower_case(char32_t c);

/// One step of a canonical decomposition; first is 0 where there is none, second where one character takes
/// the place.
struct Decomposition {
  char32_t first = 0, second = 0;
};
/// Without Hangul, which decomposes by rule.
Decomposition decomposition_step(char32_t c);
/// Canonical combining class: marks of different ones are sorted by it.
int combining_class(char32_t c);

}  // namespace modewise::text
