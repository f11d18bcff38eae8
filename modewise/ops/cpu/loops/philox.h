#pragma once
// Philox 4x32-10 (modewise/core/random.h) on vector lanes. Each 64-bit lane runs one block with one word in
// its low half, because the 32 × 32 -> 64 bit multiplication reads only the low halves.

#include "modewise/ops/cpu/loops/vector.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace modewise::ops::MODEWISE_ISA {

typedef uint64_t Words __attribute__((vector_size(kVectorBytes)));
constexpr int kWordLanes = kVectorBytes / 8;

/// Low halves of a times `factor`, as 64 bits.
inline Words multiply_low(Words a, uint32_t factor) {
#if defined(__AVX512F__)
  return (Words)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi32(static_cast<int>(factor)));
#elif defined(__AVX2__)
  return (Words)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi32(static_cast<int>(factor)));
#elif defined(__SSE2__)
  return (Words)_mm_mul_epu32((__m128i)a, _mm_set1_epi32(static_cast<int>(factor)));
#else
  return (a & 0xffffffffu) * factor;
#endif
}

/// Words of blocks `first` + 2·lane, low halves valid.
inline void philox_lanes(const DropoutPlan& plan, uint64_t first, Words* out) {
  Words index = {};
  for (int lane = 0; lane < kWordLanes; ++lane) index[lane] = first + 2 * static_cast<uint64_t>(lane);
  Words c0 = index, c1 = index >> 32;
  Words c2 = index - index + plan.step, c3 = index - index + plan.site;
  uint32_t key0 = plan.key[0], key1 = plan.key[1];
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const Words product0 = multiply_low(c0, 0xD2511F53), product1 = multiply_low(c2, 0xCD9E8D57);
    c0 = (product1 >> 32) ^ c1 ^ key0;
    c1 = product1;
    c2 = (product0 >> 32) ^ c3 ^ key1;
    c3 = product0;
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

/// The 64 words of `group`: words[16·j + i] is word j of block 16·group + i.
inline void random_group(const DropoutPlan& plan, uint64_t group, uint32_t* words) {
  for (int first = 0; first < 16; first += 2 * kWordLanes) {
    Words even[4], odd[4];
    philox_lanes(plan, 16 * group + static_cast<uint64_t>(first), even);
    philox_lanes(plan, 16 * group + static_cast<uint64_t>(first) + 1, odd);
    for (int j = 0; j < 4; ++j) {
      const Words pair = (even[j] & 0xffffffffu) | (odd[j] << 32);
      __builtin_memcpy(words + 16 * j + first, &pair, sizeof pair);
    }
  }
}

}  // namespace modewise::ops::MODEWISE_ISA
