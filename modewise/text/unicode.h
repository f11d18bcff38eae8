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
/// Calls `visit` for each character of the canonical decomposition of `c`, in order.
template <class Visit>
void visit_decomposition(char32_t c, Visit&& visit) {
  constexpr char32_t kHangul = 0xAC00, kLeading = 0x1100, kVowel = 0x1161, kTail = 0x11A7;
  if (c >= kHangul && c < kHangul + 11172) {
    const char32_t index = c - kHangul;
    visit(kLeading + index / 588);
    visit(kVowel + index % 588 / 28);
    if (index % 28 > 0) visit(kTail + index % 28);
    return;
  }
  const Decomposition step = decomposition_step(c);
  if (step.first == 0) return visit(c);
  visit_decomposition(step.first, visit);
  if (step.second != 0) visit_decomposition(step.second, visit);
}
/// Canonical combining class, the sort key of combining marks.
int combining_class(char32_t c);

}  // namespace modewise::text
