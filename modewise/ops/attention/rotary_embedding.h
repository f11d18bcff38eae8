#pragma once
// Rotary embedding of an attention type: one row of frequencies per level of positions that it compares.

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace modewise::ops {

struct RotaryEmbedding {
  /// [levels, d/2] float64, radians per position: row 0 for tokens (or the last mode), row l for blocks of
  /// level l (or mode m−l). Levels beyond the last row use the last row. Undefined: no rotary embedding.
  at::Tensor frequencies;
  std::vector<double> gains;  // per level: scale of cos and sin (YaRN), indexed like the rows; empty: 1
  at::Tensor positions;       // [n] int64 token positions; undefined: 0 … n−1

  bool used() const { return frequencies.defined(); }
  at::Tensor level_frequencies(int64_t level) const {
    return frequencies[std::min(level, frequencies.size(0) - 1)];
  }
  double gain(int64_t level) const {
    if (gains.empty()) return 1;
    return gains[static_cast<size_t>(std::min<int64_t>(level, static_cast<int64_t>(gains.size()) - 1))];
  }
};

}  // namespace modewise::ops
