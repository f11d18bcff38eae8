#include "modewise/core/processor_rates.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <vector>

#include "modewise/core/amx.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace modewise {
namespace {

double thread_seconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

constexpr int64_t kSteps = 500000;  // of a register loop: a few milliseconds
constexpr int kRuns = 5;
constexpr size_t kCopied = size_t{64} << 20;  // more than the caches hold

/// Multiply-adds on accumulators that stay in registers; returns the operations. Values pass through memory
/// that the compiler cannot see into, otherwise it merges the accumulators.
template <int Bytes, int Accumulators>
[[gnu::always_inline]] inline double multiply_adds() {
  typedef float Vector __attribute__((vector_size(Bytes)));
  Vector memory[Accumulators] = {}, sum[Accumulators], x = Vector{} + 1.0001F, y = Vector{} + 0.9999F;
  asm volatile("" : "+m"(x), "+m"(y), "+m"(memory));
  const Vector a = x, b = y;
#pragma GCC unroll 24
  for (int j = 0; j < Accumulators; ++j) sum[j] = memory[j];
  for (int64_t i = 0; i < kSteps; ++i) {
#pragma GCC unroll 24
    for (int j = 0; j < Accumulators; ++j) sum[j] = sum[j] * a + b;
  }
#pragma GCC unroll 24
  for (int j = 0; j < Accumulators; ++j) memory[j] = sum[j];
  asm volatile("" : : "m"(memory));
  return 2.0 * kSteps * Accumulators * (Bytes / 4);
}

#if defined(__x86_64__)
__attribute__((target("avx512f"), noinline)) double multiply_adds_512() {
  return multiply_adds<64, 24>();
}
__attribute__((target("avx2,fma"), noinline)) double multiply_adds_256() {
  return multiply_adds<32, 12>();
}

__attribute__((target("avx512f,avx512bf16"), noinline)) double pairs_512() {
  constexpr int kAccumulators = 24;
  __m512 sum[kAccumulators] = {};
  __m512i ones = _mm512_set1_epi16(0x3F80);  // 1 in bfloat16
  asm volatile("" : "+v"(ones));
  for (auto& s : sum) asm volatile("" : "+v"(s));
  for (int64_t i = 0; i < kSteps; ++i) {
#pragma GCC unroll 24
    for (auto& s : sum) s = _mm512_dpbf16_ps(s, (__m512bh)ones, (__m512bh)ones);
  }
  for (auto& s : sum) asm volatile("" : "+v"(s));
  return 4.0 * kSteps * kAccumulators * 16;
}

double multiply_tiles() {
  const AmxShapes shapes;
  asm volatile("ldtilecfg %0" : : "m"(shapes));
  for (int64_t i = 0; i < kSteps / 50; ++i)  // an instruction takes 16 cycles
    asm volatile(
        "tdpbf16ps %tmm7, %tmm6, %tmm0; tdpbf16ps %tmm7, %tmm6, %tmm1; tdpbf16ps %tmm7, %tmm6, %tmm2;"
        "tdpbf16ps %tmm7, %tmm6, %tmm3; tdpbf16ps %tmm7, %tmm6, %tmm4; tdpbf16ps %tmm7, %tmm6, %tmm5");
  asm volatile("tilerelease");
  return 2.0 * 16 * 16 * 32 * 6 * (kSteps / 50);
}
#endif

double float32_operations() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return multiply_adds_512();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return multiply_adds_256();
#endif
  return multiply_adds<16, 12>();
}

/// 0 if the machine has no such instruction.
double bf16_pair_operations() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bf16")) return pairs_512();
#endif
  return 0;
}

double bf16_tile_operations() {
#if defined(__x86_64__)
  if (amx_granted()) return multiply_tiles();
#endif
  return 0;
}

}  // namespace

double fastest_rate(double work, int runs, const std::function<void()>& run) {
  run();
  double minimum = 0;
  for (int i = 0; i < runs; ++i) {
    const double start = thread_seconds();
    run();
    const double taken = std::max(thread_seconds() - start, 1e-9);
    minimum = i == 0 ? taken : std::min(minimum, taken);
  }
  return work / minimum;
}

ProcessorRates processor_rates() {
  ProcessorRates rates;
  rates.float32 = fastest_rate(float32_operations(), kRuns, float32_operations);
  if (const double pairs = bf16_pair_operations(); pairs > 0)
    rates.bf16_pairs = fastest_rate(pairs, kRuns, bf16_pair_operations);
  if (const double tiles = bf16_tile_operations(); tiles > 0)
    rates.bf16_tiles = fastest_rate(tiles, kRuns, bf16_tile_operations);
  const std::vector<char> from(kCopied, 1);
  std::vector<char> to(kCopied);
  rates.copy = fastest_rate(2.0 * kCopied, 3, [&] {
    std::memcpy(to.data(), from.data(), kCopied);
    asm volatile("" : : "r"(to.data()) : "memory");  // otherwise the compiler drops the copy
  });
  return rates;
}

}  // namespace modewise
