#pragma once
// Special tokens around one text or a pair of texts (the post-processor of a tokenizer file).

#include <cstdint>
#include <vector>

namespace modewise::io {

struct TemplateItem {
  enum class Kind : uint8_t { mark, first, second };
  Kind kind = Kind::mark;
  int32_t mark = 0;  // id of the special token
  int32_t type = 0;  // token type of a special token, or of all tokens of a text
};

/// Templates for one text and for a pair; both empty if the file has none.
struct TextTemplate {
  std::vector<TemplateItem> single, pair;
};

/// [CLS] A [SEP] and [CLS] A [SEP] B [SEP], where B and the last [SEP] have type 1.
TextTemplate bert_template(int32_t opening, int32_t closing);
/// <s> A </s> and <s> A </s></s> B </s>, all with type 0.
TextTemplate roberta_template(int32_t opening, int32_t closing);

}  // namespace modewise::io
