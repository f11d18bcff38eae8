#pragma once
// Inputs that the Triton kernels of summary attention share: dense inputs, the rotary table, and the summary
// tokens of all levels (python/modewise/triton/summary_attention.py).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "modewise/ops/attention/fold_levels.h"
#include "modewise/ops/attention/summary_attention.h"
#include "modewise/ops/cuda/launch.h"

namespace modewise::ops::cuda {

/// Tokens of a tile: the rotary table has rows for the tokens of a tile and its window.
inline constexpr int64_t kMaxTile = 128;

struct SummaryInputs {
  SummaryInputs(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                const std::optional<at::Tensor>& latents, const SummaryOptions& options,
                const RotaryEmbedding& rotary);

  int64_t batch() const { return q.size(0); }
  int64_t n() const { return q.size(1); }
  int64_t heads() const { return q.size(2); }
  int64_t groups() const { return k.size(2); }
  /// The rows that a block of `level` summarises, tokens or summary tokens, and their number in a block.
  at::Tensor keys_below(size_t level) const;
  at::Tensor values_below(size_t level) const;
  int64_t children(size_t level) const;
  int64_t count(size_t level) const { return levels[level].finished * summaries; }
  /// Widths, their tiles, types and registers that all kernels have as compile-time parameters.
  std::vector<std::pair<std::string, int64_t>> constants() const;

  at::Tensor q, k, v, latents;     // the last dimension is contiguous
  std::vector<FoldLevel> levels;   // those with complete blocks; sizes above n are capped
  std::vector<int64_t> first;      // summary token of each level, then their number
  std::vector<int64_t> rotations;  // row of the rotary table of each level
  int64_t summaries = 1, window, sinks, far = 0;
  bool given = false;  // positions
  at::Tensor cosine, sine;
  /// Summary tokens [B, all, G, d or e] and logsumexp [B, G, all] of their weights; set by summarise.
  at::Tensor keys, rotated_keys, values, sums;
  at::Tensor table;  // of the levels
};

/// Launches the kernels of all levels' summary tokens.
void summarise(SummaryInputs& inputs);

}  // namespace modewise::ops::cuda
