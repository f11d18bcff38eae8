#pragma once
// Parts of the AttentionCache implementations: token chunks, growing row buffers, position encoding.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/outer.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "modewise/ops/attention/attention_cache.h"
#include "modewise/ops/attention/rotary.h"

namespace modewise::ops {

/// Appended tokens from position `first` on. q [B, t, H, d], k [B, t, G, d], v [B, t, G, e].
struct Piece {
  at::Tensor q, k, v;
  int64_t first;

  int64_t size() const { return q.size(1); }
  Piece part(int64_t begin, int64_t count) const {
    return {q.narrow(1, begin, count), k.narrow(1, begin, count), v.narrow(1, begin, count), first + begin};
  }
};

class AttentionCache::Memory {
 public:
  virtual ~Memory() = default;
  virtual at::Tensor attend(const Piece& piece) = 0;  // appends the tokens too
  virtual void keep(const Piece& piece) = 0;
  virtual int64_t bytes() const = 0;
};

inline int64_t bytes_of(const at::Tensor& x) {
  return x.defined() ? x.numel() * x.element_size() : 0;
}

/// Growing buffer of rows [B, rows, G, d]; the capacity doubles, up to `maximum` rows.
class Rows {
 public:
  explicit Rows(int64_t maximum = std::numeric_limits<int64_t>::max()) : maximum_(maximum) {}

  void append(const at::Tensor& rows) {
    const int64_t count = rows.size(1);
    extend(rows, count);
    room_.narrow(1, count_ - count, count).copy_(rows);
  }
  /// Appends `count` uninitialised rows, with all other sizes and options of `like`.
  void extend(const at::Tensor& like, int64_t count) {
    if (!room_.defined() || count_ + count > room_.size(1)) {
      std::vector<int64_t> shape = like.sizes().vec();
      shape[1] = grown(count_, count, maximum_);
      const auto grown = at::empty(shape, like.options());
      if (count_ > 0) grown.narrow(1, 0, count_).copy_(all());
      room_ = grown;
    }
    count_ += count;
  }
  /// New capacity when `added` more than `count` rows do not fit.
  static int64_t grown(int64_t count, int64_t added, int64_t maximum) {
    return std::max(std::min(maximum, std::max<int64_t>(2 * count, 16)), count + added);
  }
  at::Tensor all() const { return room_.narrow(1, 0, count_); }
  void clear() { count_ = 0; }
  int64_t count() const { return count_; }
  int64_t bytes() const { return bytes_of(room_); }

 private:
  int64_t maximum_, count_ = 0;
  at::Tensor room_;
};

class PositionEncoding {
 public:
  explicit PositionEncoding(RotaryEmbedding rotary) : rotary_(std::move(rotary)) {}
  const RotaryEmbedding& rotary() const { return rotary_; }
  /// Rotates x [B, t, H, d] to positions first, first + 1, …, or all to `first` when `still`.
  at::Tensor turn(const at::Tensor& x, int64_t level, int64_t first, bool still = false) const {
    if (!rotary_.used()) return x;
    const auto frequencies = rotary_.level_frequencies(level);
    const auto angles =
        still || x.size(1) == 1
            ? (frequencies * static_cast<double>(first)).expand({x.size(1), -1})
            : at::outer(at::arange(first, first + x.size(1), frequencies.options()), frequencies);
    return ops::rotary(x, angles, rotary_.gain(level));
  }

 private:
  RotaryEmbedding rotary_;
};

}  // namespace modewise::ops
