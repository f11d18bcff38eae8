#include "modewise/core/processor_rates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "modewise/core/amx.h"
#include "modewise/core/build_info.h"

namespace modewise {
namespace {

TEST(ProcessorRates, AreThoseOfARealCore) {
  const ProcessorRates rates = processor_rates();
  // Bounds: from a slow core without SIMD to twice the widest current core, in operations and bytes per
  // second.
  EXPECT_GT(rates.float32, 5e8);
  EXPECT_LT(rates.float32, 1e12);
  EXPECT_GT(rates.copy, 2e8);
  EXPECT_LT(rates.copy, 1e12);
}

TEST(ProcessorRates, HaveBf16WhereTheProcessorHas) {
  const auto sets = machine_info().instruction_sets;
  const auto has = [&](const char* name) { return std::find(sets.begin(), sets.end(), name) != sets.end(); };
  EXPECT_EQ(processor_rates().bf16_pairs > 0, has("avx512_bf16"));
  EXPECT_EQ(processor_rates().bf16_tiles > 0, has("amx_bf16") && amx_granted());
}

TEST(FastestRate, IsThatOfTheFastestRun) {
  int runs = 0;
  const auto spin = [&runs] {  // 1 ms, except the third run: 20 ms
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(++runs == 3 ? 20 : 1);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  // CPU time may be less than wall time, so the rate may be higher, not lower.
  EXPECT_GT(fastest_rate(10, 3, spin), 10 / 0.015);
  EXPECT_EQ(runs, 4);
}

}  // namespace
}  // namespace modewise
