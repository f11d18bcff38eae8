#pragma once
// Clock of the benchmarks: wall time, or CPU time of this thread, which other programs on a busy machine
// change far less (for work of one thread).

#include <ctime>

namespace modewise {

inline double seconds_now(bool processor_time) {
  timespec time = {};
  clock_gettime(processor_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace modewise
