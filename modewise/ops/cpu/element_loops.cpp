// Loops whose cost is memory: dropout with the residual sum, layer and RMS norm, Adam. One pass each;
// rows or groups of 64 elements are independent of each other.

#include "modewise/ops/cpu/philox.h"
#include "modewise/ops/cpu/vector.h"

namespace modewise::ops::MODEWISE_ISA {

namespace {

// Elements [begin, end) of a group of 64 with its random words.
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
void dropout_groups(const DropoutPlan& plan, const T* x, const T* residual, T* out, int64_t begin,
                    int64_t end) {
  alignas(64) uint32_t words[64];
  const auto scale = static_cast<Accumulate<T>>(plan.scale);
  for (int64_t i = begin; i < end; i += 64) {
    const T* added = Residual ? residual + i : nullptr;
    random_group(plan, plan.first_group + static_cast<uint64_t>(i / 64), words);
    if (end - i >= 64)
      keep_group<Residual>(words, plan.threshold, scale, x + i, added, out + i, 64);
    else
      keep_group<Residual>(words, plan.threshold, scale, x + i, added, out + i, end - i);
  }
}

template <class T>
void dropout_add(const DropoutPlan& plan, const T* x, const T* residual, T* out, int64_t begin, int64_t end) {
  if (plan.threshold == 0) {
    for (int64_t i = begin; i < end; ++i)
      out[i] = residual == nullptr ? x[i] : narrow<T>(widen(x[i]) + widen(residual[i]));
  } else if (residual != nullptr) {
    dropout_groups<true>(plan, x, residual, out, begin, end);
  } else {
    dropout_groups<false>(plan, x, residual, out, begin, end);
  }
}

// Σ of each(c) over the channels, in lanes; what is left of the last ones is added one by one.
template <class T, class Each>
inline Accumulate<T> row_sum(int64_t channels, const Each& each) {
  using F = Accumulate<T>;
  constexpr int64_t kLane = kWideLanes<F>;
  const auto lanes = [&](int64_t c) {
    Wide<F> value = {};
#pragma GCC unroll 4
    for (int i = 0; i < kWideParts; ++i)
      for (int lane = 0; lane < kLanes<F>; ++lane) value.part[i][lane] = each(c + i * kLanes<F> + lane);
    return value;
  };
  Wide<F> sum0 = {}, sum1 = {};
  int64_t c = 0;
  for (; c + 2 * kLane <= channels; c += 2 * kLane) {
    sum0 += lanes(c);
    sum1 += lanes(c + kLane);
  }
  if (c + kLane <= channels) {
    sum0 += lanes(c);
    c += kLane;
  }
  F rest = 0;
  for (; c < channels; ++c) rest += each(c);
  sum0 += sum1;
  return lane_sum(sum0) + rest;
}

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
  const F mean =
      plan.centred ? row_sum<T>(d, [&](int64_t c) { return static_cast<F>(widen(x[c])); }) / static_cast<F>(d)
                   : F{0};
  const F variance = row_sum<T>(d,
                                [&](int64_t c) {
                                  const F centred = widen(x[c]) - mean;
                                  return centred * centred;
                                }) /
                     static_cast<F>(d);
  const F rstd = reciprocal_root<F>(variance + static_cast<F>(plan.eps));
  if (plan.centred) as<F>(plan.mean)[row] = mean;
  as<F>(plan.rstd)[row] = rstd;
  const F* weight = as<F>(plan.weight);
  const F* bias = as<F>(plan.bias);
  if (weight != nullptr && bias != nullptr) {
    for (int64_t c = 0; c < d; ++c) out[c] = narrow<T>((widen(x[c]) - mean) * rstd * weight[c] + bias[c]);
  } else {
    for (int64_t c = 0; c < d; ++c) {
      F value = (widen(x[c]) - mean) * rstd;
      if (weight != nullptr) value *= weight[c];
      if (bias != nullptr) value += bias[c];
      out[c] = narrow<T>(value);
    }
  }
}

template <class T>
void norm(const NormPlan& plan, int64_t begin, int64_t end) {
  const int64_t d = plan.channels;
  // Dropout counts in groups of 64 elements: as many rows at a time as make whole groups.
  int64_t block = 1;
  while (plan.sum != nullptr && block < 64 && block * d % 64 != 0) block *= 2;
  for (int64_t first = begin; first < end; first += block) {
    const int64_t last = first + block < end ? first + block : end;
    const T* x = as<T>(plan.x);
    if (plan.sum != nullptr) {
      dropout_add<T>(plan.dropout, x, as<T>(plan.residual), as<T>(plan.sum), first * d, last * d);
      x = as<T>(plan.sum);
    }
    for (int64_t row = first; row < last; ++row)
      norm_row<T>(plan, x + row * d, as<T>(plan.out) + row * d, row);
  }
}

template <class T>
void norm_backward(const NormBackwardPlan& plan, int64_t begin, int64_t end, void* weight_sum,
                   void* bias_sum) {
  using F = Accumulate<T>;
  const int64_t d = plan.channels;
  const F* weight = as<F>(plan.weight);
  F* grad_weight = as<F>(weight_sum);
  F* grad_bias = as<F>(bias_sum);
  for (int64_t row = begin; row < end; ++row) {
    const T* grad = as<T>(plan.grad) + row * d;
    const T* x = as<T>(plan.x) + row * d;
    const F mean = plan.centred ? as<F>(plan.mean)[row] : F{0}, rstd = as<F>(plan.rstd)[row];
    if (grad_weight != nullptr)
      for (int64_t c = 0; c < d; ++c) grad_weight[c] += widen(grad[c]) * ((widen(x[c]) - mean) * rstd);
    if (grad_bias != nullptr)
      for (int64_t c = 0; c < d; ++c) grad_bias[c] += widen(grad[c]);
    if (plan.grad_x == nullptr) continue;
    const auto scaled = [&](int64_t c) {
      const F g = widen(grad[c]);
      return weight == nullptr ? g : static_cast<F>(g * weight[c]);
    };
    const F sum = plan.centred ? row_sum<T>(d, scaled) / static_cast<F>(d) : F{0};
    const F dot =
        row_sum<T>(d, [&](int64_t c) { return static_cast<F>(scaled(c) * ((widen(x[c]) - mean) * rstd)); }) /
        static_cast<F>(d);
    T* out = as<T>(plan.grad_x) + row * d;
    const T* added = plan.grad_sum == nullptr ? nullptr : as<T>(plan.grad_sum) + row * d;
    for (int64_t c = 0; c < d; ++c) {
      const F value = (scaled(c) - sum - (widen(x[c]) - mean) * rstd * dot) * rstd;
      out[c] = narrow<T>(added == nullptr ? value : value + widen(added[c]));
    }
  }
}

inline float root(float x) {
  return __builtin_sqrtf(x);
}
inline double root(double x) {
  return __builtin_sqrt(x);
}

// IEEE roots and quotients are exact and nothing is contracted here, so every instruction set, and the vector
// body and the remainder of each, gives the same bits.
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
