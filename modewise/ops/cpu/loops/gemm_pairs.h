#pragma once
// bfloat16 micro-kernel by dot products of pairs (AVX512_BF16): sums are float32, denormals are treated as
// zero.

#include "modewise/ops/cpu/loops/vector.h"

namespace modewise::ops::MODEWISE_ISA {

struct Pairs {
  using Memory = Half16;
  using Sum = float;
  using Cell = uint32_t;
  static constexpr int kDepth = 2;
  static Cell cell(const Half16* from, int64_t stride, int64_t left) {
    return from->bits | (left > 1 ? static_cast<uint32_t>(from[stride].bits) << 16 : 0);
  }
  template <int Count>
  static void cells(const Half16* from, int64_t stride, int64_t left, Cell* to) {
    static_assert(Count == 8);
    const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m128i second =
        left > 1 ? _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + stride)) : _mm_setzero_si128();
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_unpacklo_epi16(first, second));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 4), _mm_unpackhi_epi16(first, second));
  }
  static Vector<float> add_product(Vector<float> sum, Cell a, Vector<Cell> b) {
    return (Vector<float>)_mm512_dpbf16_ps((__m512)sum, (__m512bh)_mm512_set1_epi32(static_cast<int>(a)),
                                           (__m512bh)b);
  }
};

}  // namespace modewise::ops::MODEWISE_ISA
