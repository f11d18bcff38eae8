#include "modewise/models/symmetric_eigen.h"

#include <ATen/Parallel.h>
#include <ATen/ops/linalg_eigh.h>

namespace modewise::models {
namespace {

class OneThread {
 public:
  OneThread() : before_(at::get_num_threads()) { at::set_num_threads(1); }
  ~OneThread() { at::set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace

SymmetricEigen symmetric_eigen(const at::Tensor& matrix) {
  const OneThread one_thread;
  auto [values, vectors] = at::linalg_eigh(matrix);
  return {values, vectors};
}

}  // namespace modewise::models
