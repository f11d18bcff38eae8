#include "modewise/data/token_windows.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

#include "modewise/core/error.h"

namespace modewise::data {
namespace {

/// Inputs and targets from sequences of n + 1 tokens.
TokenBatch from_sequences(const std::vector<int64_t>& tokens, int64_t rows, int64_t n) {
  TokenBatch batch{at::empty({rows, n}, at::kLong), at::empty({rows, n}, at::kLong)};
  auto* inputs = batch.inputs.mutable_data_ptr<int64_t>();
  auto* targets = batch.targets.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t* from = tokens.data() + row * (n + 1);
    std::copy(from, from + n, inputs + row * n);
    std::copy(from + 1, from + n + 1, targets + row * n);
  }
  return batch;
}

}  // namespace

TokenStream::TokenStream(TokenPart part, std::optional<int32_t> begin, std::optional<int32_t> end)
    : part_(std::move(part)), begin_(begin), end_(end) {
  for (const TokenSpan& span : part_.spans)
    starts_.push_back(starts_.back() + span.size() + (begin_ ? 1 : 0) + (end_ ? 1 : 0));
}

void TokenStream::read_document(size_t document, int64_t at, int64_t count, int64_t* out) const {
  const TokenSpan& span = part_.spans[document];
  int64_t here = at - (begin_ ? 1 : 0);  // within the document's own tokens
  if (here < 0) {
    *out++ = *begin_;
    ++here;
    --count;
  }
  const int64_t plain = std::clamp<int64_t>(span.size() - here, 0, count);
  part_.file->read(span.begin + std::min(here, span.size()), plain, out);
  if (plain < count) out[plain] = *end_;
}

void TokenStream::read(int64_t at, int64_t count, int64_t* out) const {
  require(size() > 0, ErrorKind::internal, "tokens of an empty stream requested");
  at %= size();
  auto document =
      static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), at) - starts_.begin()) - 1;
  while (count > 0) {
    if (document == part_.spans.size()) {
      document = 0;
      at = 0;
    }
    const int64_t take = std::min(count, starts_[document + 1] - at);
    if (take > 0) read_document(document, at - starts_[document], take, out);
    out += take;
    count -= take;
    at += take;
    ++document;
  }
}

TokenWindows::TokenWindows(const std::string& name, TokenStream stream, int64_t context)
    : stream_(std::move(stream)), context_(context) {
  require(context_ > 0, ErrorKind::config, "a window must have at least one token, got {}", context_);
  require(stream_.size() > context_, ErrorKind::data,
          "the {} text has {} tokens, but a window of {} and its last target need {}", name, stream_.size(),
          context_, context_ + 1);
}

TokenBatch TokenWindows::gather(std::span<const int64_t> windows, int64_t shift) const {
  std::vector<int64_t> tokens(windows.size() * static_cast<size_t>(context_ + 1));
  for (size_t i = 0; i < windows.size(); ++i)
    stream_.read(windows[i] * context_ + shift, context_ + 1,
                 tokens.data() + i * static_cast<size_t>(context_ + 1));
  return from_sequences(tokens, std::ssize(windows), context_);
}

TokenBatch TokenWindows::last() const {
  const int64_t n = rest();
  require(n > 0, ErrorKind::internal, "the last window is whole");
  std::vector<int64_t> tokens(static_cast<size_t>(n + 1));
  stream_.read(size() * context_, n + 1, tokens.data());
  return from_sequences(tokens, 1, n);
}

}  // namespace modewise::data
