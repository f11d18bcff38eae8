#pragma once
// llama2.c checkpoints: a header of seven int32, then float32 weights. Version 0 ("legacy") ends with rotary
// tables of cosines and sines; a negative vocabulary size means that classifier and embedding are not tied.
// Version 1 begins with the magic number "ak42" and has a header of 256 bytes. Rows of query and key weights
// are in interleaved rotary order.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "modewise/core/byte_sink.h"

namespace modewise::io {

struct Llama2cHeader {
  int version = 0;
  int32_t width = 0, hidden = 0, layers = 0, heads = 0, kv_heads = 0, vocabulary = 0, context = 0;
  bool tied = true;

  int64_t head_width() const { return width / heads; }
  int64_t kv_width() const { return head_width() * kv_heads; }
};

/// The weights of all layers, concatenated, float32 little endian; views of the parsed bytes.
struct Llama2cWeights {
  std::span<const std::byte> embedding;                  // [V, D]
  std::span<const std::byte> attention_norm, feed_norm;  // [L, D]
  std::span<const std::byte> query, key, value, out;     // [L, D, D], [L, kv, D] twice, [L, D, D]
  std::span<const std::byte> gate, down, up;             // w1 [L, M, D], w2 [L, D, M], w3 [L, M, D]
  std::span<const std::byte> final_norm;                 // [D]
  std::span<const std::byte> classifier;                 // [V, D]; empty when tied
};

struct Llama2cCheckpoint {
  Llama2cHeader header;
  Llama2cWeights weights;
};

/// Throws data errors that name `source` and the broken rule; sizes are checked before use, and the file must
/// hold exactly the declared weights.
Llama2cCheckpoint parse_llama2c(std::span<const std::byte> bytes, const std::string& source);

/// One of the weights.
using Llama2cPart = std::span<const std::byte> Llama2cWeights::*;
/// Writes the bytes of one of the weights to a sink.
using GiveLlama2cPart = std::function<void(Llama2cPart, const ByteSink&)>;

/// Writes a file of header.version (0 or 1), streaming the weights from `give`. Throws data errors where
/// weights do not fit the header.
void write_llama2c(const Llama2cHeader& header, const GiveLlama2cPart& give, const ByteSink& sink);
/// The same as a string.
std::string format_llama2c(const Llama2cCheckpoint& checkpoint);

}  // namespace modewise::io
