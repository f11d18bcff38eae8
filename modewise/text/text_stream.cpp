#include "modewise/text/text_stream.h"

#include <algorithm>
#include <utility>

namespace modewise::text {

size_t unfinished_utf8(std::string_view text) {
  for (size_t tail = 1; tail <= std::min<size_t>(3, text.size()); ++tail) {
    const auto byte = static_cast<unsigned char>(text[text.size() - tail]);
    if ((byte & 0xC0) == 0x80) continue;
    if (byte < 0xC2 || byte > 0xF4) return 0;
    const size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    if (tail >= length) return 0;
    if (tail >= 2) {  // overlong forms, surrogates and values beyond U+10FFFF never become characters
      const auto second = static_cast<unsigned char>(text[text.size() - tail + 1]);
      if ((byte == 0xE0 && second < 0xA0) || (byte == 0xED && second > 0x9F) ||
          (byte == 0xF0 && second < 0x90) || (byte == 0xF4 && second > 0x8F)) {
        return 0;
      }
    }
    return tail;
  }
  return 0;
}

TextStream::TextStream(std::shared_ptr<const Tokenizer> tokenizer, bool start)
    : tokenizer_(std::move(tokenizer)), start_(start) {}

std::string TextStream::push(Tokenizer::Id id) {
  tokenizer_->append(id, start_, held_);
  std::string shown = std::move(held_);
  const size_t unfinished = unfinished_utf8(shown);
  held_.assign(shown, shown.size() - unfinished);
  shown.resize(shown.size() - unfinished);
  return shown;
}

std::string TextStream::finish() {
  return std::exchange(held_, {});
}

}  // namespace modewise::text
