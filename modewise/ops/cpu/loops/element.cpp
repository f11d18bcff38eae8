// Elementwise and row-wise loops: dropout with residual addition, layer and RMS norm, Adam; rows or groups of
// 64 elements are independent.

#include "modewise/ops/cpu/loops/channels.h"
#include "modewise/ops/cpu/loops/philox.h"
#include "modewise/ops/cpu/loops/vector.h"

namespace modewise::ops::MODEWISE_ISA {

namespace {

// Dropout of `count` elements of a group of 64 with its random words.
template <bool Residual, class T>
inline void keep_group(const uint32_t* words, uint32_t threshold, Accumulate<T> scale, const T* x,
                       const T* residual, T* out, int64_t count) {
  using F = Accumulate<T>;
  for (int64_t i = 0; i < count; ++i) {
    F value = words[i] < threshold ? F{0} : static_cast<F>(widen(x[i]) * scale);
    if constexpr (Residual) value += widen(residual[i]);
    out[i] = narrow<T>(value);
  }
}
template <bool Residual, class T>
inline void keep_whole_group(const uint32_t* words, uint32_t threshold, Accumulate<T> scale, const T* x,
                             const T* residual, T* out) {
  if constexpr (sizeof(Accumulate<T>) == sizeof(uint32_t)) {
#pragma GCC unroll 16
    for (int i = 0; i < 64; i += kLanes<float>) {
      const Vector<float> value = load_wide<T>(x + i) * scale, zero = {};
      Vector<float> kept = load(words + i) < threshold ? zero : value;
      if constexpr (Residual) kept += load_wide<T>(residual + i);
      store_narrow<T>(out + i, kept);
    }
  } else {
    keep_group<Residual>(words, threshold, scale, x, residual, out, 64);
  }
}

template <bool Residual, class T>
void dropout_groups(const DropoutPlan& plan, const T* x, const T* residual, T* out, int64_t begin,
                    int64_t end) {
  alignas(64) uint32_t words[64];
  const auto scale = static_cast<Accumulate<T>>(plan.scale);
  for (int64_t i = begin; i < end; i += 64) {
    const T* added = Residual ? residual + i : nullptr;
    ask_ahead<false>(x + i, 64);
    if (Residual) ask_ahead<false>(added, 64);
    ask_ahead<true>(out + i, 64);
    random_group(plan, plan.first_group + static_cast<uint64_t>(i / 64), words);
    if (end - i >= 64)
      keep_whole_group<Residual>(words, plan.threshold, scale, x + i, added, out + i);
    else
      keep_group<Residual>(words, plan.threshold, scale, x + i, added, out + i, end - i);
  }
}

// out = x + residual, or x.
template <class T>
inline void add_rows(const T* x, const T* residual, T* out, int64_t begin, int64_t end) {
  constexpr int64_t kPart = 256;
  for (int64_t first = begin; first < end; first += kPart) {
    const int64_t last = end - first < kPart ? end : first + kPart;
    ask_ahead<false>(x + first, kPart);
    ask_ahead<true>(out + first, kPart);
    if (residual != nullptr) ask_ahead<false>(residual + first, kPart);
    for (int64_t i = first; i < last; ++i)
      out[i] = residual == nullptr ? x[i] : narrow<T>(widen(x[i]) + widen(residual[i]));
  }
}

template <class T>
void dropout_add(const DropoutPlan& plan, const T* x, const T* residual, T* out, int64_t begin, int64_t end) {
  if (plan.threshold == 0) {
    add_rows(x, residual, out, begin, end);
  } else if (residual != nullptr) {
    dropout_groups<true>(plan, x, residual, out, begin, end);
  } else {
    dropout_groups<false>(plan, x, residual, out, begin, end);
  }
}

/// Calls body(c, accumulator, access) for the vectors of channels from c on, alternating between two 64-byte
/// accumulators; then for the remaining channels one by one.
template <class F, class Body>
inline void for_channels(int64_t channels, const Body& body) {
  constexpr int64_t kLane = kLanes<F>, kLine = kWideLanes<F>;
  int64_t c = 0;
  for (; c + 2 * kLine <= channels; c += 2 * kLine) {
#pragma GCC unroll 8
    for (int accumulator = 0; accumulator < 2 * kWideParts; ++accumulator)
      body(c + accumulator * kLane, accumulator, ByVector());
  }
  if (c + kLine <= channels) {
#pragma GCC unroll 4
    for (int accumulator = 0; accumulator < kWideParts; ++accumulator)
      body(c + accumulator * kLane, accumulator, ByVector());
    c += kLine;
  }
  for (; c < channels; ++c) body(c, 0, ByChannel());
}

/// Sum over channels in the lanes of two 64-byte accumulators, and of the remaining channels.
template <class F>
struct ChannelSum {
  Vector<F> lanes[2 * kWideParts] = {};
  F rest = 0;

