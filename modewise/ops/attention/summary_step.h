#pragma once
// One incremental decoding step of types window, lambda and summary: tokens are written to the ring buffer,
// attend to it, to the first tokens and to the summary tokens of complete blocks, and update the partial
// block. Tokens are processed in order: each attends only to earlier ones.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "modewise/ops/attention/rotary_embedding.h"

namespace modewise::ops {

/// Rows of keys [B, rows, G, d] and values [B, rows, G, e], contiguous within a sample.
struct KeyRows {
  at::Tensor keys, values;
};

/// Partial blocks, in the accumulate type: each latent's online softmax over the rows so far, with sums not
/// yet divided by the denominator. Undefined: no blocks.
struct PartialBlocks {
  at::Tensor latents;       // [G, r, d]
  at::Tensor high, total;   // [B, G, r, 1]: running maximum, sum of exp(logit − high)
  at::Tensor keys, values;  // [B, G, r, d], [B, G, r, e]

  bool used() const { return latents.defined(); }
};

/// Summary tokens of complete siblings of a level, as visible from one block of it.
struct VisibleSummaries {
  KeyRows rows;       // rotated by their positions
  int64_t place = 0;  // index of the tokens' block among its siblings
  double excess = 0;  // subtracted from the logits
};

struct StepOptions {
  int64_t first = 0;   // position of the first token
  int64_t window = 1;  // token t is at row t mod window of the ring buffer
  double scale = 1;    // of the logits
  bool attends = true;
};

/// q [B, t, H, d], k [B, t, G, d], v [B, t, G, e], contiguous; `turned` is k with its rotary embedding.
/// `ring` has one row per token so far, these included, at most `window`; `first` holds the first tokens that
/// stay visible, not rotated, or no rows. Rows of ring and first are written, and partial blocks updated, in
/// place. -> [B, t, H, e], or [0] unless options.attends. Not differentiable.
at::Tensor summary_step(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                        const at::Tensor& rotated, const KeyRows& ring, const KeyRows& first,
                        const std::vector<VisibleSummaries>& summary_tokens, const PartialBlocks& open,
                        const RotaryEmbedding& rotary, const StepOptions& options);

/// Adds contiguous rows [B, n, G, ·] to partial blocks, in order and in place.
void summary_join(const KeyRows& rows, const PartialBlocks& open);

}  // namespace modewise::ops
