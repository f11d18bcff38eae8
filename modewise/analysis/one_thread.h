#pragma once
// Linear algebra libraries cut their work by threads and then round differently. What must have the same bits
// everywhere and is small runs on one.

#include <ATen/Parallel.h>

namespace modewise::analysis {

/// One thread for what torch does, until the end of the scope. Inside a parallel region, where there is only
/// one anyway, it does nothing.
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
