#include "modewise/ops/dense/tile_rate.h"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>

#include "modewise/core/processor_rates.h"
#include "modewise/ops/dense/linear.h"

namespace modewise::ops {
namespace {

/// Guard that limits ATen to one thread.
class SingleThread {
 public:
  SingleThread() : threads_(at::get_num_threads()) { at::set_num_threads(1); }
  ~SingleThread() { at::set_num_threads(threads_); }
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  int threads_;
};

}  // namespace

double tile_rate(at::ScalarType type) {
  constexpr int64_t kRows = 1024, kIn = 512, kOut = 128;
  const at::NoGradGuard no_grad;
  const SingleThread alone;
  const at::Tensor x = at::ones({kRows, kIn}, type), weight = at::ones({kOut, kIn}, type);
  return fastest_rate(2.0 * kRows * kIn * kOut, 7, [&] { ops::linear(x, weight); });
}

}  // namespace modewise::ops
