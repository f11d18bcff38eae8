#pragma once
// Token windows: documents packed end to end and cut into windows of one length.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/token_file.h"

namespace modewise::data {

/// B sequences of n tokens and the next token of each position.
struct TokenBatch {
  at::Tensor inputs;   // [B, n] int64
  at::Tensor targets;  // [B, n] int64, −1: not predicted
};

/// Stream of N tokens: each document with its begin and end tokens.
class TokenStream {
 public:
  TokenStream() = default;
  TokenStream(TokenPart part, std::optional<int32_t> begin, std::optional<int32_t> end);

  int64_t size() const { return starts_.back(); }
  /// Tokens at, at + 1 … of the stream, which wraps around at its end.
  void read(int64_t at, int64_t count, int64_t* out) const;
  const TokenPart& part() const { return part_; }

 private:
  void read_document(size_t document, int64_t at, int64_t count, int64_t* out) const;

  TokenPart part_;
  std::optional<int32_t> begin_, end_;
  std::vector<int64_t> starts_ = {0};  // start of each document in the stream, and the end
};

/// Window w covers tokens w·n … w·n + n of the stream, so that every token but the first is a target once.
class TokenWindows {
 public:
  TokenWindows() = default;
  /// Data error naming `name` if the stream is shorter than one window of `context` tokens and a target.
  TokenWindows(const std::string& name, TokenStream stream, int64_t context);

  /// Number of whole windows.
  int64_t size() const { return (stream_.size() - 1) / context_; }
  int64_t context() const { return context_; }
  const TokenStream& stream() const { return stream_; }
  /// Number of targets after the last whole window.
  int64_t rest() const { return (stream_.size() - 1) % context_; }
  /// Gathers windows, each shifted by `shift` tokens. Thread-safe.
  TokenBatch gather(std::span<const int64_t> windows, int64_t shift = 0) const;
  /// The shorter window after the last whole one; rest() must not be 0.
  TokenBatch last() const;

 private:
  TokenStream stream_;
  int64_t context_ = 1;
};

}  // namespace modewise::data
