#include "modewise/text/ptb_scanner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "modewise/text/ptb_abbreviations.h"

namespace modewise::text {
namespace {

/// Lookahead limit in bytes over characters of one kind, which keeps the work linear in the text.
constexpr size_t kFarthest = 256;

bool is_one_of(char c, std::string_view characters) {
  return characters.find(c) != std::string_view::npos;
}

}  // namespace

std::optional<std::string_view> PtbScanner::next() {
  static constexpr std::array<Form, 26> kForms = {&PtbScanner::assimilation,
                                                  &PtbScanner::word_before_clitic,
                                                  &PtbScanner::word_before_not,
                                                  &PtbScanner::word,
                                                  &PtbScanner::word_with_apostrophe,
                                                  &PtbScanner::address,
                                                  &PtbScanner::handle,
                                                  &PtbScanner::clitic_alone,
                                                  &PtbScanner::date,
                                                  &PtbScanner::number,
                                                  &PtbScanner::fraction,
                                                  &PtbScanner::prefix,
                                                  &PtbScanner::slashes,
                                                  &PtbScanner::money,
                                                  &PtbScanner::letter_ending_a_sentence,
                                                  &PtbScanner::abbreviation,
                                                  &PtbScanner::letters_with_periods,
                                                  &PtbScanner::word_with_period,
                                                  &PtbScanner::short_year,
                                                  &PtbScanner::smiley,
                                                  &PtbScanner::repeated,
                                                  &PtbScanner::hyphenated,
                                                  &PtbScanner::joined,
                                                  &PtbScanner::ampersands,
                                                  &PtbScanner::opening_quote,
                                                  &PtbScanner::character};
  while (at_ < text_.size()) {
    Match best;
    for (const Form form : kForms) {
      const Match match = (this->*form)();
      if (match.reach > best.reach) best = match;
    }
    const size_t from = at_;
    if (best.length > 0) {
      at_ += best.length;
      return text_.substr(from, best.length);
    }
    at_ += ptb_character(text_.substr(at_)).bytes;  // a space or punctuation
  }
  return std::nullopt;
}

bool PtbScanner::starts_with(size_t at, std::string_view lower) const {
  const std::string_view part = text_.substr(std::min(at, text_.size()), lower.size());
  return std::equal(part.begin(), part.end(), lower.begin(), lower.end(),
                    [](char c, char wanted) { return io::to_lower(c) == wanted; });
}

template <class Holds>
size_t PtbScanner::run(size_t at, Holds&& holds) const {
  size_t end = at;
  while (end < text_.size() && end - at < kFarthest && holds(end))
    end += ptb_character(text_.substr(end)).bytes;
  return end - at;
}

size_t PtbScanner::digits(size_t at, size_t maximum) const {
  size_t length = 0;
  while (length < maximum && io::is_digit(byte(at + length))) ++length;
  return length;
}

size_t PtbScanner::alphanumerics(size_t at) const {
  return run(at, [&](size_t i) { return letter_or_digit(i); });
}

size_t PtbScanner::ascii_alphanumerics(size_t at) const {
  return run(at, [&](size_t i) { return ascii_letter_or_digit(i); });
}

/// Letters and digits after a letter; also a period, ! or ? if a letter follows.
size_t PtbScanner::dotted_word(size_t at) const {
  if (!letter(at)) return 0;
  size_t length = alphanumerics(at);
  while (is_one_of(byte(at + length), ".!?") && letter(at + length + 1))
    length += 1 + alphanumerics(at + length + 1);
  return length;
}

size_t PtbScanner::apostrophe(size_t at) const {
  return is(at, PtbKind::apostrophe) ? ptb_character(text_.substr(at)).bytes : 0;
}

size_t PtbScanner::apostrophe_or_backquote(size_t at) const {
  if (byte(at) == '`') return 1;
  if (text_.substr(std::min(at, text_.size())).starts_with("\u2018")) return 3;
  return apostrophe(at);
}

/// 's 'm 'd 're 've 'll
size_t PtbScanner::clitic(size_t at) const {
  const size_t mark = apostrophe(at);
  if (mark == 0) return 0;
  for (const std::string_view two : {"re", "ve", "ll"})
    if (starts_with(at + mark, two)) return mark + 2;
  return is_one_of(io::to_lower(byte(at + mark)), "msd") ? mark + 1 : 0;
}

/// "p.m.": letters, each with its period.
size_t PtbScanner::dotted_letters(size_t at) const {
  size_t length = 0;
  while (is_ascii_letter(byte(at + length)) && byte(at + length + 1) == '.') length += 2;
  return length;
}

/// "fence.,": the period belongs to the word before it if a comma or colon follows.
PtbScanner::Match PtbScanner::with_period(size_t length) const {
  const size_t end = at_ + length;
  if (length > 0 && byte(end) == '.' && is_one_of(byte(end + 1), ",;:")) return {length + 2, length + 1};
  return {length, length};
}

/// Two words written as one; the second is found next.
PtbScanner::Match PtbScanner::assimilation() const {
  static constexpr std::array<std::pair<std::string_view, size_t>, 11> kTogether = {{{"cannot", 3},
                                                                                     {"'twas", 2},
                                                                                     {"'tis", 2},
                                                                                     {"gonna", 3},
                                                                                     {"gotta", 3},
                                                                                     {"lemme", 3},
                                                                                     {"gimme", 3},
                                                                                     {"wanna", 3},
                                                                                     {"c++", 3},
                                                                                     {"c#", 2},
                                                                                     {"f#", 2}}};
  for (const auto& [whole, first] : kTogether)
    if (starts_with(at_, whole)) return {whole.size(), first};
  return {};
}

PtbScanner::Match PtbScanner::word_before_clitic() const {
  const size_t length = dotted_word(at_);
  const size_t follows = length > 0 ? clitic(at_ + length) : 0;
  return follows > 0 ? Match{length + follows, length} : Match{};
}

/// "do" of "don't"
PtbScanner::Match PtbScanner::word_before_not() const {
  const size_t letters = run(at_, [&](size_t i) { return is_ascii_letter(byte(i)); });
  if (letters < 2 || io::to_lower(byte(at_ + letters - 1)) != 'n' ||
      io::to_lower(byte(at_ + letters - 2)) == 'n')
    return {};
  const size_t mark = apostrophe_or_backquote(at_ + letters);
  if (mark == 0 || io::to_lower(byte(at_ + letters + mark)) != 't') return {};
  return {letters + mark + 1, letters - 1};
}

PtbScanner::Match PtbScanner::word() const {
  const size_t length = dotted_word(at_);
  return {length, length};
}

/// Apostrophes that belong to a word: 'n', 'em, '90s, ma'am, O'Brien, c'mon.
PtbScanner::Match PtbScanner::word_with_apostrophe() const {
  size_t longest = 0;
  const auto take = [&](size_t length) { longest = std::max(longest, length); };
  if (const size_t mark = apostrophe(at_); mark > 0) {
    if (io::to_lower(byte(at_ + mark)) == 'n') take(mark + 1 + apostrophe(at_ + mark + 1));
    if (is_one_of(byte(at_ + mark), "23456789") && starts_with(at_ + mark + 1, "0s")) take(mark + 3);
    for (const std::string_view rest : {"em", "til", "till", "cause", "twas"})
      if (starts_with(at_ + mark, rest)) take(mark + rest.size());
    return {longest, longest};
  }
  if (!letter(at_)) return {};
  for (const std::string_view whole : {"dunkin'", "somethin'", "ol'", "cont'd", "cont'd.", "nor'easter",
                                       "c'mon", "e'er", "s'mores", "ev'ry", "li'l", "nat'l", "o'o"})
    if (starts_with(at_, whole)) take(whole.size());
  const char first = byte(at_);
  if (const size_t mark = apostrophe_or_backquote(at_ + 1); mark > 0) {
    const size_t letters = run(at_ + 1 + mark, [&](size_t i) { return letter(i); });
    if (is_one_of(io::to_lower(first), "ldj")) take(1 + apostrophe(at_ + 1));
    if (((is_ascii_upper(first) && first != 'I' && first != 'Y') || first == 'n') && letters >= 2)
      take(1 + mark + letters);
    if (io::to_lower(first) == 'y' && letter(at_ + 1 + mark)) return {2 + mark, 1 + mark};
  }
  const size_t letters = run(at_, [&](size_t i) { return letter(i); });
  const size_t mark = letters >= 2 ? apostrophe_or_backquote(at_ + letters) : 0;
  const char after = byte(at_ + letters + mark);
  if (mark > 0 && is_one_of(io::to_lower(byte(at_ + letters - 1)), "aeiouy") &&
      (is_one_of(after, "aeiou") || is_ascii_upper(after)))
    take(letters + mark + run(at_ + letters + mark, [&](size_t i) { return letter(i); }));
  return {longest, longest};
}

/// Web and mail addresses.
PtbScanner::Match PtbScanner::address() const {
  if (!ascii_letter_or_digit(at_)) return {};
  const bool web = starts_with(at_, "http://") || starts_with(at_, "https://");
  size_t length = run(at_, [&](size_t i) { return !space(i) && !is_one_of(byte(i), "\"<>|(){}"); });
  while (length > 0 && is_one_of(byte(at_ + length - 1), web ? ".!?,-" : ".")) --length;
  const size_t at_sign = text_.substr(at_, length).find('@');
  const bool mail = at_sign != std::string_view::npos && at_sign + 1 < length;
  return web || mail ? Match{length, length} : Match{};
}

/// @name, #subject
PtbScanner::Match PtbScanner::handle() const {
  size_t length = 0;
  if (byte(at_) == '@' && (is_ascii_letter(byte(at_ + 1)) || byte(at_ + 1) == '_'))
    length = run(at_ + 1, [&](size_t i) { return ascii_letter_or_digit(i) || byte(i) == '_'; });
  else if (byte(at_) == '#')
    length = run(at_ + 1, [&](size_t i) { return letter(i); });
  return length > 0 ? Match{length + 1, length + 1} : Match{};
}

PtbScanner::Match PtbScanner::clitic_alone() const {
  size_t length = clitic(at_);
  if (length == 0 && io::to_lower(byte(at_)) == 'n')
    if (const size_t mark = apostrophe_or_backquote(at_ + 1);
        mark > 0 && io::to_lower(byte(at_ + 1 + mark)) == 't')
      length = mark + 2;
  if (length == 0) return {};
  return {length + (is_ascii_letter(byte(at_ + length)) ? 0 : 1), length};
}

PtbScanner::Match PtbScanner::date() const {
  size_t length = 0;
  for (int part = 0; part < 2; ++part) {
    const size_t number = digits(at_ + length, 2);
    if (number == 0 || !is_one_of(byte(at_ + length + number), "-/")) return {};
    length += number + 1;
  }
  const size_t year = digits(at_ + length, 4);
  return year >= 2 ? Match{length + year, length + year} : Match{};
}

/// -5, 3.5, 1,000, 5:30
PtbScanner::Match PtbScanner::number() const {
  const size_t sign = is_one_of(byte(at_), "+-") ? 1 : 0;
  size_t length = sign + digits(at_ + sign, kFarthest);
  while (is_one_of(byte(at_ + length), ".:,") && io::is_digit(byte(at_ + length + 1)))
    length += 1 + digits(at_ + length + 1, kFarthest);
  return length > sign ? Match{length, length} : Match{};
}

/// 3/4, 22 3/4, 22-3/4
PtbScanner::Match PtbScanner::fraction() const {
  const auto plain = [&](size_t at) -> size_t {
    const size_t above = digits(at, 4);
    const size_t below = above > 0 && byte(at + above) == '/' ? digits(at + above + 1, 4) : 0;
    return below > 0 ? above + 1 + below : 0;
  };
  const size_t whole = digits(at_, 4);
  if (whole == 0) return {};
  const size_t mixed = is_one_of(byte(at_ + whole), " -") ? plain(at_ + whole + 1) : 0;
  const size_t length = mixed > 0 ? whole + 1 + mixed : plain(at_);
  return {length, length};
}

/// pro-, anti-; and two words that a clitic would split.
PtbScanner::Match PtbScanner::prefix() const {
  for (const std::string_view whole : {"anti-", "pro-", "cap'n", "c'est", "c.d.s"})
    if (starts_with(at_, whole)) return {whole.size(), whole.size()};
  return {};
}

/// black/white, on-off/in-out, a/b/c
PtbScanner::Match PtbScanner::slashes() const {
  const auto part = [&](size_t at) {
    size_t length = ascii_alphanumerics(at);
    for (int hyphens = 0; length > 0 && hyphens < 2 && byte(at + length) == '-'; ++hyphens) {
      const size_t letters = run(at + length + 1, [&](size_t i) { return is_ascii_letter(byte(i)); });
      if (letters == 0) break;
      length += 1 + letters;
    }
    return length;
  };
  size_t length = part(at_);
  for (int slash = 0; slash < 2; ++slash) {
    const size_t next = length > 0 && byte(at_ + length) == '/' ? part(at_ + length + 1) : 0;
    if (next == 0) return slash > 0 ? Match{length, length} : Match{};
    length += 1 + next;
  }
  return {length, length};
}

/// US$
PtbScanner::Match PtbScanner::money() const {
  const size_t letters = run(at_, [&](size_t i) { return is_ascii_upper(byte(i)); });
  return byte(at_ + letters) == '$' ? Match{letters + 1, letters + 1} : Match{};
}

/// "row A. The man": the letter loses its period.
PtbScanner::Match PtbScanner::letter_ending_a_sentence() const {
  const size_t length = dotted_letters(at_);
  if (length == 0) return {};
  const size_t spaces = run(at_ + length, [&](size_t i) { return space(i); });
  const size_t begin = at_ + length + spaces;
  const size_t letters = run(begin, [&](size_t i) { return !space(i); });
  if (spaces == 0 || !opens_a_sentence(text_.substr(std::min(begin, text_.size()), letters))) return {};
  return {length + spaces + letters + 1, length == 2 ? 1 : length};
}

PtbScanner::Match PtbScanner::abbreviation() const {
  const size_t letters = run(at_, [&](size_t i) { return is_ascii_letter(byte(i)); });
  if (letters == 0 || byte(at_ + letters) != '.') return {};
  const size_t length = letters + 1;
  if (starts_with(at_, "ph.d.") || starts_with(at_, "ed.d.")) return {7, 5};
  switch (ptb_abbreviation(text_.substr(at_, letters))) {
    case PtbAbbreviation::common:
      return {length + 2, length};
    case PtbAbbreviation::title:
      return {length, length};
    case PtbAbbreviation::before_number: {
      const size_t gap = byte(at_ + length) == ' ' ? 1 : 0;
      return io::is_digit(byte(at_ + length + gap)) ? Match{length + gap + 1, length} : Match{};
    }
    case PtbAbbreviation::none:
      return {};
  }
  return {};
}

PtbScanner::Match PtbScanner::letters_with_periods() const {
  const size_t length = dotted_letters(at_);
  return {length, length};
}

PtbScanner::Match PtbScanner::word_with_period() const {
  return with_period(dotted_word(at_));
}

/// '90
PtbScanner::Match PtbScanner::short_year() const {
  const size_t mark = apostrophe(at_);
  if (mark == 0 || digits(at_ + mark, 2) < 2 || !space(at_ + mark + 2)) return {};
  return {mark + 3, mark + 2};
}

/// :) ;-) =D
PtbScanner::Match PtbScanner::smiley() const {
  size_t length = is_one_of(byte(at_), "<>") ? 1 : 0;
  if (!is_one_of(byte(at_ + length), ":;=")) return {};
  ++length;
  const auto mouth = [&](size_t at) { return is_one_of(byte(at), "()DPdpO\\{@|[]"); };
  if (is_one_of(byte(at_ + length), "-o*'") && mouth(at_ + length + 1)) ++length;
  if (!mouth(at_ + length)) return {};
  ++length;
  return ascii_letter_or_digit(at_ + length) ? Match{} : Match{length + 1, length};
}

/// Repeated marks: ---, ?!, ***, ##
PtbScanner::Match PtbScanner::repeated() const {
  for (const std::string_view characters : {"-", "?!", "*", "#", "@", "_"}) {
    const size_t length = run(at_, [&](size_t i) { return is_one_of(byte(i), characters); });
    if (length > 0) return {length, length};
  }
  return {};
}

/// Words joined by hyphens, the first with any periods and commas: 3.5-inch, a,b-c, pre-U.S.
PtbScanner::Match PtbScanner::hyphenated() const {
  if (!ascii_letter_or_digit(at_)) return {};
  size_t length = run(at_, [&](size_t i) { return ascii_letter_or_digit(i) || is_one_of(byte(i), ".,"); });
  bool joins = false;
  while (byte(at_ + length) == '-') {
    const size_t letters = dotted_letters(at_ + length + 1);
    const size_t part = letters >= 4 ? letters : ascii_alphanumerics(at_ + length + 1);
    if (part == 0) break;
    length += 1 + part;
    joins = true;
  }
  return joins ? with_period(length) : Match{};
}

/// Letters and digits of any script joined by any hyphen; o'clock, d'Angelo.
PtbScanner::Match PtbScanner::joined() const {
  const auto part = [&](size_t at) -> size_t {
    if (is_one_of(io::to_lower(byte(at)), "dol")) {
      const size_t mark = apostrophe_or_backquote(at + 1);
      const size_t rest = mark > 0 ? alphanumerics(at + 1 + mark) : 0;
      if (rest >= 2) return 1 + mark + rest;
    }
    return alphanumerics(at);
  };
  size_t length = part(at_);
  while (length > 0 && is(at_ + length, PtbKind::hyphen)) {
    const size_t hyphen = ptb_character(text_.substr(at_ + length)).bytes;
    const size_t next = part(at_ + length + hyphen);
    if (next == 0) break;
    length += hyphen + next;
  }
  return with_period(length);
}

/// AT&T
PtbScanner::Match PtbScanner::ampersands() const {
  const auto capitals = [&](size_t at) { return run(at, [&](size_t i) { return is_ascii_upper(byte(i)); }); };
  size_t length = capitals(at_);
  const size_t first = length;
  while (length > 0 && is_one_of(byte(at_ + length), "&+")) {
    const size_t next = capitals(at_ + length + 1);
    if (next == 0) break;
    length += 1 + next;
  }
  return length > first ? with_period(length) : Match{};
}

/// 'quoted: drops the quote, where a clitic would take the first letter. '' is one token.
PtbScanner::Match PtbScanner::opening_quote() const {
  if (starts_with(at_, "''")) return {2, 2};
  const bool opens = byte(at_) == '\'' && is_ascii_letter(byte(at_ + 1)) && !space(at_ + 2);
  return {opens ? size_t{3} : size_t{0}, 0};
}

/// Any other character.
PtbScanner::Match PtbScanner::character() const {
  const PtbCharacter one = ptb_character(text_.substr(at_));
  if (one.kind != PtbKind::symbol && (one.kind != PtbKind::hyphen || one.bytes > 1)) return {};
  return {one.bytes, one.bytes};
}

}  // namespace modewise::text
