#pragma once
// Encoder batches: token ids with special tokens, padding masks and token types.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "modewise/text/text_frame.h"

namespace modewise::data {

/// One text with its special tokens.
text::FramedText framed(const text::TextFrame& frame, std::span<const int64_t> tokens);

struct TokenRows {
  at::Tensor ids, types;  // [B, n] int64
  at::Tensor mask;        // [B, n] bool, padding mask: true for tokens
};

/// Pads rows to the longest and stacks them.
TokenRows side_by_side(std::span<const text::FramedText> rows, int64_t padding);

}  // namespace modewise::data
