#pragma once
// Unicode properties for BERT's normalizer (make_unicode_tables.py documents the Unicode versions).

#include <cstddef>
#include <cstdint>

namespace modewise::text {

/// Controls, formats and private use: general category C without unassigned code points.
bool is_other_character(char32_t c);
/// General category P.
bool is_punctuation(char32_t c);
/// General category Mn.
bool is_nonspacing_mark(char32_t c);
/// The lower case of one character; İ, whose lower case has two, is unchanged.
char32_t lower_case(char32_t c);

/// One step of a canonical decomposition; first is 0 if there is none, second is 0 for a single character.
struct Decomposition {
  char32_t first = 0, second = 0;
};
/// Excludes Hangul, which decomposes algorithmically.
Decomposition decomposition_step(char32_t c);
/// Canonical combining class, the sort key of combining marks.
int combining_class(char32_t c);

}  // namespace modewise::text
