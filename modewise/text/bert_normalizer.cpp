#include "modewise/text/bert_normalizer.h"

#include <algorithm>
#include <array>

#include "modewise/io/utf8.h"
#include "modewise/text/unicode.h"
#include "modewise/text/white_space.h"

namespace modewise::text {
namespace {

using Source = NormalizedText::Source;

constexpr char32_t kReplacement = 0xFFFD;

struct Character {
  char32_t code;
  Source source;
};

bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

/// Applies the steps in BERT's order, character by character.
class Normalizing {
 public:
  Normalizing(const io::BertNormalizing& how, size_t bytes) : how_(how) {
    out_.text.reserve(bytes);
    out_.sources.reserve(bytes);
  }

  void push(char32_t c, Source source) {
    if (how_.clean_text) {
      if (c == 0 || c == kReplacement || (is_other_character(c) && c != '\t' && c != '\n' && c != '\r'))
        return;
      if (is_white_space(c)) c = ' ';
    }
    if (!how_.space_chinese || !is_chinese(c)) {
      decompose(c, source);
      return;
    }
    decompose(' ', source);
    decompose(c, source);
    decompose(' ', source);
  }
  NormalizedText finish() {
    flush();
    return std::move(out_);
  }

 private:
  void decompose(char32_t c, Source source) {
    if (!how_.strip_accents || c < 0x80) {
      if (how_.strip_accents) flush();
      write(c, source);
      return;
    }
    visit_decomposition(c, [&](char32_t part) { sort_in(part, source); });
  }
  /// Combining marks after a character are collected, then sorted by combining class.
  void sort_in(char32_t c, Source source) {
    if (combining_class(c) == 0) {
      flush();
      if (!is_nonspacing_mark(c)) write(c, source);
    } else {
      marks_.push_back({c, source});
    }
  }
  void flush() {
    if (marks_.empty()) return;
    std::stable_sort(marks_.begin(), marks_.end(), [](const Character& a, const Character& b) {
      return combining_class(a.code) < combining_class(b.code);
    });
    for (const Character& mark : marks_)
      if (!is_nonspacing_mark(mark.code)) write(mark.code, mark.source);
    marks_.clear();
  }
  void write(char32_t c, Source source) {
    if (how_.lower_case) {
      if (c == U'İ') {
        append('i', source);
        c = 0x307;
      } else {
        c = c < 0x80 ? (c >= 'A' && c <= 'Z' ? c + 32 : c) : lower_case(c);
      }
    }
    append(c, source);
  }
  void append(char32_t c, Source source) {
    io::append_utf8(out_.text, c);
    out_.sources.resize(out_.text.size(), source);
  }

  const io::BertNormalizing& how_;
  NormalizedText out_;
  std::vector<Character> marks_;
};

}  // namespace

NormalizedText bert_normalize(std::string_view text, const io::BertNormalizing& how) {
  Normalizing out(how, text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = io::utf8_length(text.substr(at));
    const size_t end = at + std::max<size_t>(length, 1);
    const char32_t c = length == 0 ? kReplacement : io::utf8_code_point(text.substr(at, length));
    out.push(c, {static_cast<uint32_t>(at), static_cast<uint32_t>(end)});
    at = end;
  }
  return out.finish();
}

}  // namespace modewise::text
