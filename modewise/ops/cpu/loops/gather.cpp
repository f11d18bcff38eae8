// Reduction of the gradients of keys, values and summary tokens: partial gradients of the chunks of
// summary_attention's backward are added in order of the chunks, and rotated back.

#include "modewise/ops/cpu/loops/strip.h"
#include "modewise/ops/cpu/loops/vector.h"

namespace modewise::ops::MODEWISE_ISA {

namespace {

template <class F>
void add_rows(const F* from, int64_t count, F* to) {
  for (int64_t i = 0; i < count; i += kLanes<F>) store(to + i, load(to + i) + load(from + i));
}

// Applies the inverse rotation of `chunk` to a row of a token's key gradient.
template <class F>
void turn_back_token(const SummaryPlan& plan, int64_t token, int64_t chunk, F* row) {
  if (plan.cosine == nullptr) return;
  const int64_t half = plan.d / 2, at = (token - code_base(plan, chunk)) * half;
  turn_row<F, true>(row, as<F>(plan.cosine) + at, as<F>(plan.sine) + at, half, F{1}, row);
}

}  // namespace

template <class T>
void gather_tokens(const SummaryPlan& plan, int64_t b, int64_t g, int64_t first, int64_t last) {
  using F = Accumulate<T>;
  const int64_t head = b * plan.kv_heads + g, halo = plan.window - 1, d = plan.d_row, e = plan.e_row;
  for (int64_t t = first; t < last; ++t) {
    F *k = as<F>(plan.sum_k) + (head * plan.n + t) * d, *v = as<F>(plan.sum_v) + (head * plan.n + t) * e;
    turn_back_token(plan, t, t / plan.chunk, k);
    for (int64_t c = t / plan.chunk + 1; c < plan.chunks && c * plan.chunk - halo <= t; ++c) {
      const int64_t row = (head * plan.chunks + c) * halo + t - (c * plan.chunk - halo);
      F* halo_k = as<F>(plan.halo_k) + row * d;
      turn_back_token(plan, t, c, halo_k);
      add_rows(halo_k, d, k);
      add_rows(as<F>(plan.halo_v) + row * e, e, v);
    }
    for (int64_t c = 0; t < plan.sinks && c < plan.chunks; ++c) {
      const int64_t row = (head * plan.chunks + c) * plan.sinks + t;
      add_rows(as<F>(plan.sink_k) + row * d, d, k);
      add_rows(as<F>(plan.sink_v) + row * e, e, v);
    }
  }
}

template <class T>
void gather_summaries(const SummaryPlan& plan, int l, int64_t b, int64_t g) {
  using F = Accumulate<T>;
  const SummaryLevel& level = plan.level[l];
  const int64_t head = b * plan.kv_heads + g, d = plan.d_row, e = plan.e_row,
                count = level.finished * plan.summary_tokens;
  F *keys = as<F>(level.grad_keys) + head * count * d, *values = as<F>(level.grad_values) + head * count * e;
  for (int64_t i = 0; i < count * d; ++i) keys[i] = 0;
  for (int64_t i = 0; i < count * e; ++i) values[i] = 0;
  for (int64_t c = 0; c < plan.chunks; ++c) {
    const int64_t entry = c * plan.levels + l, first = plan.part_first[entry];
    const int64_t last_token = minimum((c + 1) * plan.chunk, plan.n) - 1;
    const int64_t rows = maximum(last_token / level.tokens - first, 0) * plan.summary_tokens;
    const int64_t row = head * plan.part_rows + plan.part_row[entry];
    add_rows(as<F>(plan.part_k) + row * d, rows * d, keys + first * plan.summary_tokens * d);
    add_rows(as<F>(plan.part_v) + row * e, rows * e, values + first * plan.summary_tokens * e);
  }
  if (level.cosine == nullptr) return;
  const int64_t half = plan.d / 2;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t place = i / plan.summary_tokens % level.siblings;
    turn_row<F, true>(keys + i * d, as<F>(level.cosine) + place * half, as<F>(level.sine) + place * half,
                      half, F{1}, keys + i * d);
  }
}

template <class T>
void store_tokens(const SummaryPlan& plan, int64_t b, int64_t g, int64_t first, int64_t last) {
  using F = Accumulate<T>;
  const auto store_rows = [&](const void* sums, int64_t row, int64_t width, void* to) {
    for (int64_t t = first; t < last; ++t) {
      const F* from = as<F>(sums) + ((b * plan.kv_heads + g) * plan.n + t) * row;
      T* out = as<T>(to) + ((b * plan.n + t) * plan.kv_heads + g) * width;
      for (int64_t c = 0; c < width; ++c) out[c] = narrow<T>(from[c]);
    }
  };
  store_rows(plan.sum_k, plan.d_row, plan.d, plan.grad_k);
  store_rows(plan.sum_v, plan.e_row, plan.e, plan.grad_v);
}

#define MODEWISE_GATHER(T)                                                                \
  template void gather_tokens<T>(const SummaryPlan&, int64_t, int64_t, int64_t, int64_t); \
  template void gather_summaries<T>(const SummaryPlan&, int, int64_t, int64_t);           \
  template void store_tokens<T>(const SummaryPlan&, int64_t, int64_t, int64_t, int64_t);
MODEWISE_GATHER(float)
MODEWISE_GATHER(double)
MODEWISE_GATHER(Half16)

}  // namespace modewise::ops::MODEWISE_ISA
