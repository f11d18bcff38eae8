#pragma once
// BERT text normalizer (Devlin et al. 2019; BertNormalizer of Hugging Face tokenizers): removes control
// characters, replaces white space by spaces, puts spaces around Chinese characters, strips accents,
// lowercases.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/tokenizers/tokenizer_json.h"

namespace modewise::text {

/// Normalized text with the source offsets of each byte.
struct NormalizedText {
  struct Source {
    uint32_t begin, end;  // byte range of the original text
  };
  std::string text;
  std::vector<Source> sources;  // one per byte of `text`
};

/// `text` may have any bytes: invalid UTF-8 counts as U+FFFD. It must be shorter than 4 GiB.
NormalizedText bert_normalize(std::string_view text, const io::BertNormalizing& how);

}  // namespace modewise::text
