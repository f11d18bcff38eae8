// Simulates the buffer growth of attention_cache.cpp and summary_memory.cpp; a test compares every attention
// type with a filled cache.

#include "modewise/ops/attention/cache_size.h"

#include <algorithm>
#include <limits>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/attention/attention_memory.h"
#include "modewise/ops/attention/attention_type_parts.h"
#include "modewise/ops/attention/fold_levels.h"

namespace modewise::ops {
namespace {

constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

/// Row count and capacity of a Rows buffer, without its contents.
class RowBuffer {
 public:
  explicit RowBuffer(int64_t maximum = kEndless) : maximum_(maximum) {}

  void add(int64_t rows) {
    if (rows <= 0) return;
    if (count_ + rows > capacity_) {
      before_ = capacity_;
      capacity_ = Rows::grown(count_, rows, maximum_);
    }
    count_ += rows;
  }
  /// Appends `step` rows `times` times; only steps that grow the buffer are simulated.
  void add_each(int64_t step, int64_t times) {
    const int64_t end = count_ + step * times;
    while (end > capacity_) {
      count_ += (capacity_ - count_) / step * step;
      add(step);
    }
    count_ = std::max(count_, end);
  }
  int64_t count() const { return count_; }

  /// Adds this buffer with rows of `width` bytes to the sum.
  void join(double width, CacheBytes& sum) const {
    sum.kept += static_cast<double>(capacity_) * width;
    sum.moving = std::max(sum.moving, static_cast<double>(before_) * width);
    sum.read += static_cast<double>(count_) * width;
  }

 private:
  int64_t maximum_, count_ = 0, capacity_ = 0, before_ = 0;
};

/// Calls body(first, count) for every prompt chunk.
template <class Body>
void for_chunks(const CachedText& text, const Body& body) {
  const int64_t chunk = std::max<int64_t>(text.chunk, 1);
  for (int64_t first = 0; first < text.prompt; first += chunk)
    body(first, std::min(chunk, text.prompt - first));
}

}  // namespace

CacheBytes tokens_cache(const TensorAttentionOptions& /*options*/, const CacheShape& /*shape*/,
                        const CachedText& text, double row) {
  RowBuffer buffer;
  for_chunks(text, [&](int64_t, int64_t count) { buffer.add(count); });
  buffer.add_each(1, text.tokens);
  CacheBytes out;
  buffer.join(row, out);  // keys
  buffer.join(row, out);  // values
  return out;
}

// Keys, the values of each key head, and for each mode but the last the stage's values of each query head.
CacheBytes stages_cache(const TensorAttentionOptions& options, const CacheShape& shape,
                        const CachedText& text, double row) {
  RowBuffer buffer;
  buffer.add_each(1, text.prompt + text.tokens);
  CacheBytes out;
  buffer.join(row, out);
  buffer.join(row, out);
  for (size_t mode = 1; mode < options.fold.size(); ++mode)
    buffer.join(row * static_cast<double>(shape.heads / shape.kv_heads), out);
  return out;
}

namespace {

/// The first or last `maximum` tokens: rows that grow with the chunks in which SummaryMemory appends tokens.
CacheBytes some_tokens(int64_t maximum, int64_t block, const CachedText& text, double row) {
  RowBuffer buffer(maximum);
  const auto grow_to = [&](int64_t end) { buffer.add(std::min(maximum, end) - buffer.count()); };
  for_chunks(text, [&](int64_t first, int64_t count) {
    for (int64_t part; count > 0 && buffer.count() < maximum; first += part, count -= part) {
      part = std::min({count, kCachePart, block - first % block});
      grow_to(first + part);
    }
  });
  buffer.add_each(1, std::min(maximum, text.prompt + text.tokens) - buffer.count());
  CacheBytes out;
  buffer.join(row, out);
  buffer.join(row, out);
  return out;
}

/// Summary tokens of complete siblings, and the sums of the partial block.
CacheBytes summaries_of(const FoldLevel& level, const CacheShape& shape, int64_t tokens, double row) {
  const int64_t finished = tokens / level.tokens, maximum = kept_summary_tokens(level, shape.summary_tokens);
  RowBuffer buffer(maximum);
  buffer.add_each(shape.summary_tokens, std::min(finished, level.siblings - 1));
  CacheBytes out;
  buffer.join(row, out);
  buffer.join(row, out);
  out.read = 2 * row * static_cast<double>(finished % level.siblings * shape.summary_tokens);
  const double open = static_cast<double>(shape.kv_heads * shape.summary_tokens * 2 * (shape.width + 1)) *
                      static_cast<double>(c10::elementSize(accumulate_type(shape.type)));
  out.kept += open;
  out.read += open;
  return out;
}

}  // namespace

CacheBytes summary_cache(const TensorAttentionOptions& options, const CacheShape& shape,
                         const CachedText& text, double row) {
  const std::vector<FoldLevel> levels =
      attention_type(options.type).latents ? cached_levels(options.fold) : std::vector<FoldLevel>();
  const int64_t block = levels.empty() ? kCachePart : levels[0].tokens;
  CacheBytes out;
  const auto add = [&](const CacheBytes& part) {
    out.kept += part.kept;
    out.moving = std::max(out.moving, part.moving);
    out.read += part.read;
  };
  add(some_tokens(window_of(options, kEndless), block, text, row));
  if (attention_type(options.type).sinks) add(some_tokens(options.sinks, block, text, row));
  if (text.prompt + text.tokens == 0) return out;
  for (const FoldLevel& level : levels) add(summaries_of(level, shape, text.prompt + text.tokens, row));
  return out;
}

CacheBytes cache_bytes(const TensorAttentionOptions& options, const CacheShape& shape,
                       const CachedText& text) {
  const double row =
      static_cast<double>(shape.kv_heads * shape.width) * static_cast<double>(c10::elementSize(shape.type));
  const AttentionType& type = attention_type(options.type);
  TORCH_CHECK_VALUE(type.cache != nullptr, "cache_bytes: form ", options.type, " has no cache");
  return type.cache(options, shape, text, row);
}

}  // namespace modewise::ops
