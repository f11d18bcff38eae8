#include "modewise/ops/dense/elementary.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>
#include <array>

#include "modewise/ops/arguments.h"
#include "modewise/ops/dense/elementary_checks.h"

namespace modewise::ops {

void check_elementary_args(const at::Tensor& x, std::string_view function) {
  static constexpr std::array<std::string_view, 8> kFunctions = {"exp", "log",  "sqrt", "sin",
                                                                 "cos", "tanh", "gelu", "gelu_slope"};
  check_floating("elementary", "x", x);
  TORCH_CHECK_VALUE(std::ranges::find(kFunctions, function) != kFunctions.end(),
                    "elementary: function must be exp, log, sqrt, sin, cos, tanh, gelu or gelu_slope, got '",
                    function, "'");
}

at::Tensor elementary(const at::Tensor& x, std::string_view function) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::elementary", "")
                             .typed<at::Tensor(const at::Tensor&, std::string_view)>();
  return op.call(x, function);
}

namespace {

at::Tensor elementary_meta(const at::Tensor& x, std::string_view function) {
  check_elementary_args(x, function);
  return at::empty_symint(x.sym_sizes(), x.options());
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("elementary(Tensor x, str function) -> Tensor");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("elementary", elementary_meta);
}

}  // namespace modewise::ops
