#pragma once
// One step of a text that goes on, for the forms window, lambda and causal: tokens take their places in the
// ring of the last ones, attend to it, to the first tokens and to the slots of finished blocks, and join the
// block that is being filled. One after another: a token sees what stood before it.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "modewise/ops/attention/rotary_embedding.h"

namespace modewise::ops {

/// Rows of keys [B, rows, G, d] and of values [B, rows, G, e]; within a sample they are dense.
struct KeyRows {
  at::Tensor keys, values;
};

/// Blocks that are being filled, in the accumulate type: each latent's softmax over the rows so far, its sums
/// not yet divided. Undefined: there are no blocks.
struct OpenBlocks {
  at::Tensor latents;       // [G, r, d]
  at::Tensor high, total;   // [B, G, r, 1]: largest logit, sum of exp(logit − high)
  at::Tensor keys, values;  // [B, G, r, d], [B, G, r, e]

  bool used() const { return latents.defined(); }
};

/// The slots of finished siblings of a level, as tokens see them that are in one block of it.
struct VisibleSummaries {
  KeyRows rows;       // turned by their places
  int64_t place = 0;  // of the tokens' block among its siblings
  double excess = 0;  // taken from the logits
};

struct StepOptions {
  int64_t first = 0;   // position of the first token
  int64_t window = 1;  // token t stands at row t mod window of the ring
  double scale = 1;    // of the logits
  bool attends = true;
};

/// q [B, t, H, d], k [B, t, G, d], v [B, t, G, e], dense; `turned` is k with its rotary code. `ring` has a
/// row a token so far, these included, at most `window`; `first` the first tokens that stay visible, not
/// turned, with no row where none do. Rows of ring and first are written, and open blocks joined, in place.
/// -> [B, t, H, e], or [0] unless options.attends. No gradient.
at::Tensor summary_step(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                        const at::Tensor& turned, const KeyRows& ring, const KeyRows& first,
                        const std::vector<VisibleSummaries>& slots, const OpenBlocks& open, const RotaryEmbedding& rotary,
                        const StepOptions& options);

/// Adds dense rows [B, n, G, ·] to open blocks, in order and in place.
void summary_join(const KeyRows& rows, const OpenBlocks& open);

}  // namespace modewise::ops
