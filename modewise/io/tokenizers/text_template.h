#pragma once
// What a tokenizer's file puts around one text or two.

#include <cstdint>
#include <vector>

namespace modewise::io {

struct TemplateItem {
  enum class Kind : uint8_t { mark, first, second };
  Kind kind = Kind::mark;
  int32_t mark = 0;  // its token
  int32_t type = 0;  // of a mark, and of all tokens of a text
};

/// Both empty where the file says nothing.
struct TextTemplate {
  std::vector<TemplateItem> single, pair;
};

/// [CLS] A [SEP] and [CLS] A [SEP] B [SEP], where B and the last mark are of type 1.
TextTemplate bert_template(int32_t opening, int32_t closing);
/// <s> A </s> and <s> A </s></s> B </s>, all of type 0.
TextTemplate roberta_template(int32_t opening, int32_t closing);

}  // namespace modewise::io
