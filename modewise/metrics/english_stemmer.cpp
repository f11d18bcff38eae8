#include "modewise/metrics/english_stemmer.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace modewise::metrics {
namespace {

using Replacement = std::pair<std::string_view, std::string_view>;

constexpr std::array<Replacement, 18> kWholeWords = {{{"skis", "ski"},
                                                      {"skies", "sky"},
                                                      {"dying", "die"},
                                                      {"lying", "lie"},
                                                      {"tying", "tie"},
                                                      {"idly", "idl"},
                                                      {"gently", "gentl"},
                                                      {"ugly", "ugli"},
                                                      {"early", "earli"},
                                                      {"only", "onli"},
                                                      {"singly", "singl"},
                                                      {"sky", "sky"},
                                                      {"news", "news"},
                                                      {"howe", "howe"},
                                                      {"atlas", "atlas"},
                                                      {"cosmos", "cosmos"},
                                                      {"bias", "bias"},
                                                      {"andes", "andes"}}};

/// Invariant once their plural is removed.
constexpr std::array<std::string_view, 8> kWithoutPlural = {"inning",  "outing",  "canning", "herring",
                                                            "earring", "proceed", "exceed",  "succeed"};

constexpr std::array<Replacement, 22> kLongSuffixes = {
    {{"ational", "ate"}, {"fulness", "ful"}, {"iveness", "ive"}, {"ization", "ize"}, {"ousness", "ous"},
     {"biliti", "ble"},  {"lessli", "less"}, {"tional", "tion"}, {"alism", "al"},    {"aliti", "al"},
     {"ation", "ate"},   {"entli", "ent"},   {"fulli", "ful"},   {"iviti", "ive"},   {"ousli", "ous"},
     {"abli", "able"},   {"alli", "al"},     {"anci", "ance"},   {"ator", "ate"},    {"enci", "ence"},
     {"izer", "ize"},    {"bli", "ble"}}};

constexpr std::array<Replacement, 8> kMiddleSuffixes = {{{"ational", "ate"},
                                                         {"tional", "tion"},
                                                         {"alize", "al"},
                                                         {"icate", "ic"},
                                                         {"iciti", "ic"},
                                                         {"ical", "ic"},
                                                         {"ness", ""},
                                                         {"ful", ""}}};

constexpr std::array<std::string_view, 17> kLastSuffixes = {"ement", "able", "ance", "ence", "ible", "ment",
                                                            "ant",   "ate",  "ent",  "ism",  "iti",  "ive",
                                                            "ize",   "ous",  "al",   "er",   "ic"};

bool is_one_of(char c, std::string_view characters) {
  return characters.find(c) != std::string_view::npos;
}

/// A word during stemming; a consonant y is written Y.
class Word {
 public:
  explicit Word(std::string_view word) : text_(word) {
    if (text_[0] == '\'') text_.erase(0, 1);
    for (size_t i = 0; i < text_.size(); ++i)
      if (text_[i] == 'y' && (i == 0 || vowel(i - 1))) text_[i] = 'Y';
    first_ = region_after(start_of_regions());
    second_ = region_after(first_);
  }

  std::string stem() {
    drop_possessive();
    drop_plural();
    if (std::find(kWithoutPlural.begin(), kWithoutPlural.end(), text_) != kWithoutPlural.end()) return text_;
    drop_past_and_gerund();
    replace_last_y();
    replace_long_suffix();
    replace_middle_suffix();
    drop_last_suffix();
    drop_last_e_or_l();
    std::replace(text_.begin(), text_.end(), 'Y', 'y');
    return text_;
  }

 private:
  bool vowel(size_t i) const { return is_one_of(text_[i], "aeiouy"); }
  bool ends(std::string_view suffix) const { return text_.ends_with(suffix); }
  bool in_region(size_t region, std::string_view suffix) const {
    return text_.size() >= region + suffix.size();
  }
  void replace(std::string_view suffix, std::string_view with) {
    text_.replace(text_.size() - suffix.size(), suffix.size(), with);
  }
  bool has_vowel_before(size_t end) const {
    for (size_t i = 0; i < end; ++i)
      if (vowel(i)) return true;
    return false;
  }

