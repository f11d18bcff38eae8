#pragma once
// What one core of this machine does at most: what the rates of kernels are held against. All are measured
// within some hundredths of a second, by the processor time of the calling thread, which other programs
// change little.

#include <functional>

namespace modewise {

/// Work a second in the fastest of `runs` runs of `run`, each of which does `work`; one run before them warms
/// up.
double fastest_rate(double work, int runs, const std::function<void()>& run);

struct ProcessorRates {
  double float32 = 0;  // operations a second (a multiply-add is two) of float32 multiply-adds on registers
  double bf16_pairs =
      0;  // the same of the instruction that multiplies pairs of bfloat16; 0 where there is none
  double bf16_tiles = 0;  // and of the one that multiplies tiles (AMX)
  double copy = 0;        // bytes a second that a copy from memory to memory reads and writes, together
};

ProcessorRates processor_rates();

}  // namespace modewise
