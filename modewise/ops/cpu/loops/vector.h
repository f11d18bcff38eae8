#pragma once
// Vector types of the instruction set that this file is compiled for, by GCC's vector extension. Everything
// is in the instruction set's own namespace; cpu/loops.h explains why nothing else is included.

#include <cstddef>
#include <cstdint>

#include "modewise/ops/cpu/loops.h"

#if defined(__FMA__)
#include <immintrin.h>
#endif

namespace modewise::ops::MODEWISE_ISA {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <class F>
struct VectorOf {
  typedef F type __attribute__((vector_size(kVectorBytes)));
};
template <class F>
using Vector = typename VectorOf<F>::type;
template <class F>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(F));

template <class F>
inline Vector<F> load(const F* from) {
  Vector<F> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class F>
inline void store(F* to, Vector<F> v) {
  __builtin_memcpy(to, &v, sizeof v);
}

/// a · b + c, rounded once (FMA) if the instruction set has it, regardless of what is added to the result.
/// Written explicitly where compilers may or may not contract.
inline float fused(float a, float b, float c) {
#if defined(__FMA__)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
inline double fused(double a, double b, double c) {
#if defined(__FMA__)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}
inline Vector<float> fused(Vector<float> a, Vector<float> b, Vector<float> c) {
#if defined(__AVX512F__)
  return (Vector<float>)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
  return (Vector<float>)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
  return a * b + c;
#endif
}
inline Vector<double> fused(Vector<double> a, Vector<double> b, Vector<double> c) {
#if defined(__AVX512F__)
  return (Vector<double>)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
  return (Vector<double>)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  return a * b + c;
#endif
}

template <size_t Bytes>
struct IndexOf {
  using type = int32_t;
};
template <>
struct IndexOf<8> {
  using type = int64_t;
};

/// Lane i is lane from[i] of a, or lane from[i] − kLanes of b.
template <class F>
inline Vector<F> shuffle(Vector<F> a, Vector<F> b, Vector<typename IndexOf<sizeof(F)>::type> from) {
#if defined(__clang__)  // the fuzz targets; only GCC has a shuffle by a vector of indices
  Vector<F> v;
  for (int i = 0; i < kLanes<F>; ++i) v[i] = from[i] < kLanes<F> ? a[from[i]] : b[from[i] - kLanes<F>];
  return v;
#else
  return __builtin_shuffle(a, b, from);
#endif
}

// Adds half of the lanes to the other half, until one is left.
template <class F, int Half>
inline F add_halves(Vector<F> v) {
  if constexpr (Half == 0) {
    return v[0];
  } else {
    Vector<typename IndexOf<sizeof(F)>::type> upper = {};
#pragma GCC unroll 16
    for (int i = 0; i < kLanes<F>; ++i) upper[i] = (i + Half) % kLanes<F>;
    return add_halves<F, Half / 2>(v + shuffle<F>(v, v, upper));
  }
}
/// Sum of the lanes by a reduction tree.
template <class F>
inline F lane_sum(Vector<F> v) {
  return add_halves<F, kLanes<F> / 2>(v);
}

// Segments of 2·Half lanes: the halves of a's segment added up, then those of b's.
template <class F, int Half>
inline Vector<F> fold_pair(Vector<F> a, Vector<F> b) {
  using Index = typename IndexOf<sizeof(F)>::type;
  Vector<Index> low = {}, high = {};
#pragma GCC unroll 16
  for (int i = 0; i < kLanes<F>; ++i) {
    const int segment = i / (2 * Half) * 2 * Half, place = i % (2 * Half);
    low[i] = place < Half ? segment + place : kLanes<F> + segment + place - Half;
    high[i] = low[i] + Half;
  }
  return shuffle<F>(a, b, low) + shuffle<F>(a, b, high);
}
template <class F, int Half>
inline void fold(Vector<F>* v) {
#pragma GCC unroll 16
  for (int i = 0; i < Half; ++i) v[i] = fold_pair<F, Half>(v[i], v[i + Half]);
  if constexpr (Half > 1) fold<F, Half / 2>(v);
}
/// Lane i of the result is the tree sum of the lanes of v[i], for kLanes vectors.
template <class F>
inline Vector<F> lane_sums(const Vector<F>* vectors) {
  Vector<F> v[kLanes<F>];
  for (int i = 0; i < kLanes<F>; ++i) v[i] = vectors[i];
  fold<F, kLanes<F> / 2>(v);
  return v[0];
}

/// 64 bytes of lanes on every instruction set, in one or several vectors. Sums over lanes use this width, so
/// that their order and bits do not depend on the vector width.
constexpr int kWideParts = 64 / kVectorBytes;
template <class F>
constexpr int kWideLanes = kWideParts* kLanes<F>;
template <class F>
struct Wide {
  Vector<F> part[kWideParts];

  void operator+=(const Wide& other) {
#pragma GCC unroll 4
    for (int i = 0; i < kWideParts; ++i) part[i] += other.part[i];
  }
  /// Adds a[j] · b[j] to lane j.
  void add_products(const F* a, const F* b) {
#pragma GCC unroll 4
    for (int i = 0; i < kWideParts; ++i)
      part[i] = fused(load(a + i * kLanes<F>), load(b + i * kLanes<F>), part[i]);
  }
  /// First steps of the tree sum of all lanes, down to one vector.
  Vector<F> folded() const {
    if constexpr (kWideParts == 1)
      return part[0];
    else if constexpr (kWideParts == 2)
      return part[0] + part[1];
    else
      return (part[0] + part[2]) + (part[1] + part[3]);
  }
};
template <class F>
inline F lane_sum(const Wide<F>& lanes) {
  return lane_sum<F>(lanes.folded());
}

/// Accumulate type of T.
template <class T>
struct AccumulateOf {
  using type = T;
};
template <>
struct AccumulateOf<Half16> {
  using type = float;
};
template <class T>
using Accumulate = typename AccumulateOf<T>::type;

inline float widen(float value) {
  return value;
}
inline double widen(double value) {
  return value;
}
inline float widen(Half16 value) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(value.bits) << 16);
}

template <class T>
inline T narrow(Accumulate<T> value) {
  return value;
}
/// Rounds to nearest even; NaN stays NaN.
template <>
inline Half16 narrow<Half16>(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return {static_cast<uint16_t>(value != value ? 0x7fc0 : rounded)};
}

typedef uint16_t Halves __attribute__((vector_size(kVectorBytes / 2)));

inline Vector<float> widen_lanes(Halves bits) {
#if defined(__AVX512F__)
  return (Vector<float>)_mm512_slli_epi32(_mm512_cvtepu16_epi32((__m256i)bits), 16);
#else
  return (Vector<float>)(__builtin_convertvector(bits, Vector<uint32_t>) << 16);
#endif
}
/// Rounds each lane like narrow<Half16>; the hardware instruction flushes denormals to 0.
inline Halves narrow_lanes(Vector<float> v) {
#if defined(__AVX512BF16__)
  return (Halves)_mm512_cvtneps_pbh((__m512)v);
#else
  const auto bits = (Vector<uint32_t>)v;
  Vector<uint32_t> rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
#if defined(__AVX512F__)
  const __mmask16 nan = _mm512_cmp_ps_mask((__m512)v, (__m512)v, _CMP_UNORD_Q);
  rounded = (Vector<uint32_t>)_mm512_mask_mov_epi32((__m512i)rounded, nan, _mm512_set1_epi32(0x7fc0));
  return (Halves)_mm512_cvtepi32_epi16((__m512i)rounded);
#else
  const auto number = (Vector<uint32_t>)(v == v);
  return __builtin_convertvector((number & rounded) | (~number & 0x7fc0), Halves);
#endif
#endif
}

/// kLanes elements, widened; or the first `count`, the others 0.
template <class T>
inline Vector<Accumulate<T>> load_wide(const T* from) {
  if constexpr (sizeof(T) == sizeof(Accumulate<T>)) {
    return load(from);
  } else {
    Halves bits;
    __builtin_memcpy(&bits, from, sizeof bits);
    return widen_lanes(bits);
  }
}
template <class T>
inline Vector<Accumulate<T>> load_wide(const T* from, int64_t count) {
  T lanes[kLanes<Accumulate<T>>] = {};
  __builtin_memcpy(lanes, from, static_cast<size_t>(count) * sizeof(T));
  return load_wide<T>(lanes);
}

/// Rounds each lane like narrow<T>.
template <class T>
inline void store_narrow(T* to, Vector<Accumulate<T>> v) {
  if constexpr (sizeof(T) == sizeof(Accumulate<T>)) {
    store(to, v);
  } else {
    const Halves half = narrow_lanes(v);
    __builtin_memcpy(to, &half, sizeof half);
  }
}
template <class T>
inline void store_narrow(T* to, Vector<Accumulate<T>> v, int64_t count) {
  T lanes[kLanes<Accumulate<T>>];
  store_narrow<T>(lanes, v);
  __builtin_memcpy(to, lanes, static_cast<size_t>(count) * sizeof(T));
}

template <class T>
inline const T* as(const void* pointer) {
  return static_cast<const T*>(pointer);
}
template <class T>
inline T* as(void* pointer) {
  return static_cast<T*>(pointer);
}

/// Row length of a packed panel: at least `width`, whole vectors, an odd number of 64-byte lines, so that its
/// rows map to different cache sets.
template <class F>
inline int64_t padded_row(int64_t width) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(F));
  const int64_t lines = (width + kLine - 1) / kLine;
  return (lines + 1 - lines % 2) * kLine;
}

}  // namespace modewise::ops::MODEWISE_ISA