  void add(int accumulator, Vector<F> v) { lanes[accumulator] += v; }
  void add(int, F value) { rest += value; }
  F total() const {
    Wide<F> sum;
#pragma GCC unroll 4
    for (int i = 0; i < kWideParts; ++i) sum.part[i] = lanes[i] + lanes[kWideParts + i];
    return lane_sum(sum) + rest;
  }
};

template <class F>
inline F reciprocal_root(F value) {
  if constexpr (sizeof(F) == 8)
    return 1 / __builtin_sqrt(value);
  else
    return 1 / __builtin_sqrtf(value);
}

template <class T>
void norm_row(const NormPlan& plan, const T* x, T* out, int64_t row) {
  using F = Accumulate<T>;
  const int64_t d = plan.channels;
  const auto width = static_cast<F>(d);
  F mean = 0;
  if (plan.centred) {
    ChannelSum<F> sum;
    for_channels<F>(d, [&](int64_t c, int accumulator, auto in) { sum.add(accumulator, in.read(x + c)); });
    mean = sum.total() / width;
    as<F>(plan.mean)[row] = mean;
  }
  ChannelSum<F> squares;
  for_channels<F>(d, [&](int64_t c, int accumulator, auto in) {
    const auto centred = in.read(x + c) - mean;
    squares.add(accumulator, centred * centred);
  });
  const F rstd = reciprocal_root<F>(squares.total() / width + static_cast<F>(plan.eps));
  as<F>(plan.rstd)[row] = rstd;
  const F* weight = as<F>(plan.weight);
  const F* bias = as<F>(plan.bias);
  for_channels<F>(d, [&](int64_t c, int, auto at) {
    auto value = (at.read(x + c) - mean) * rstd;
    if (weight != nullptr) value *= at.read(weight + c);
    if (bias != nullptr) value += at.read(bias + c);
    at.write(out + c, value);
  });
}

template <class T>
void norm(const NormPlan& plan, int64_t begin, int64_t end) {
  const int64_t d = plan.channels;
  // Dropout works in groups of 64 elements: processes as many rows at a time as make whole groups.
  int64_t block = 1;
  while (plan.sum != nullptr && block < 64 && block * d % 64 != 0) block *= 2;
  for (int64_t first = begin; first < end; first += block) {
    const int64_t last = first + block < end ? first + block : end;
    const T* x = as<T>(plan.x);
    if (plan.sum != nullptr) {
      dropout_add<T>(plan.dropout, x, as<T>(plan.residual), as<T>(plan.sum), first * d, last * d);
      x = as<T>(plan.sum);
    }
    for (int64_t row = first; row < last; ++row) {
      if (plan.sum == nullptr) ask_ahead<false>(x + row * d, d);
      ask_ahead<true>(as<T>(plan.out) + row * d, d);
      norm_row<T>(plan, x + row * d, as<T>(plan.out) + row * d, row);
    }
  }
}

template <class T>
void norm_backward(const NormBackwardPlan& plan, int64_t begin, int64_t end, void* weight_sum,
                   void* bias_sum) {
  using F = Accumulate<T>;
  const int64_t d = plan.channels;
  const auto width = static_cast<F>(d);
  const F* weight = as<F>(plan.weight);
  F* grad_weight = as<F>(weight_sum);
  F* grad_bias = as<F>(bias_sum);
  for (int64_t row = begin; row < end; ++row) {
    const T* grad = as<T>(plan.grad) + row * d;
    const T* x = as<T>(plan.x) + row * d;
    ask_ahead<false>(grad, d);
    ask_ahead<false>(x, d);
    const F mean = plan.centred ? as<F>(plan.mean)[row] : F{0}, rstd = as<F>(plan.rstd)[row];
    ChannelSum<F> sums, dots;
    for_channels<F>(d, [&](int64_t c, int accumulator, auto at) {
      const auto above = at.read(grad + c), normed = (at.read(x + c) - mean) * rstd;
      if (grad_weight != nullptr) at.write(grad_weight + c, at.read(grad_weight + c) + above * normed);
      if (grad_bias != nullptr) at.write(grad_bias + c, at.read(grad_bias + c) + above);
      const auto scaled = weight == nullptr ? above : above * at.read(weight + c);
      sums.add(accumulator, scaled);
      dots.add(accumulator, scaled * normed);
    });
    if (plan.grad_x == nullptr) continue;
    const F sum = plan.centred ? sums.total() / width : F{0}, dot = dots.total() / width;
    T* out = as<T>(plan.grad_x) + row * d;
    const T* added = plan.grad_sum == nullptr ? nullptr : as<T>(plan.grad_sum) + row * d;
    ask_ahead<true>(out, d);
    if (added != nullptr) ask_ahead<false>(added, d);
    for_channels<F>(d, [&](int64_t c, int, auto at) {
      const auto above = at.read(grad + c), normed = (at.read(x + c) - mean) * rstd;
      const auto scaled = weight == nullptr ? above : above * at.read(weight + c);
      auto value = (scaled - sum - normed * dot) * rstd;
      if (added != nullptr) value += at.read(added + c);
      at.write(out + c, value);
    });
  }
}

inline float root(float x) {
  return __builtin_sqrtf(x);
}
inline double root(double x) {
  return __builtin_sqrt(x);
}

// IEEE square roots and divisions are exact and FMA contraction is off, so every instruction set, and the
// vector body and remainder of each, gives bitwise equal results.
template <class T>
void adam_step(const AdamPlan<T>& c, T* __restrict w, const T* __restrict gradient, T* __restrict first,
               T* __restrict second, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const T kept = w[i] * c.keep;
    const T g = gradient[i] * c.gradient_scale + c.added_decay * w[i];
    const T m = first[i] + c.beta1_rest * (g - first[i]);
    const T v = c.beta2 * second[i] + c.beta2_rest * g * g;
    first[i] = m;
    second[i] = v;
    w[i] = kept - c.step_size * (m / (root(v) / c.root_scale + c.epsilon));
  }
}

template <class T>
constexpr ElementLoops<T> loops_of() {
  ElementLoops<T> loops = {dropout_add<T>, norm<T>, norm_backward<T>, nullptr};
  if constexpr (sizeof(T) > 2) loops.adam_step = adam_step<T>;
  return loops;
}

}  // namespace

extern constexpr ElementLoops<float> element_f32 = loops_of<float>();
extern constexpr ElementLoops<double> element_f64 = loops_of<double>();
extern constexpr ElementLoops<Half16> element_bf16 = loops_of<Half16>();

}  // namespace modewise::ops::MODEWISE_ISA
