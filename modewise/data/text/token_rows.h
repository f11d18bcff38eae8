#pragma once
// Texts within their marks side by side, as an encoder takes them.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "modewise/text/text_frame.h"

namespace modewise::data {

/// Tokens of one text within its marks.
text::FramedText framed(const text::TextFrame& frame, std::span<const int64_t> tokens);

struct TokenRows {
  at::Tensor ids, types;  // [B, n] int64
  at::Tensor mask;        // [B, n] bool, true: a token of the text
};

/// Rows side by side, n that of the longest.
TokenRows side_by_side(std::span<const text::FramedText> rows, int64_t padding);

}  // namespace modewise::data
