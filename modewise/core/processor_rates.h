#pragma once
// Peak rates of one core (operations, memory copies), the reference for the rates of kernels. Each is
// measured in some hundredths of a second, in CPU time of the calling thread, which other programs disturb
// little.

#include <functional>

namespace modewise {

/// Work per second in the fastest of `runs` calls of `run`, each of which does `work`; one call before them
/// warms up.
double fastest_rate(double work, int runs, const std::function<void()>& run);

struct ProcessorRates {
  double float32 = 0;  // operations per second of float32 multiply-adds on registers (a multiply-add is two)
  double bf16_pairs = 0;  // the same for the instruction that multiplies pairs of bfloat16; 0 without it
  double bf16_tiles = 0;  // the same for the tile instruction (AMX)
  double copy = 0;        // bytes per second of a memory copy, reads and writes together
};

ProcessorRates processor_rates();

}  // namespace modewise
