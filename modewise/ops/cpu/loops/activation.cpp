// Activations of a feed-forward network, one vector at a time; the rest of a row is padded with zeros, so
// that an element does not depend on its position. Compiled without contraction to FMA, like the surrounding
// loops.

#include "modewise/ops/cpu/loops/vector_math.h"

namespace modewise::ops::MODEWISE_ISA {

namespace {

/// Calls body(c, load, store) for each vector of a row of m channels.
template <class T, class Body>
inline void for_vectors(int64_t m, const Body& body) {
  using F = Accumulate<T>;
  int64_t c = 0;
  for (; c + kLanes<F> <= m; c += kLanes<F>)
    body(
        c, [](const T* from) { return load_wide<T>(from); },
        [](T* to, Vector<F> v) { store_narrow<T>(to, v); });
  if (c < m)
    body(
        c, [&](const T* from) { return load_wide<T>(from, m - c); },
        [&](T* to, Vector<F> v) { store_narrow<T>(to, v, m - c); });
}

/// 1 + exp(−x), the denominator of the sigmoid.
template <class V>
inline V under_sigmoid(V x) {
  return 1 + exp_lanes(-x);
}

template <class T>
void swiglu(const T* x, T* out, int64_t begin, int64_t end, int64_t m) {
  for (int64_t row = begin; row < end; ++row) {
    const T* gates = x + row * 2 * m;
    T* to = out + row * m;
    for_vectors<T>(m, [&](int64_t c, const auto& read, const auto& write) {
      const auto gate = read(gates + c), up = read(gates + m + c);
      write(to + c, gate / under_sigmoid(gate) * up);
    });
  }
}

template <class T>
void swiglu_backward(const T* grad, const T* x, T* grad_x, T* out, int64_t begin, int64_t end, int64_t m) {
  for (int64_t row = begin; row < end; ++row) {
    const T* gates = x + row * 2 * m;
    const T* from = grad + row * m;
    T* to = grad_x + row * 2 * m;
    for_vectors<T>(m, [&](int64_t c, const auto& read, const auto& write) {
      __builtin_prefetch(gates + 4 * m + c);
      __builtin_prefetch(gates + 5 * m + c);
      const auto gate = read(gates + c), up = read(gates + m + c), above = read(from + c);
      const auto under = under_sigmoid(gate), open = 1 / under, silu = gate / under;
      write(to + c, above * up * fused(silu, 1 - open, open));
      write(to + m + c, above * silu);
      if (out != nullptr) write(out + row * m + c, silu * up);
    });
  }
}

template <class T>
void gelu(const T* x, T* out, int64_t begin, int64_t end, int64_t m) {
  for (int64_t row = begin; row < end; ++row)
    for_vectors<T>(m, [&](int64_t c, const auto& read, const auto& write) {
      const auto value = read(x + row * m + c);
      write(out + row * m + c, value * normal_lanes(value).below);
    });
}

template <class T>
void gelu_backward(const T* grad, const T* x, T* grad_x, T* out, int64_t begin, int64_t end, int64_t m) {
  for (int64_t row = begin; row < end; ++row)
    for_vectors<T>(m, [&](int64_t c, const auto& read, const auto& write) {
      const auto value = read(x + row * m + c), above = read(grad + row * m + c);
      const auto normal = normal_lanes(value);
      write(grad_x + row * m + c, above * (normal.below + value * normal.density));
      if (out != nullptr) write(out + row * m + c, value * normal.below);
    });
}

template <class T>
void exponential(const T* x, T* out, int64_t count) {
  for_vectors<T>(
      count, [&](int64_t c, const auto& read, const auto& write) { write(out + c, exp_lanes(read(x + c))); });
}

template <class T>
constexpr ActivationLoops<T> loops_of() {
  return {swiglu<T>, swiglu_backward<T>, gelu<T>, gelu_backward<T>, exponential<T>};
}

}  // namespace

extern constexpr ActivationLoops<float> activation_f32 = loops_of<float>();
extern constexpr ActivationLoops<double> activation_f64 = loops_of<double>();
extern constexpr ActivationLoops<Half16> activation_bf16 = loops_of<Half16>();

}  // namespace modewise::ops::MODEWISE_ISA
