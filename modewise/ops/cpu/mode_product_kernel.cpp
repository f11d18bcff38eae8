// x [B, N_1 … N_k, H·d] is read by its strides. A fibre is a position of the modes other than the product's;
// a task is one sample, some heads and a range of fibres, and writes only those of out[b].

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sum.h>
#include <torch/library.h>

#include <algorithm>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/cpu/scratch.h"
#include "modewise/ops/cuda/mode_product.h"
#include "modewise/ops/dense/mode_product_checks.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

// Offsets of all fibres of t [B, N_1 … N_k, D], last mode fastest.
std::vector<int64_t> fibre_offsets(const at::Tensor& t, int64_t mode) {
  std::vector<int64_t> offsets = {0};
  for (int64_t i = 1; i < t.dim() - 1; ++i) {
    if (i == mode + 1) continue;
    std::vector<int64_t> next;
    next.reserve(offsets.size() * static_cast<size_t>(t.size(i)));
    for (const int64_t offset : offsets)
      for (int64_t j = 0; j < t.size(i); ++j) next.push_back(offset + j * t.stride(i));
    offsets = std::move(next);
  }
  return offsets;
}

at::Tensor product_strided(const at::Tensor& x, const at::Tensor& factor, int64_t mode) {
  auto sizes = x.sizes().vec();
  sizes[static_cast<size_t>(mode) + 1] = factor.size(-2);
  const auto out = at::empty(sizes, x.options());
  if (out.numel() == 0) return out;
  const bool shared = factor.dim() == 2;
  const auto x_fibres = fibre_offsets(x, mode), out_fibres = fibre_offsets(out, mode);
  const int64_t heads = shared ? 1 : factor.size(1), batch = x.size(0);
  const ProductPlan plan = {.x = x.const_data_ptr(),
                            .a = factor.const_data_ptr(),
                            .out = out.mutable_data_ptr(),
                            .rows = factor.size(-2),
                            .cols = factor.size(-1),
                            .width = x.size(-1) / heads,
                            .heads = heads,
                            .x_batch = x.stride(0),
                            .x_mode = x.stride(mode + 1),
                            .x_channel = x.stride(-1),
                            .a_batch = shared ? 0 : factor.stride(0),
                            .a_head = shared ? 0 : factor.stride(1),
                            .a_row = factor.stride(-2),
                            .a_col = factor.stride(-1),
                            .out_batch = out.stride(0),
                            .out_mode = out.stride(mode + 1),
                            .x_fibre = x_fibres.data(),
                            .out_fibre = out_fibres.data()};
  const int64_t fibres = static_cast<int64_t>(x_fibres.size());
  dispatch_floating(x.scalar_type(), "mode_product", [&]<class T>() {
    const auto& table = *loops().of<T>().product;
    const auto run = factor.scalar_type() == x.scalar_type() ? table.product : table.product_wide;
    const int64_t bytes = table.product_scratch(plan), group = table.product_heads(plan),
                  groups = heads / group;
    const int64_t parts = parts_wanted(64, batch * groups, fibres);
    const int64_t step = (fibres + parts - 1) / parts;
    const int64_t task_work = plan.cols * step * plan.width * group * (plan.rows + 8) / 8;
    for_tasks(batch * groups * parts, task_work, [&](int64_t begin, int64_t end) {
      void* scratch = thread_scratch(bytes);
      for (int64_t task = begin; task < end; ++task) {
        const int64_t sample = task / parts, first = task % parts * step;
        run(plan, sample / groups, sample % groups * group, std::min(first, fibres),
            std::min(first + step, fibres), scratch);
      }
    });
  });
  return out;
}

at::Tensor contract_strided(const at::Tensor& a, const at::Tensor& x, int64_t mode, int64_t heads) {
  const int64_t batch = x.size(0), groups = std::max<int64_t>(heads, 1);
  const int64_t rows = a.size(mode + 1), cols = x.size(mode + 1);
  const auto type = accumulate_type(x.scalar_type());
  auto out = at::empty({batch, groups, rows, cols}, x.options().dtype(type));
  const auto a_fibres = fibre_offsets(a, mode), x_fibres = fibre_offsets(x, mode);
  const ContractPlan plan = {.a = a.const_data_ptr(),
                             .x = x.const_data_ptr(),
                             .out = out.mutable_data_ptr(),
                             .rows = rows,
                             .cols = cols,
                             .width = x.size(-1) / groups,
                             .heads = groups,
                             .fibres = static_cast<int64_t>(x_fibres.size()),
                             .a_batch = a.stride(0),
                             .a_mode = a.stride(mode + 1),
                             .a_channel = a.stride(-1),
                             .x_batch = x.stride(0),
                             .x_mode = x.stride(mode + 1),
                             .x_channel = x.stride(-1),
                             .a_fibre = a_fibres.data(),
                             .x_fibre = x_fibres.data()};
  // Few (sample, head) pairs: rows are split into tasks too; every entry is still summed by one thread in one
  // order.
  const int64_t parts = parts_wanted(32, batch * groups, rows);
  const int64_t step = (rows + parts - 1) / parts;
  dispatch_floating(x.scalar_type(), "mode_contract", [&]<class T>() {
    const auto& table = *loops().of<T>().product;
    const int64_t bytes = table.contract_scratch(plan);
    const int64_t task_work = (step + 8) * cols * plan.fibres * plan.width / 8;
    for_tasks(batch * groups * parts, task_work, [&](int64_t begin, int64_t end) {
      void* scratch = thread_scratch(bytes);
      for (int64_t task = begin; task < end; ++task) {
        const int64_t group = task / parts, first = task % parts * step;
        table.contract(plan, group / groups, group % groups, std::min(first, rows),
                       std::min(first + step, rows), scratch);
      }
    });
  });
  if (heads == 0) out = at::sum(out, at::IntArrayRef{0, 1});
  return out.to(x.scalar_type());
}

const KernelList<at::Tensor(const at::Tensor&, const at::Tensor&, int64_t)> product_kernels(
    "mode_product", {{"triton", cuda::mode_product_refuses, cuda::mode_product, KernelDevice::triton},
                     {"strided", decltype(product_kernels)::takes_all, product_strided},
                     {"reference", decltype(product_kernels)::takes_all, reference::mode_product}});
const KernelList<at::Tensor(const at::Tensor&, const at::Tensor&, int64_t, int64_t)> contract_kernels(
    "mode_contract", {{"triton", cuda::mode_contract_refuses, cuda::mode_contract, KernelDevice::triton},
                      {"strided", decltype(contract_kernels)::takes_all, contract_strided},
                      {"reference", decltype(contract_kernels)::takes_all, reference::mode_contract}});

at::Tensor mode_product_checked(const at::Tensor& x, const at::Tensor& factor, int64_t mode) {
  check_mode_product_args(x, factor, mode);
  return product_kernels.run(x.device(), x, factor, mode);
}

at::Tensor mode_contract_checked(const at::Tensor& a, const at::Tensor& x, int64_t mode, int64_t heads) {
  check_mode_contract_args(a, x, mode, heads);
  return contract_kernels.run(a.device(), a, x, mode, heads);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("mode_product", mode_product_checked);
  m.impl("mode_contract", mode_contract_checked);
}

}  // namespace modewise::ops
