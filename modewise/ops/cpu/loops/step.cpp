// One decoding step: a token attends to the cached rows and updates the partial blocks.

#include "modewise/ops/cpu/loops/vector.h"
#include "modewise/ops/cpu/loops/vector_math.h"

namespace modewise::ops::MODEWISE_ISA {

namespace {

template <class F>
int64_t whole_vectors(int64_t count) {
  return (count + kLanes<F> - 1) / kLanes<F> * kLanes<F>;
}

/// The row in the accumulate type; converted into `room` if T differs.
template <class T>
const Accumulate<T>* wide_row(const T* from, int64_t width, Accumulate<T>* room) {
  if constexpr (sizeof(T) == sizeof(Accumulate<T>)) {
    return from;
  } else {
    for (int64_t i = 0; i < width; ++i) room[i] = widen(from[i]);
    return room;
  }
}

template <class T, class F = Accumulate<T>>
F dot(const F* a, const T* b, int64_t width) {
  Wide<F> sum = {};
  int64_t i = 0;
  for (; i + kWideLanes<F> <= width; i += kWideLanes<F>)
    for (int part = 0; part < kWideParts; ++part) {
      const int64_t at = i + part * kLanes<F>;
      sum.part[part] = fused(load(a + at), load_wide<T>(b + at), sum.part[part]);
    }
  F rest = 0;
  for (; i < width; ++i) rest = fused(a[i], widen(b[i]), rest);
  return lane_sum(sum) + rest;
}

/// to = to · keep + from · scale
template <class F>
void blend(F keep, F scale, const F* from, int64_t width, F* to) {
  int64_t i = 0;
  for (; i + kLanes<F> <= width; i += kLanes<F>)
    store(to + i, fused(load(from + i), Vector<F>{} + scale, load(to + i) * keep));
  for (; i < width; ++i) to[i] = fused(from[i], scale, to[i] * keep);
}

/// logits [rows], padded to whole vectors -> weights that sum to 1.
template <class F>
void softmax(F* logits, int64_t rows) {
  F high = logits[0];
  for (int64_t i = 1; i < rows; ++i) high = logits[i] > high ? logits[i] : high;
  const int64_t whole = whole_vectors<F>(rows);
  for (int64_t i = rows; i < whole; ++i) logits[i] = high;
  for (int64_t i = 0; i < whole; i += kLanes<F>) store(logits + i, exp_lanes(load(logits + i) - high));
  F total = 0;
  for (int64_t i = 0; i < rows; ++i) total += logits[i];
  for (int64_t i = 0; i < rows; ++i) logits[i] /= total;
}

int64_t rows_of(const StepPlan& plan) {
  int64_t rows = 0;
  for (int p = 0; p < plan.parts; ++p) rows += plan.part[p].count;
  return rows;
}

template <class T>
int64_t attend_scratch(const StepPlan& plan) {
  using F = Accumulate<T>;
  const int64_t repeats = plan.heads / plan.kv_heads, rows = whole_vectors<F>(rows_of(plan));
  const int64_t widest = plan.d > plan.e ? plan.d : plan.e;
  return (repeats * (rows + plan.d + plan.e) + widest) * static_cast<int64_t>(sizeof(F));
}

/// Query of head h, rotated and scaled for part `p`.
template <class T>
void turn_query(const StepPlan& plan, const StepRows& part, const T* q, Accumulate<T>* to) {
  using F = Accumulate<T>;
  for (int64_t i = 0; i < plan.d; ++i) to[i] = widen(q[i]);
  if (plan.cosine != nullptr) {
    const int64_t half = plan.d / 2;
    const F *cosine = as<F>(plan.cosine) + part.code * half, *sine = as<F>(plan.sine) + part.code * half;
    for (int64_t i = 0; i < half; ++i) {
      const F a = to[i], b = to[half + i];
      to[i] = fused(a, cosine[i], -(b * sine[i]));
      to[half + i] = fused(b, cosine[i], a * sine[i]);
    }
  }
  for (int64_t i = 0; i < plan.d; ++i) to[i] *= static_cast<F>(part.scale);
}

template <class T>
void attend(const StepPlan& plan, int64_t b, int64_t g, void* scratch) {
  using F = Accumulate<T>;
  const int64_t repeats = plan.heads / plan.kv_heads, d = plan.d, e = plan.e;
  const int64_t rows = rows_of(plan), stride = whole_vectors<F>(rows);
  F* logits = as<F>(scratch);
  F* queries = logits + repeats * stride;
  F* sums = queries + repeats * d;
  F* room = sums + repeats * e;
  int64_t first = 0;
  for (int p = 0; p < plan.parts; ++p) {
    const StepRows& part = plan.part[p];
    for (int64_t h = 0; h < repeats; ++h)
      turn_query<T>(plan, part, as<T>(plan.q) + b * plan.q_batch + (g * repeats + h) * d, queries + h * d);
    const T* keys = as<T>(part.keys) + (b * part.room * plan.kv_heads + g) * d;
    for (int64_t i = 0; i < part.count; ++i) {
      const F* key = wide_row<T>(keys + i * plan.kv_heads * d, d, room);
      for (int64_t h = 0; h < repeats; ++h)
        logits[h * stride + first + i] = dot(queries + h * d, key, d) - static_cast<F>(part.excess);
    }
    first += part.count;
  }
  for (int64_t h = 0; h < repeats; ++h) softmax(logits + h * stride, rows);
  for (int64_t i = 0; i < repeats * e; ++i) sums[i] = 0;
  first = 0;
  for (int p = 0; p < plan.parts; ++p) {
    const StepRows& part = plan.part[p];
    const T* values = as<T>(part.values) + (b * part.room * plan.kv_heads + g) * e;
    for (int64_t i = 0; i < part.count; ++i) {
      const F* value = wide_row<T>(values + i * plan.kv_heads * e, e, room);
      for (int64_t h = 0; h < repeats; ++h)
        blend(F{1}, logits[h * stride + first + i], value, e, sums + h * e);
    }
    first += part.count;
  }
  T* out = as<T>(plan.out) + b * plan.out_batch + g * repeats * e;
  for (int64_t i = 0; i < repeats * e; ++i) out[i] = narrow<T>(sums[i]);
}

inline float exp_of(float x) {
  return __builtin_expf(x);
}
inline double exp_of(double x) {
  return __builtin_exp(x);
}

template <class T>
void join(const OpenPlan& plan, int64_t b, int64_t g, int64_t row) {
  using F = Accumulate<T>;
  const int64_t d = plan.d, e = plan.e, first = (b * plan.kv_heads + g) * plan.summary_tokens;
  const T* key = as<T>(plan.keys) + b * plan.keys_batch + (row * plan.kv_heads + g) * d;
  const T* value = as<T>(plan.values) + b * plan.values_batch + (row * plan.kv_heads + g) * e;
  for (int64_t s = 0; s < plan.summary_tokens; ++s) {
    const F* latent = as<F>(plan.latents) + (g * plan.summary_tokens + s) * d;
    F* high = as<F>(plan.high) + first + s;
    F* total = as<F>(plan.total) + first + s;
    const F logit = dot(latent, key, d);
    const F above = logit > *high ? logit : *high;
    const F keep = exp_of(*high - above), weight = exp_of(logit - above);
    *high = above;
    *total = fused(*total, keep, weight);
    F* keys = as<F>(plan.sum_keys) + (first + s) * d;
    F* values = as<F>(plan.sum_values) + (first + s) * e;
    for (int64_t i = 0; i < d; ++i) keys[i] = fused(weight, widen(key[i]), keys[i] * keep);
    for (int64_t i = 0; i < e; ++i) values[i] = fused(weight, widen(value[i]), values[i] * keep);
  }
}

template <class T>
constexpr StepLoops<T> loops_of() {
  return {attend_scratch<T>, attend<T>, join<T>};
}

}  // namespace

extern constexpr StepLoops<float> step_f32 = loops_of<float>();
extern constexpr StepLoops<double> step_f64 = loops_of<double>();
extern constexpr StepLoops<Half16> step_bf16 = loops_of<Half16>();

}  // namespace modewise::ops::MODEWISE_ISA
