#pragma once
// What BERT does to a text before it looks for words (Devlin et al. 2019; BertNormalizer of Hugging Face's
// tokenizers): controls go, every space becomes a plain one, Chinese characters get spaces around them,
// accents go, letters become small.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/tokenizers/tokenizer_json.h"

namespace modewise::text {

/// A text that was changed, and where each of its bytes comes from.
struct NormalizedText {
  struct Source {
    uint32_t begin, end;  // bytes of the text as it was
  };
  std::string text;
  std::vector<Source> sources;  // one a byte of `text`
};

/// `text` may hold any bytes: those that are no UTF-8 count as U+FFFD. It must be shorter than 4 GiB.
NormalizedText bert_normalize(std::string_view text, const io::BertNormalizing& how);

}  // namespace modewise::text
