#pragma once
// Guard that limits BLAS to the calling thread, for products inside parallel tasks.

#include "modewise/ops/cpu/openmp.h"

// MKL, if it is libtorch's BLAS: sets the number of threads for calls from this thread.
extern "C" int MKL_Set_Num_Threads_Local(int) __attribute__((weak));

namespace modewise::ops {

class OneThread {
 public:
  OneThread() : openmp_(omp_get_max_threads()) {
    omp_set_num_threads(1);
    if (MKL_Set_Num_Threads_Local != nullptr) mkl_ = MKL_Set_Num_Threads_Local(1);
  }
  ~OneThread() {
    if (MKL_Set_Num_Threads_Local != nullptr) MKL_Set_Num_Threads_Local(mkl_);
    omp_set_num_threads(openmp_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int openmp_, mkl_ = 0;
};

}  // namespace modewise::ops
