#pragma once
// Rotation of rows by the rotary embedding, shared by the loops of summary_attention.

#include "modewise/ops/cpu/loops/vector.h"

namespace modewise::ops::MODEWISE_ISA {

inline int64_t minimum(int64_t a, int64_t b) {
  return a < b ? a : b;
}
inline int64_t maximum(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/// to = from rotated and scaled, or rotated by the inverse angle with Back; works in place.
template <class F, bool Back = false>
inline void turn_row(const F* from, const F* cosine, const F* sine, int64_t half, F scale, F* to) {
  constexpr int64_t kLane = kLanes<F>;
  int64_t c = 0;
  for (; c + kLane <= half; c += kLane) {
    const Vector<F> a = load(from + c), b = load(from + half + c);
    const Vector<F> x = load(cosine + c) * scale, y = load(sine + c) * (Back ? -scale : scale);
    store(to + c, fused(a, x, -(b * y)));
    store(to + half + c, fused(b, x, a * y));
  }
  for (; c < half; ++c) {
    const F a = from[c], b = from[half + c], x = cosine[c] * scale, y = sine[c] * (Back ? -scale : scale);
    to[c] = fused(a, x, -(b * y));
    to[half + c] = fused(b, x, a * y);
  }
}

/// Token of the first row of the cosine and sine table, for all queries and keys of a chunk.
inline int64_t code_base(const SummaryPlan& plan, int64_t chunk) {
  return plan.given_positions ? 0 : maximum(0, chunk * plan.chunk - plan.window + 1);
}

}  // namespace modewise::ops::MODEWISE_ISA
