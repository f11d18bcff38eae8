// x [B, N_1 … N_k, D] is read by its strides; a task computes one sample and 64 channels of every pooled
// tensor [B, N_i, D]. Backward: a task is one sample and one index of the first mode.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <torch/library.h>

#include <algorithm>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/mode_pool_checks.h"
#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/cpu/scratch.h"
#include "modewise/ops/cuda/mode_pool.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

// Number of cells averaged into each [B, N_i], or undefined for sums.
at::Tensor averaged_cells(at::IntArrayRef sizes, int64_t mode, Pooling pooling,
                          const std::optional<at::Tensor>& mask, const at::TensorOptions& options) {
  if (pooling == Pooling::sum) return {};
  std::vector<int64_t> others;
  double cells = 1;
  for (int64_t i = 0; i < static_cast<int64_t>(sizes.size()) - 2; ++i) {
    if (i == mode) continue;
    others.push_back(i + 1);
    cells *= static_cast<double>(sizes[static_cast<size_t>(i) + 1]);
  }
  if (!mask) return at::full({sizes[0], sizes[static_cast<size_t>(mode) + 1]}, std::max(cells, 1.0), options);
  const auto valid = mask->to(options.dtype());
  return (others.empty() ? valid : valid.sum(others)).clamp_min(1);
}

at::Tensor dense_mask(const std::optional<at::Tensor>& mask) {
  return mask ? mask->contiguous() : at::Tensor();
}

const uint8_t* mask_bytes(const at::Tensor& mask) {
  return mask.defined() ? reinterpret_cast<const uint8_t*>(mask.const_data_ptr<bool>()) : nullptr;
}

std::vector<at::Tensor> pool_strided(const at::Tensor& x, Pooling pooling,
                                     const std::optional<at::Tensor>& token_mask) {
  const int64_t modes = x.dim() - 2, batch = x.size(0), channels = x.size(-1);
  const auto mask = dense_mask(token_mask);
  PoolPlan plan = {};
  plan.x = x.const_data_ptr();
  plan.mask = mask_bytes(mask);
  plan.modes = static_cast<int>(modes);
  plan.channels = channels;
  plan.cells = 1;
  plan.x_batch = x.stride(0);
  plan.x_channel = x.stride(-1);
  std::vector<at::Tensor> pooled, scales;
  for (int64_t i = 0; i < modes; ++i) {
    plan.size[i] = x.size(i + 1);
    plan.stride[i] = x.stride(i + 1);
    plan.cells *= plan.size[i];
    pooled.push_back(at::empty({batch, plan.size[i], channels}, x.options()));
    plan.out[i] = pooled.back().mutable_data_ptr();
    const auto averaged = averaged_cells(x.sizes(), i, pooling, token_mask,
                                         x.options().dtype(accumulate_type(x.scalar_type())));
    scales.push_back(averaged.defined() ? averaged.reciprocal() : averaged);
    plan.scale[i] = scales.back().defined() ? scales.back().const_data_ptr() : nullptr;
  }
  const int64_t chunks = (channels + kPoolChannels - 1) / kPoolChannels;
  dispatch_floating(x.scalar_type(), "mode_pool", [&]<class T>() {
    const auto& table = *loops().of<T>().pool;
    const int64_t bytes = table.scratch(plan);
    const int64_t task_work = plan.cells * std::min(channels, kPoolChannels);
    for_tasks(batch * chunks, task_work, [&](int64_t begin, int64_t end) {
      void* scratch = thread_scratch(bytes);
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task % chunks * kPoolChannels;
        table.pool(plan, task / chunks, first, std::min(first + kPoolChannels, channels), scratch);
      }
    });
  });
  return pooled;
}

std::string too_many_modes(const at::Tensor& x, Pooling, const std::optional<at::Tensor>&) {
  return x.dim() - 2 <= kMaxModes ? "" : "at most 16 modes";
}

const KernelList<std::vector<at::Tensor>(const at::Tensor&, Pooling, const std::optional<at::Tensor>&)>
    pool_kernels("mode_pool", {{"triton", cuda::mode_pool_refuses, cuda::mode_pool, KernelDevice::triton},
                               {"one_pass", too_many_modes, pool_strided},
                               {"reference", decltype(pool_kernels)::takes_all, reference::mode_pool}});

std::vector<at::Tensor> mode_pool_checked(const at::Tensor& x, c10::string_view pooling,
                                          const std::optional<at::Tensor>& token_mask) {
  check_mode_pool_args(x, token_mask);
  return pool_kernels.run(x.device(), x, pooling_from("mode_pool", pooling), token_mask);
}

std::string too_many_gradients(at::TensorList grads, at::IntArrayRef, Pooling,
                               const std::optional<at::Tensor>&) {
  return grads.size() <= kMaxModes ? "" : "at most 16 modes";
}

at::Tensor pool_backward_one_pass(at::TensorList grads, at::IntArrayRef sizes, Pooling pooling,
                                  const std::optional<at::Tensor>& token_mask) {
  const auto type = grads[0].scalar_type();
  const auto options = grads[0].options().dtype(accumulate_type(type));
  const auto out = at::empty(sizes, grads[0].options());
  const auto mask = dense_mask(token_mask);
  PoolBackwardPlan plan = {};
  plan.mask = mask_bytes(mask);
  plan.modes = static_cast<int>(grads.size());
  plan.channels = sizes.back();
  plan.cells = 1;
  plan.out = out.mutable_data_ptr();
  std::vector<at::Tensor> scaled;
  for (size_t i = 0; i < grads.size(); ++i) {
    auto grad = grads[i].to(options.dtype());
    const auto averaged = averaged_cells(sizes, static_cast<int64_t>(i), pooling, token_mask, options);
    if (averaged.defined()) grad = grad / averaged.unsqueeze(-1);
    scaled.push_back(grad.contiguous());
    plan.grad[i] = scaled.back().const_data_ptr();
    plan.size[i] = sizes[i + 1];
    plan.cells *= plan.size[i];
  }
  if (out.numel() == 0) return out;
  dispatch_floating(type, "mode_pool_backward", [&]<class T>() {
    const auto& table = *loops().of<T>().pool;
    const int64_t task_work = plan.cells / sizes[1] * plan.channels;
    for_tasks(sizes[0] * sizes[1], task_work, [&](int64_t begin, int64_t end) {
      void* scratch = thread_scratch(plan.channels * 8);
      for (int64_t task = begin; task < end; ++task)
        table.backward(plan, task / sizes[1], task % sizes[1], scratch);
    });
  });
  return out;
}

const KernelList<at::Tensor(at::TensorList, at::IntArrayRef, Pooling, const std::optional<at::Tensor>&)>
    pool_backward_kernels("mode_pool_backward", {{"triton", cuda::mode_pool_backward_refuses,
                                                  cuda::mode_pool_backward, KernelDevice::triton},
                                                 {"one_pass", too_many_gradients, pool_backward_one_pass},
                                                 {"reference", decltype(pool_backward_kernels)::takes_all,
                                                  reference::mode_pool_backward}});

at::Tensor mode_pool_backward_checked(at::TensorList grads, c10::SymIntArrayRef sizes,
                                      c10::string_view pooling, const std::optional<at::Tensor>& token_mask) {
  check_mode_pool_backward_args(grads, sizes, token_mask);
  return pool_backward_kernels.run(grads[0].device(), grads, C10_AS_INTARRAYREF_SLOW(sizes),
                                   pooling_from("mode_pool_backward", pooling), token_mask);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("mode_pool", mode_pool_checked);
  m.impl("mode_pool_backward", mode_pool_backward_checked);
}

}  // namespace modewise::ops