  size_t start_of_regions() const {
    for (const std::string_view prefix : {"gener", "commun", "arsen"})
      if (text_.starts_with(prefix)) return prefix.size() - 2;  // its region begins after it
    return 0;
  }
  /// Position after the first consonant that follows a vowel.
  size_t region_after(size_t from) const {
    for (size_t i = from + 1; i < text_.size(); ++i)
      if (vowel(i - 1) && !vowel(i)) return i + 1;
    return text_.size();
  }
  /// Whether the text before `end` ends in consonant, vowel, consonant, the last not w, x or Y.
  bool ends_short(size_t end) const {
    if (end < 2) return false;
    if (end == 2) return vowel(0) && !vowel(1);
    return !vowel(end - 3) && vowel(end - 2) && !vowel(end - 1) && !is_one_of(text_[end - 1], "wxY");
  }

  void drop_possessive() {
    for (const std::string_view suffix : {"'s'", "'s", "'"})
      if (ends(suffix)) return replace(suffix, "");
  }

  void drop_plural() {
    if (ends("sses")) return replace("sses", "ss");
    if (ends("ied") || ends("ies")) return replace("ies", text_.size() > 4 ? "i" : "ie");
    if (!ends("s") || ends("us") || ends("ss")) return;
    if (text_.size() >= 2 && has_vowel_before(text_.size() - 2)) replace("s", "");
  }

  void drop_past_and_gerund() {
    for (const std::string_view suffix : {"eedly", "eed"}) {
      if (!ends(suffix)) continue;
      if (in_region(first_, suffix)) replace(suffix, "ee");
      return;
    }
    for (const std::string_view suffix : {"ingly", "edly", "ing", "ed"}) {
      if (!ends(suffix)) continue;
      if (!has_vowel_before(text_.size() - suffix.size())) return;
      replace(suffix, "");
      return mend();
    }
  }
  /// Restores the stem: hop(p)ing, hop(e)ing.
  void mend() {
    if (ends("at") || ends("bl") || ends("iz")) {
      text_ += 'e';
    } else if (const size_t size = text_.size();
               size >= 2 && text_[size - 1] == text_[size - 2] && is_one_of(text_[size - 1], "bdfgmnprt")) {
      text_.pop_back();
    } else if (first_ >= text_.size() && ends_short(text_.size())) {
      text_ += 'e';
    }
  }

  void replace_last_y() {
    const size_t size = text_.size();
    if (size > 2 && is_one_of(text_[size - 1], "yY") && !vowel(size - 2)) text_[size - 1] = 'i';
  }

  /// True if the word ends in one of the suffixes, which is replaced if it lies in R1.
  bool replace_any(std::span<const Replacement> suffixes) {
    for (const auto& [suffix, with] : suffixes) {
      if (!ends(suffix)) continue;
      if (in_region(first_, suffix)) replace(suffix, with);
      return true;
    }
    return false;
  }

  void replace_long_suffix() {
    if (replace_any(kLongSuffixes)) return;
    const size_t size = text_.size();
    if (ends("logi") && in_region(first_, "ogi")) return replace("ogi", "og");
    if (ends("li") && in_region(first_, "li") && size > 2 && is_one_of(text_[size - 3], "cdeghkmnrt"))
      replace("li", "");
  }

  void replace_middle_suffix() {
    if (replace_any(kMiddleSuffixes)) return;
    if (ends("ative") && in_region(second_, "ative")) replace("ative", "");
  }

  void drop_last_suffix() {
    for (const std::string_view suffix : kLastSuffixes) {
      if (!ends(suffix)) continue;
      if (in_region(second_, suffix)) replace(suffix, "");
      return;
    }
    if ((ends("sion") || ends("tion")) && in_region(second_, "ion")) replace("ion", "");
  }

  void drop_last_e_or_l() {
    if (ends("e")) {
      const bool drops = in_region(second_, "e") || (in_region(first_, "e") && !ends_short(text_.size() - 1));
      if (drops) text_.pop_back();
    } else if (ends("ll") && in_region(second_, "l")) {
      text_.pop_back();
    }
  }

  std::string text_;
  size_t first_ = 0, second_ = 0;  // begins of the regions R1 and R2
};

}  // namespace

std::string english_stem(std::string_view word) {
  const auto whole = std::find_if(kWholeWords.begin(), kWholeWords.end(),
                                  [&](const auto& one) { return one.first == word; });
  if (whole != kWholeWords.end()) return std::string(whole->second);
  if (word.size() <= 2) return std::string(word);
  return Word(word).stem();
}

}  // namespace modewise::metrics
