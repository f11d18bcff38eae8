// Elements of a contiguous x, in chunks of whole groups of 64; each chunk is written by one thread.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/dropout_plan.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"
#include "modewise/ops/training/dropout_add_checks.h"

namespace modewise::ops {

namespace {

at::Tensor dropout_add_philox(const at::Tensor& residual, const at::Tensor& input, double p, DropoutKey key) {
  const auto x = input.contiguous();
  const auto added = residual.defined() ? residual.contiguous() : at::Tensor();
  const auto out = at::empty(x.sizes(), x.options());
  const auto plan = dropout_plan(p, key);
  dispatch_floating(x.scalar_type(), "dropout_add", [&]<class T>() {
    const auto* from = static_cast<const T*>(x.const_data_ptr());
    const auto* base = added.defined() ? static_cast<const T*>(added.const_data_ptr()) : nullptr;
    auto* to = static_cast<T*>(out.mutable_data_ptr());
    for_row_chunks(x.numel(), kChunkElements, [&](int64_t begin, int64_t end) {
      loops().of<T>().element->dropout_add(plan, from, base, to, begin, end);
    });
  });
  return out;
}

const KernelList<at::Tensor(const at::Tensor&, const at::Tensor&, double, DropoutKey)> dropout_add_kernels(
    "dropout_add", {{"philox", decltype(dropout_add_kernels)::takes_all, dropout_add_philox},
                    {"reference", decltype(dropout_add_kernels)::takes_all, reference::dropout_add}});

at::Tensor dropout_add_checked(const std::optional<at::Tensor>& residual, const at::Tensor& x, double p,
                               int64_t seed, int64_t step, int64_t site) {
  check_dropout_add_args(residual, x, p);
  return dropout_add_kernels.run(x.device(), residual.value_or(at::Tensor()), x, p,
                                 dropout_key("dropout_add", seed, step, site));
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("dropout_add", dropout_add_checked);
}

}  // namespace modewise::ops
