// q [B, n, H·d], k [B, m, H·d]; a task is one (sample, head) and writes scores[b, h] [n, m], or in backward
// the channels of head h of sample b of both gradients.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <cmath>
#include <vector>

#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/mode_scores.h"
#include "modewise/ops/cpu/dense_channels.h"
#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/cpu/scratch.h"
#include "modewise/ops/cuda/mode_scores.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

using Mask = std::optional<at::Tensor>;

ScorePlan score_plan(const at::Tensor& q, const at::Tensor& k, int64_t heads) {
  ScorePlan plan = {};
  plan.q = q.const_data_ptr();
  plan.k = k.const_data_ptr();
  plan.n = q.size(1), plan.m = k.size(1);
  plan.heads = heads;
  plan.width = q.size(2) / heads;
  plan.q_batch = q.stride(0), plan.q_row = q.stride(1);
  plan.k_batch = k.stride(0), plan.k_row = k.stride(1);
  plan.scale = 1 / std::sqrt(static_cast<double>(plan.width));
  return plan;
}

const uint8_t* bytes(const at::Tensor& mask) {
  return reinterpret_cast<const uint8_t*>(mask.const_data_ptr<bool>());
}

at::Tensor scores_fused(const at::Tensor& queries, const at::Tensor& keys, int64_t heads,
                        const Mask& key_mask, const Mask& mode_mask) {
  const auto q = dense_channels(queries), k = dense_channels(keys);
  const auto out = at::empty({q.size(0), heads, q.size(1), k.size(1)}, q.options());
  if (out.numel() == 0) return out;
  at::Tensor key_bytes, mode_bytes;
  ScorePlan plan = score_plan(q, k, heads);
  plan.scores = out.mutable_data_ptr();
  if (key_mask) {
    key_bytes = key_mask->contiguous();
    plan.key_mask = bytes(key_bytes);
    plan.key_mask_per_head = key_mask->dim() == 3;
  }
  if (mode_mask) {
    mode_bytes = mode_mask->contiguous();
    plan.mode_mask = bytes(mode_bytes);
  }
  dispatch_floating(q.scalar_type(), "mode_scores", [&]<class T>() {
    const auto& table = *loops().of<T>().score;
    const int64_t scratch_bytes = table.scratch(plan, false);
    const int64_t task_work = plan.n * plan.m * (plan.width / 4 + 2);
    for_tasks(q.size(0) * heads, task_work, [&](int64_t begin, int64_t end) {
      void* scratch = thread_scratch(scratch_bytes);
      for (int64_t task = begin; task < end; ++task) table.forward(plan, task / heads, task % heads, scratch);
    });
  });
  return out;
}

const KernelList<at::Tensor(const at::Tensor&, const at::Tensor&, int64_t, const Mask&, const Mask&)>
    score_kernels("mode_scores",
                  {{"triton", cuda::mode_scores_refuses, cuda::mode_scores, KernelDevice::triton},
                   {"fused", decltype(score_kernels)::takes_all, scores_fused},
                   {"reference", decltype(score_kernels)::takes_all, reference::mode_scores}});

at::Tensor mode_scores_checked(const at::Tensor& q, const at::Tensor& k, int64_t heads, const Mask& key_mask,
                               const Mask& mode_mask) {
  check_mode_scores_args(q, k, heads, key_mask, mode_mask);
  return score_kernels.run(q.device(), q, k, heads, key_mask, mode_mask);
}

std::tuple<at::Tensor, at::Tensor> scores_backward_fused(const at::Tensor& grad_scores,
                                                         const at::Tensor& scores, const at::Tensor& queries,
                                                         const at::Tensor& keys, int64_t heads) {
  const auto q = dense_channels(queries), k = dense_channels(keys);
  const auto dense_scores = scores.contiguous(), grad = grad_scores.contiguous();
  const auto grad_q = at::empty(q.sizes(), q.options()), grad_k = at::empty(k.sizes(), k.options());
  ScorePlan plan = score_plan(q, k, heads);
  plan.scores = const_cast<void*>(dense_scores.const_data_ptr());
  plan.grad = grad.const_data_ptr();
  plan.grad_q = grad_q.mutable_data_ptr();
  plan.grad_k = grad_k.mutable_data_ptr();
  dispatch_floating(q.scalar_type(), "mode_scores_backward", [&]<class T>() {
    const auto& table = *loops().of<T>().score;
    const int64_t scratch_bytes = table.scratch(plan, true);
    const int64_t task_work = plan.n * plan.m * (plan.width / 4 + 2);
    for_tasks(q.size(0) * heads, task_work, [&](int64_t begin, int64_t end) {
      void* scratch = thread_scratch(scratch_bytes);
      for (int64_t task = begin; task < end; ++task)
        table.backward(plan, task / heads, task % heads, scratch);
    });
  });
  return {grad_q, grad_k};
}

const KernelList<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                                    const at::Tensor&, int64_t)>
    score_backward_kernels(
        "mode_scores_backward",
        {{"triton", cuda::mode_scores_backward_refuses, cuda::mode_scores_backward, KernelDevice::triton},
         {"fused", decltype(score_backward_kernels)::takes_all, scores_backward_fused},
         {"reference", decltype(score_backward_kernels)::takes_all, reference::mode_scores_backward}});

std::tuple<at::Tensor, at::Tensor> mode_scores_backward_checked(const at::Tensor& grad,
                                                                const at::Tensor& scores, const at::Tensor& q,
                                                                const at::Tensor& k, int64_t heads) {
  check_mode_scores_args(q, k, heads, {}, {});
  check_same("mode_scores_backward", "grad", grad, "q", q);
  check_same("mode_scores_backward", "scores", scores, "q", q);
  return score_backward_kernels.run(q.device(), grad, scores, q, k, heads);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("mode_scores", mode_scores_checked);
  m.impl("mode_scores_backward", mode_scores_backward_checked);
}

}  // namespace modewise::ops
