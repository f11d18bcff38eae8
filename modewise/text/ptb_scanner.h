#pragma once
// Scanner for the tokens of a caption. At each position every token form is tried; the one with the longest
// reach (including required context) wins, the first in the list of equals.

#include <cstddef>
#include <optional>
#include <string_view>

#include "modewise/text/ptb_characters.h"

namespace modewise::text {

class PtbScanner {
 public:
  explicit PtbScanner(std::string_view text) : text_(text) {}

  /// The next token, unchanged; punctuation marks and spaces are skipped.
  std::optional<std::string_view> next();

 private:
  /// Match of a form at the current position: `length` bytes are the token, `reach` includes the required
  /// context.
  struct Match {
    size_t reach = 0, length = 0;
  };
  using Form = Match (PtbScanner::*)() const;

  // The forms, in their order.
  Match assimilation() const;
  Match word_before_clitic() const;
  Match word_before_not() const;
  Match word() const;
  Match word_with_apostrophe() const;
  Match address() const;
  Match handle() const;
  Match clitic_alone() const;
  Match date() const;
  Match number() const;
  Match fraction() const;
  Match prefix() const;
  Match slashes() const;
  Match money() const;
  Match letter_ending_a_sentence() const;
  Match abbreviation() const;
  Match letters_with_periods() const;
  Match word_with_period() const;
  Match short_year() const;
  Match smiley() const;
  Match repeated() const;
  Match hyphenated() const;
  Match joined() const;
  Match ampersands() const;
  Match opening_quote() const;
  Match character() const;

  // Character tests at byte `at` of the text.
  char byte(size_t at) const { return at < text_.size() ? text_[at] : '\n'; }  // a line end follows the text
  bool is(size_t at, PtbKind kind) const {
    return at < text_.size() && ptb_character(text_.substr(at)).kind == kind;
  }
  bool letter(size_t at) const { return is(at, PtbKind::letter); }
  bool letter_or_digit(size_t at) const { return letter(at) || io::is_digit(byte(at)); }
  bool ascii_letter_or_digit(size_t at) const { return is_ascii_letter(byte(at)) || io::is_digit(byte(at)); }
  bool space(size_t at) const { return at >= text_.size() || is(at, PtbKind::space); }
  bool starts_with(size_t at, std::string_view lower) const;

  // Lengths from byte `at` on; 0 if there is no match.
  template <class Holds>
  size_t run(size_t at, Holds&& holds) const;
  size_t digits(size_t at, size_t maximum) const;
  size_t alphanumerics(size_t at) const;
  size_t ascii_alphanumerics(size_t at) const;
  size_t dotted_word(size_t at) const;
  size_t apostrophe(size_t at) const;
  size_t apostrophe_or_backquote(size_t at) const;
  size_t clitic(size_t at) const;
  size_t dotted_letters(size_t at) const;
  Match with_period(size_t length) const;

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace modewise::text
