#pragma once
// Vector exp: Cephes' polynomial for float (within 1.03 ulp where the result is normal), the C library for
// double. Standard normal CDF and density: for float the tail is exp(−x²/2) times a polynomial.

#include "modewise/ops/cpu/loops/vector.h"

namespace modewise::ops::MODEWISE_ISA {

/// Minimum (maximum) of x and a constant; NaN if x is.
inline Vector<float> at_most(Vector<float> x, float high) {
#if defined(__AVX512F__)
  return (Vector<float>)_mm512_min_ps(_mm512_set1_ps(high), (__m512)x);
#elif defined(__AVX2__)
  return (Vector<float>)_mm256_min_ps(_mm256_set1_ps(high), (__m256)x);
#else
  return x > high ? Vector<float>{} + high : x;
#endif
}
inline Vector<float> at_least(Vector<float> x, float low) {
#if defined(__AVX512F__)
  return (Vector<float>)_mm512_max_ps(_mm512_set1_ps(low), (__m512)x);
#elif defined(__AVX2__)
  return (Vector<float>)_mm256_max_ps(_mm256_set1_ps(low), (__m256)x);
#else
  return x < low ? Vector<float>{} + low : x;
#endif
}

/// p · 2^n for integer n = `whole`, rounded once where it is denormal.
inline Vector<float> scale_by_power(Vector<float> p, Vector<float> whole) {
#if defined(__AVX512F__)
  return (Vector<float>)_mm512_scalef_ps((__m512)p, (__m512)whole);
#else
  typedef int32_t Integers __attribute__((vector_size(kVectorBytes)));
  // In two factors, so that denormal and infinite results are correct.
  const Integers n = __builtin_convertvector(whole, Integers), half = n >> 1, rest = n - half;
  const Vector<float> scale1 = (Vector<float>)((half + 127) << 23);
  const Vector<float> scale2 = (Vector<float>)((rest + 127) << 23);
  return p * scale1 * scale2;
#endif
}

inline Vector<float> exp_lanes(Vector<float> x) {
  // Outside this range the result is infinite or zero anyway.
  const Vector<float> zero = {}, t = at_least(at_most(x, 89.0f), -104.0f);
  const Vector<float> shifted =
      fused(t, zero + 1.44269504088896341f, zero + 12582912.0f);  // 1.5·2^23: rounds
  const Vector<float> whole = shifted - 12582912.0f;
  const Vector<float> r = fused(whole, zero + 2.12194440e-4f, fused(whole, zero - 0.693359375f, t));
  // The polynomial by pairs of coefficients, for shorter dependency chains than Horner's scheme.
  const Vector<float> r2 = r * r, high = fused(r, zero + 1.9875691500e-4f, zero + 1.3981999507e-3f),
                      middle = fused(r, zero + 8.3334519073e-3f, zero + 4.1665795894e-2f),
                      low = fused(r, zero + 1.6666665459e-1f, zero + 5.0000001201e-1f);
  const Vector<float> p = fused(fused(high, r2, middle), r2, low);
  return scale_by_power(fused(p, r2, r) + 1.0f, whole);
}

inline Vector<double> exp_lanes(Vector<double> x) {
  for (int i = 0; i < kLanes<double>; ++i) x[i] = __builtin_exp(x[i]);
  return x;
}

/// Standard normal distribution: CDF at x, within 2.5e-7, and density at x.
template <class F>
struct Normal {
  Vector<F> below, density;
};

inline Normal<float> normal_lanes(Vector<float> x) {
  const Vector<float> zero = {}, size = x < zero ? -x : x, s = 1.0f / (1.0f + 0.35f * size);
  // Fitted to erfcx(|x|/√2) / 2s at Chebyshev's points of s for |x| up to 14.5; within 4e-8 of it.
  Vector<float> p = zero - 0.029529655f;
  p = fused(p, s, zero + 0.14578344f);
  p = fused(p, s, zero - 0.25932798f);
  p = fused(p, s, zero + 0.1631355f);
  p = fused(p, s, zero - 0.025708605f);
  p = fused(p, s, zero + 0.10654791f);
  p = fused(p, s, zero + 0.11958618f);
  p = fused(p, s, zero + 0.13989346f);
  p = fused(p, s, zero + 0.13961974f);
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
