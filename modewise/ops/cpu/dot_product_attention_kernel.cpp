// Blocks of rows that depend only on the sizes: the scores of a block for all samples and heads are one
// batched GEMM (cpu/gemm.h), then exponentials of contiguous rows, then another batched GEMM. Gradients of
// keys and values are accumulated block by block, and head by head where heads share them.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <algorithm>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/dot_product_attention_checks.h"
#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/gemm.h"
#include "modewise/ops/cpu/loops.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/cuda/dot_product_attention.h"
#include "modewise/ops/cuda/short_attention.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

using Mask = std::optional<at::Tensor>;

/// Maximum number of scores per block: some megabytes.
constexpr int64_t kBlockScores = int64_t{1} << 22;

struct Attention {
  const at::Tensor &q, &k, &v;
  const Mask& mask;
  bool causal;
  double scale;

  int64_t batch() const { return q.size(0); }
  int64_t heads() const { return q.size(2); }
  at::TensorOptions wide() const { return q.options().dtype(accumulate_type(q.scalar_type())); }

  /// x [B, n, G, width] expanded to the query heads, [B, G, H / G, n, width], as a view.
  at::Tensor by_head(const at::Tensor& x) const {
    return x.transpose(1, 2).unsqueeze(2).expand({-1, -1, heads() / x.size(2), -1, -1});
  }
  void multiply(const at::Tensor& x, const at::Tensor& y, const at::Tensor& out) const {
    gemm(q.scalar_type(), gemm_plans(x, y, out));
  }
};

/// Rows [first, first + rows) of all samples and heads, and the range [0, keys) of keys they may attend to.
struct Block {
  int64_t first, rows, keys;
};

template <class Body>
void for_blocks(const Attention& a, const Body& body) {
  const int64_t n = a.q.size(1), m = a.k.size(1);
  const int64_t fit = kBlockScores / std::max<int64_t>(a.batch() * a.heads() * m, 1);
  const int64_t rows = std::clamp<int64_t>(fit / 16 * 16, 16, std::max<int64_t>(n, 16));
  for (int64_t first = 0; first < n; first += rows) {
    const int64_t count = std::min(rows, n - first);
    body(Block{first, count, a.causal ? first + count : m});
  }
}

/// exp(scale · q kᵀ − row maximum) of a block, [B, H, rows, keys], and the row sums (softmax denominators).
struct Weights {
  at::Tensor of_keys, sums;
};

/// Weights of `type`, sums in the accumulate type.
Weights weights_of(const Attention& a, const Block& block, at::ScalarType type) {
  const auto scores = at::empty({a.batch(), a.heads(), block.rows, block.keys}, a.wide());
  const auto queries = a.q.narrow(1, block.first, block.rows), keys = a.k.narrow(1, 0, block.keys);
  a.multiply(a.by_head(queries), a.by_head(keys).mT(), scores);
  const auto weights = type == scores.scalar_type() ? scores : at::empty(scores.sizes(), a.q.options());
  const auto sums = at::empty({a.batch(), a.heads(), block.rows}, a.wide());
  const WeightPlan plan{scores.mutable_data_ptr(), weights.mutable_data_ptr(), sums.mutable_data_ptr(),
                        block.keys, a.scale};
  at::Tensor mask;
  if (a.mask) mask = a.mask->expand({a.batch(), a.heads(), a.q.size(1), a.k.size(1)});
  dispatch_floating(type, "dot_product_attention", [&]<class T>() {
    const auto& loops = *ops::loops().of<T>().score;
    for_tasks(sums.numel(), block.keys, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t place = block.first + row % block.rows, head = row / block.rows;
        SeenKeys seen{a.causal ? place + 1 : block.keys, nullptr, 0};
        if (mask.defined()) {
          seen.mask = static_cast<const uint8_t*>(mask.const_data_ptr()) + head / a.heads() * mask.stride(0) +
                      head % a.heads() * mask.stride(1) + place * mask.stride(2);
          seen.step = mask.stride(3);
        }
        loops.weigh(plan, row, seen);
      }
    });
  });
  return {weights, sums};
}

/// Divides the results, not the weights, by the denominators: bfloat16 rounds unnormalised weights.
at::Tensor attention_blocks(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Mask& mask,
                            bool causal, double scale) {
  const Attention a{q, k, v, mask, causal, scale};
  const auto out = at::empty({q.size(0), q.size(1), q.size(2), v.size(3)}, q.options());
  if (out.numel() == 0) return out;
  if (k.size(1) == 0) return out.zero_();
  for_blocks(a, [&](const Block& block) {
    const auto [weights, sums] = weights_of(a, block, q.scalar_type());
    const auto rows = out.narrow(1, block.first, block.rows), values = v.narrow(1, 0, block.keys);
    const auto sum = q.scalar_type() == sums.scalar_type() ? rows : at::empty(rows.sizes(), a.wide());
    a.multiply(weights, a.by_head(values), a.by_head(sum));
    sum.div_(sums.transpose(1, 2).unsqueeze(-1));
    if (!sum.is_same(rows)) rows.copy_(sum);
  });
  return out;
}

