#pragma once
// Parameters of the summary_attention loops: raw pointers and the block hierarchy. Plain structs, for
// cpu/loops.h.

#include <cstdint>

namespace modewise::ops {

constexpr int kMaxLevels = 15;  // maximum number of block levels

/// Blocks over the summary tokens (level 0: tokens) of the level below. F is the accumulate type.
struct SummaryLevel {
  int64_t children, tokens, siblings, finished, known;  // of ops/fold_levels.h
  void* keys;                                           // F [B, G, finished·r, d_row], not rotated
  void* values;                                         // F [B, G, finished·r, e_row]
  void* grad_keys;      // F, as keys; backward only. First rotated, then rotated back
  void* grad_values;    // F, as values
  const void* latents;  // F [G, r, d_row]
  const void* cosine;   // F [siblings, d/2], or null without rotary embedding
  const void* sine;
};

struct SummaryPlan {
  int64_t n, heads, kv_heads, d, e, summary_tokens;  // r: summary tokens per block
  int64_t d_row, e_row;   // d and e padded to whole vectors of every type: multiples of 16
  const void *q, *k, *v;  // channels contiguous
  int64_t q_batch, q_row, q_head, k_batch, k_row, k_head, v_batch, v_row, v_head;
  void* out;        // [B, n, H, e] contiguous
  void* logsumexp;  // F [B, H, n]
  int64_t window, sinks;
  double query_scale[kMaxLevels + 1];  // scale · gain² of a level, level 0 is the tokens
  // Tokens are rotated by row t − base of the table, where base is 0 if positions are given and the first key
  // of the strip otherwise: only differences matter.
  const void *cosine, *sine;
  bool given_positions;
  const void *far_cosine, *far_sine;  // F [d/2]: the query's rotation for the first tokens

  int levels;
  SummaryLevel level[kMaxLevels];

  // A strip is the unit of packing, a chunk (whole strips) the unit of backward work.
  int64_t strip, chunk;

  // Backward only.
  const void* grad;           // [B, n, H, e] contiguous
  void* grad_q;               // [B, n, H, d] contiguous
  void *sum_k, *sum_v;        // F [B, G, n, d_row], [B, G, n, e_row]
  void *halo_k, *halo_v;      // F [B, G, chunks, window − 1, row]: for tokens before the chunk
  void *sink_k, *sink_v;      // F [B, G, chunks, sinks, row]
  void *part_k, *part_v;      // F [B, G, part_rows, row]: for summary tokens, by chunk, then level
  const int64_t* part_row;    // [chunks, levels]: row in part_k of block part_first
  const int64_t* part_first;  // [chunks, levels]
  int64_t part_rows, chunks;
  void *grad_k, *grad_v;  // [B, n, G, d], [B, n, G, e] contiguous
};

template <class T>
struct SummaryLoops {
  /// Summarises blocks [begin, end) of a level (0: of n_m tokens) into their summary tokens.
  int64_t (*summary_scratch)(const SummaryPlan&, int level);
  void (*summarise)(const SummaryPlan&, int level, int64_t b, int64_t g, int64_t begin, int64_t end,
                    void* scratch);
  /// Computes the query heads of key head g for tokens [first, last), at most one strip, within one strip.
  int64_t (*attend_scratch)(const SummaryPlan&, bool backward);
  void (*attend)(const SummaryPlan&, int64_t b, int64_t g, int64_t first, int64_t last, void* scratch);
  void (*attend_backward)(const SummaryPlan&, int64_t b, int64_t g, int64_t chunk, void* scratch);
  /// Sums the chunks' gradients of tokens [first, last) and rotates them back.
  void (*gather_tokens)(const SummaryPlan&, int64_t b, int64_t g, int64_t first, int64_t last);
  /// The same for all summary tokens of a level.
  void (*gather_summaries)(const SummaryPlan&, int level, int64_t b, int64_t g);
  /// Backpropagates the gradients of the summary tokens of blocks [begin, end) to their children and to the
  /// latents: grad_latents F [r, d_row] is overwritten.
  void (*summarise_backward)(const SummaryPlan&, int level, int64_t b, int64_t g, int64_t begin, int64_t end,
                             void* grad_latents, void* scratch);
  void (*store_tokens)(const SummaryPlan&, int64_t b, int64_t g, int64_t first, int64_t last);
};

}  // namespace modewise::ops
