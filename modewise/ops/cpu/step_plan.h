#pragma once
// Parameters of one decoding step: the cached rows that a token attends to, and the partial blocks it
// updates. Plain structs, for cpu/loops.h. T is the storage type, F the accumulate type.

#include <cstdint>

#include "modewise/ops/cpu/summary_plan.h"

namespace modewise::ops {

constexpr int kStepParts = kMaxLevels + 2;  // window, first tokens, summary tokens of each level

/// Rows [0, count) of keys and values, compared with the query rotated by row `code` of the table.
struct StepRows {
  const void* keys;    // T [B, room, G, d]
  const void* values;  // T [B, room, G, e]
  int64_t count, room;
  int64_t code;
  double scale;   // of the logits
  double excess;  // subtracted from them
};

struct StepPlan {
  const void* q;  // T, of sample b: q + b·q_batch
  void* out;      // T
  int64_t q_batch, out_batch;
  int64_t heads, kv_heads, d, e;
  int parts;
  StepRows part[kStepParts];
  const void *cosine, *sine;  // F [codes, d/2], or null without rotary embedding
};

/// Partial blocks: each latent's online softmax over the rows so far, with sums not yet divided.
struct OpenPlan {
  const void *keys, *values;  // T [B, rows, G, ·], of sample b: keys + b·keys_batch
  int64_t keys_batch, values_batch;
  int64_t kv_heads, d, e, summary_tokens;
  const void* latents;  // F [G, r, d]
  void *high, *total;   // F [B, G, r]: running maximum, sum of exp(logit − high)
  void* sum_keys;       // F [B, G, r, d]
  void* sum_values;     // F [B, G, r, e]
};

template <class T>
struct StepLoops {
  int64_t (*attend_scratch)(const StepPlan&);
  /// Computes the query heads of key head g.
  void (*attend)(const StepPlan&, int64_t b, int64_t g, void* scratch);
  /// Adds row `row`.
  void (*join)(const OpenPlan&, int64_t b, int64_t g, int64_t row);
};

}  // namespace modewise::ops
