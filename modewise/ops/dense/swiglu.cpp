#include "modewise/ops/dense/swiglu.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/dense/swiglu_checks.h"

namespace modewise::ops {

void check_swiglu_args(const at::Tensor& gate_and_up) {
  check_floating("swiglu", "gate_and_up", gate_and_up);
  TORCH_CHECK_VALUE(gate_and_up.dim() >= 1 && gate_and_up.sym_size(-1) % 2 == 0,
                    "swiglu: gate_and_up must be [..., 2M], got ", gate_and_up.sym_sizes());
}

void check_swiglu_backward_args(const at::Tensor& grad, const at::Tensor& gate_and_up) {
  check_swiglu_args(gate_and_up);
  check_same("swiglu_backward", "grad", grad, "gate_and_up", gate_and_up);
  auto sizes = gate_and_up.sym_sizes().vec();
  sizes.back() = sizes.back() / 2;
  TORCH_CHECK_VALUE(grad.sym_sizes() == sizes, "swiglu_backward: grad must be ", c10::SymIntArrayRef(sizes),
                    " for gate_and_up ", gate_and_up.sym_sizes(), ", got ", grad.sym_sizes());
}

namespace {

at::Tensor swiglu_meta(const at::Tensor& gate_and_up) {
  check_swiglu_args(gate_and_up);
  auto sizes = gate_and_up.sym_sizes().vec();
  sizes.back() = sizes.back() / 2;
  return at::empty_symint(sizes, gate_and_up.options());
}

at::Tensor swiglu_backward_meta(const at::Tensor& grad, const at::Tensor& gate_and_up) {
  check_swiglu_backward_args(grad, gate_and_up);
  return at::empty_symint(gate_and_up.sym_sizes(), gate_and_up.options());
}

}  // namespace

at::Tensor swiglu(const at::Tensor& gate_and_up) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("modewise::swiglu", "").typed<decltype(swiglu)>();
  return op.call(gate_and_up);
}

at::Tensor swiglu_backward(const at::Tensor& grad, const at::Tensor& gate_and_up) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::swiglu_backward", "")
                             .typed<decltype(swiglu_backward)>();
  return op.call(grad, gate_and_up);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("swiglu(Tensor gate_and_up) -> Tensor");
  m.def("swiglu_backward(Tensor grad, Tensor gate_and_up) -> Tensor");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("swiglu", swiglu_meta);
  m.impl("swiglu_backward", swiglu_backward_meta);
}

}  // namespace modewise::ops
