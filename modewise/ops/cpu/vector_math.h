#pragma once
// exp on vectors: Cephes' polynomial for float (within 1 ulp of the true value where the result is normal),
// the C library for double. The normal distribution for float: its tail is exp(−x²/2) times a polynomial.

#include "modewise/ops/cpu/vector.h"

namespace modewise::ops::MODEWISE_ISA {

inline Vector<float> exp_lanes(Vector<float> x) {
  typedef int32_t Integers __attribute__((vector_size(kVectorBytes)));
  // Beyond these the result is infinite or zero anyway; NaN passes through both comparisons.
  const Vector<float> zero = {}, high = zero + 89.0f, low = zero - 104.0f;
  Vector<float> t = x > high ? high : x;
  t = t < low ? low : t;
  const Vector<float> shifted = t * 1.44269504088896341f + 12582912.0f;  // 1.5·2^23: rounds to an integer
  const Integers n = __builtin_bit_cast(Integers, shifted) - 0x4b400000;
  const Vector<float> whole = shifted - 12582912.0f;
  Vector<float> r = t - whole * 0.693359375f;
  r = r + whole * 2.12194440e-4f;
  Vector<float> p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  // 2^n in two factors, so that denormal and infinite results come out right.
  const Integers half = n >> 1, rest = n - half;
  const Vector<float> scale1 = __builtin_bit_cast(Vector<float>, (half + 127) << 23);
  const Vector<float> scale2 = __builtin_bit_cast(Vector<float>, (rest + 127) << 23);
  return p * scale1 * scale2;
}

inline Vector<double> exp_lanes(Vector<double> x) {
  for (int i = 0; i < kLanes<double>; ++i) x[i] = __builtin_exp(x[i]);
  return x;
}

/// Of the standard normal distribution: its share below x, within 2.5e-7, and its density at x.
template <class F>
struct Normal {
  Vector<F> below, density;
};

inline Normal<float> normal_lanes(Vector<float> x) {
  const Vector<float> zero = {}, size = x < zero ? -x : x, s = 1.0f / (1.0f + 0.35f * size);
  // Fitted to erfcx(|x|/√2) / 2s at Chebyshev's points of s for |x| up to 14.5; within 4e-8 of it.
  Vector<float> p = zero - 0.029529655f;
  p = p * s + 0.14578344f;
  p = p * s - 0.25932798f;
  p = p * s + 0.1631355f;
  p = p * s - 0.025708605f;
  p = p * s + 0.10654791f;
  p = p * s + 0.11958618f;
  p = p * s + 0.13989346f;
  p = p * s + 0.13961974f;
  const Vector<float> falls = exp_lanes(-0.5f * size * size), tail = falls * (p * s);
  return {x > zero ? 1.0f - tail : tail, falls * 0.39894228f};
}

inline Normal<double> normal_lanes(Vector<double> x) {
  Normal<double> normal;
  for (int i = 0; i < kLanes<double>; ++i) {
    normal.below[i] = 0.5 * __builtin_erfc(-0.70710678118654752 * x[i]);
    normal.density[i] = 0.39894228040143268 * __builtin_exp(-0.5 * x[i] * x[i]);
  }
  return normal;
}

}  // namespace modewise::ops::MODEWISE_ISA
