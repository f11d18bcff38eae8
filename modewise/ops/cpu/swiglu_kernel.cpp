// Rows of [rows, 2M] -> [rows, M], in chunks; each chunk is written by one thread.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/dense/swiglu_checks.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

at::Tensor swiglu_fused(const at::Tensor& gate_and_up) {
  const auto x = gate_and_up.contiguous();
  auto sizes = x.sizes().vec();
  const int64_t m = sizes.back() /= 2;
  const auto out = at::empty(sizes, x.options());
  if (out.numel() == 0) return out;
  dispatch_floating(x.scalar_type(), "swiglu", [&]<class T>() {
    const auto* from = static_cast<const T*>(x.const_data_ptr());
    auto* to = static_cast<T*>(out.mutable_data_ptr());
    for_row_chunks(out.numel() / m, chunk_rows(m), [&](int64_t begin, int64_t end) {
      loops().of<T>().activation->swiglu(from, to, begin, end, m);
    });
  });
  return out;
}

const KernelList<at::Tensor(const at::Tensor&)> swiglu_kernels(
    "swiglu", {{"fused", decltype(swiglu_kernels)::takes_all, swiglu_fused},
               {"reference", decltype(swiglu_kernels)::takes_all, reference::swiglu}});

at::Tensor swiglu_checked(const at::Tensor& gate_and_up) {
  check_swiglu_args(gate_and_up);
  return swiglu_kernels.run(gate_and_up.device(), gate_and_up);
}

at::Tensor swiglu_backward_fused(const at::Tensor& grad_out, const at::Tensor& gate_and_up) {
  const auto x = gate_and_up.contiguous(), grad = grad_out.contiguous();
  const auto out = at::empty(x.sizes(), x.options());
  if (out.numel() == 0) return out;
  const int64_t m = x.size(-1) / 2;
  dispatch_floating(x.scalar_type(), "swiglu_backward", [&]<class T>() {
    const auto* from = static_cast<const T*>(x.const_data_ptr());
    const auto* upstream = static_cast<const T*>(grad.const_data_ptr());
    auto* to = static_cast<T*>(out.mutable_data_ptr());
    for_row_chunks(grad.numel() / m, chunk_rows(2 * m), [&](int64_t begin, int64_t end) {
      loops().of<T>().activation->swiglu_backward(upstream, from, to, nullptr, begin, end, m);
    });
  });
  return out;
}

const KernelList<at::Tensor(const at::Tensor&, const at::Tensor&)> swiglu_backward_kernels(
    "swiglu_backward",
    {{"fused", decltype(swiglu_backward_kernels)::takes_all, swiglu_backward_fused},
     {"reference", decltype(swiglu_backward_kernels)::takes_all, reference::swiglu_backward}});

at::Tensor swiglu_backward_checked(const at::Tensor& grad, const at::Tensor& gate_and_up) {
  check_swiglu_backward_args(grad, gate_and_up);
  return swiglu_backward_kernels.run(grad.device(), grad, gate_and_up);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("swiglu", swiglu_checked);
  m.impl("swiglu_backward", swiglu_backward_checked);
}

}  // namespace modewise::ops
