#include "modewise/ops/training/sum_of_squares.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/training/sum_of_squares_checks.h"

namespace modewise::ops {
namespace {

at::Tensor sum_of_squares_meta(const at::Tensor& x) {
  check_sum_of_squares_args(x);
  return at::empty({}, x.options().dtype(at::kDouble));
}

}  // namespace

void check_sum_of_squares_args(const at::Tensor& x) {
  check_floating("sum_of_squares", "x", x);
}

at::Tensor sum_of_squares(const at::Tensor& x) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::sum_of_squares", "")
                             .typed<decltype(sum_of_squares)>();
  return op.call(x);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("sum_of_squares(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("sum_of_squares", sum_of_squares_meta);
}

}  // namespace modewise::ops
