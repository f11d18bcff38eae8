#pragma once
// Scope guard for single-threaded linear algebra: libraries split work by threads and then round differently,
// so small computations that must be bit-reproducible run on one thread.

#include <ATen/Parallel.h>

namespace modewise::analysis {

/// Sets libtorch to one thread until the end of the scope. No effect inside a parallel region, which is
/// single-threaded anyway.
class OneThread {
 public:
  OneThread() : before_(at::in_parallel_region() ? 0 : at::get_num_threads()) {
    if (before_ > 1) at::set_num_threads(1);
  }
  ~OneThread() {
    if (before_ > 1) at::set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace modewise::analysis