const KernelList<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const Mask&, bool,
                            double)>
    dot_product_attention_kernels(
        "dot_product_attention",
        {{"triton", cuda::short_attention_refuses, cuda::short_attention, KernelDevice::triton},
         {"blocks", decltype(dot_product_attention_kernels)::takes_all, attention_blocks},
         {"libtorch", decltype(dot_product_attention_kernels)::takes_all, cuda::dot_product_attention,
          KernelDevice::cuda},
         {"reference", decltype(dot_product_attention_kernels)::takes_all,
          reference::dot_product_attention}});

at::Tensor attention_checked(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Mask& mask,
                             bool causal, double scale) {
  check_dot_product_attention_args(q, k, v, mask, causal);
  return dot_product_attention_kernels.run(q.device(), q, k, v, mask, causal, scale);
}

/// sums [B, keys, G, w] += left [B, H, rows, keys]ᵀ right [B, rows, H, w], heads that share g one after
/// another.
void add_to_keys(const Attention& a, const at::Tensor& left, const at::Tensor& right,
                 const at::Tensor& sums) {
  const int64_t repeats = a.heads() / sums.size(2);
  for (int64_t repeat = 0; repeat < repeats; ++repeat) {
    const auto heads = [&](const at::Tensor& x) { return x.slice(1, repeat, a.heads(), repeats); };
    auto plans = gemm_plans(heads(left).mT(), heads(right.transpose(1, 2)), sums.transpose(1, 2));
    for (GemmPlan& plan : plans) plan.add = true;
    gemm(a.q.scalar_type(), plans);
  }
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> attention_backward_blocks(
    const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Mask& mask,
    bool causal, double scale) {
  const Attention a{q, k, v, mask, causal, scale};
  const auto type = q.scalar_type();
  const auto grad_q = at::empty(q.sizes(), q.options());
  const auto grad_k = at::zeros(k.sizes(), a.wide()), grad_v = at::zeros(v.sizes(), a.wide());
  if (grad.numel() == 0) grad_q.zero_();
  for_blocks(a, [&](const Block& block) {
    if (grad.numel() == 0 || block.keys == 0) return;
    const auto [weights, sums] = weights_of(a, block, grad_k.scalar_type());
    weights.div_(sums.unsqueeze(-1));
    const auto upstream = grad.narrow(1, block.first, block.rows), values = v.narrow(1, 0, block.keys);
    auto slope = at::empty(weights.sizes(), weights.options());
    a.multiply(a.by_head(upstream), a.by_head(values).mT(), slope);
    add_to_keys(a, weights.to(type), upstream, grad_v.narrow(1, 0, block.keys));
    slope.mul_(weights);
    const auto mean = slope.sum(-1, true);
    slope = slope.sub_(weights * mean).mul_(scale).to(type);
    const auto queries = q.narrow(1, block.first, block.rows), to = grad_q.narrow(1, block.first, block.rows);
    const auto keys = k.narrow(1, 0, block.keys);
    a.multiply(slope, a.by_head(keys), a.by_head(to));
    add_to_keys(a, slope, queries, grad_k.narrow(1, 0, block.keys));
  });
  return {grad_q, grad_k.to(type), grad_v.to(type)};
}

using AttentionBackwardKernels = KernelList<std::tuple<at::Tensor, at::Tensor, at::Tensor>(
    const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, const Mask&, bool, double)>;
const AttentionBackwardKernels attention_backward_kernels(
    "dot_product_attention_backward",
    {{"triton", cuda::short_attention_backward_refuses, cuda::short_attention_backward, KernelDevice::triton},
     {"blocks", AttentionBackwardKernels::takes_all, attention_backward_blocks},
     {"libtorch", AttentionBackwardKernels::takes_all, cuda::dot_product_attention_backward,
      KernelDevice::cuda},
     {"reference", AttentionBackwardKernels::takes_all, reference::dot_product_attention_backward}});

std::tuple<at::Tensor, at::Tensor, at::Tensor> attention_backward_checked(
    const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Mask& mask,
    bool causal, double scale) {
  check_dot_product_attention_args(q, k, v, mask, causal);
  check_same("dot_product_attention_backward", "grad", grad, "q", q);
  return attention_backward_kernels.run(q.device(), grad, q, k, v, mask, causal, scale);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("dot_product_attention", attention_checked);
  m.impl("dot_product_attention_backward", attention_backward_checked);
}

}  // namespace modewise::ops
