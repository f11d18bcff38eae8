// Blocks of rows whose number the sizes decide: the scores of a block for all samples and heads are one list
// of products (cpu/gemm.h), then softmax over dense rows, then another list. Gradients of keys and values are
// added up block by block, and head by head where heads share them.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <algorithm>
#include <limits>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/gemm.h"
#include "modewise/ops/dot_product_attention_checks.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

using Mask = std::optional<at::Tensor>;

/// Scores of a block at most: some megabytes.
constexpr int64_t kBlockScores = int64_t{1} << 22;

struct Attention {
  const at::Tensor &q, &k, &v;
  const Mask& mask;
  bool causal;
  double scale;

  int64_t batch() const { return q.size(0); }
  int64_t heads() const { return q.size(2); }
  at::TensorOptions wide() const { return q.options().dtype(accumulate_type(q.scalar_type())); }

  /// Matrix [rows, width] of sample b of x [B, n, G, width] that head h of H uses.
  at::Tensor matrix(const at::Tensor& x, int64_t b, int64_t h) const {
    return x.select(0, b).select(1, h * x.size(2) / heads());
  }
};

/// Rows [first, first + rows) of all samples and heads, and the keys that they may see: [0, keys).
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

/// Adds to `plans` the product that `make` gives for each sample and head of the list.
template <class Make>
void multiply_heads(const Attention& a, int64_t first_head, int64_t step, const Make& make) {
  std::vector<GemmPlan> plans;
  for (int64_t b = 0; b < a.batch(); ++b)
    for (int64_t h = first_head; h < a.heads(); h += step) plans.push_back(make(b, h));
  gemm(a.q.scalar_type(), plans);
}

/// softmax(scale · q kᵀ) of a block, [B, H, rows, keys], in the type of sums.
at::Tensor weights_of(const Attention& a, const Block& block) {
  const auto scores = at::empty({a.batch(), a.heads(), block.rows, block.keys}, a.wide());
  const auto queries = a.q.narrow(1, block.first, block.rows), keys = a.k.narrow(1, 0, block.keys);
  multiply_heads(a, 0, 1, [&](int64_t b, int64_t h) {
    return gemm_plan(a.matrix(queries, b, h), a.matrix(keys, b, h).t(), {}, scores[b][h]);
  });
  scores.mul_(a.scale);
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  if (a.mask) {
    const auto all = a.mask->expand({a.batch(), a.heads(), a.q.size(1), a.k.size(1)});
    scores.masked_fill_(all.narrow(2, block.first, block.rows).narrow(3, 0, block.keys).logical_not(),
                        kHidden);
  }
  if (a.causal) {
    const auto own = at::arange(block.first, block.first + block.rows).unsqueeze(1);
    scores.masked_fill_(at::arange(block.keys).gt(own), kHidden);
  }
  return at::softmax(scores, -1);
}

at::Tensor attention_blocks(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Mask& mask,
                            bool causal, double scale) {
  const Attention a{q, k, v, mask, causal, scale};
  const auto out = at::empty({q.size(0), q.size(1), q.size(2), v.size(3)}, q.options());
  if (out.numel() == 0) return out;
  for_blocks(a, [&](const Block& block) {
    const auto weights = weights_of(a, block).to(q.scalar_type());
    const auto rows = out.narrow(1, block.first, block.rows), values = v.narrow(1, 0, block.keys);
    multiply_heads(a, 0, 1, [&](int64_t b, int64_t h) {
      return gemm_plan(weights[b][h], a.matrix(values, b, h), {}, a.matrix(rows, b, h));
    });
  });
  return out;
}

const KernelList<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const Mask&, bool,
                            double)>
    dot_product_attention_kernels("dot_product_attention",
                                  {{"blocks", decltype(dot_product_attention_kernels)::takes_all,
                                    attention_blocks},
                                   {"reference", decltype(dot_product_attention_kernels)::takes_all,
                                    reference::dot_product_attention}});

at::Tensor attention_cpu(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Mask& mask,
                         bool causal, double scale) {
  check_dot_product_attention_args(q, k, v, mask, causal);
  return dot_product_attention_kernels.run(q, k, v, mask, causal, scale);
}

/// sums[b, :keys, g] += left[b, h]ᵀ right[b, h], heads that share g one after another.
void add_to_keys(const Attention& a, const at::Tensor& left, const at::Tensor& right,
                 const at::Tensor& sums) {
  const int64_t repeats = a.heads() / sums.size(2);
  for (int64_t repeat = 0; repeat < repeats; ++repeat)
    multiply_heads(a, repeat, repeats, [&](int64_t b, int64_t h) {
      GemmPlan plan = gemm_plan(left[b][h].t(), a.matrix(right, b, h), {}, a.matrix(sums, b, h));
      plan.add = true;
      return plan;
    });
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> attention_backward_cpu(const at::Tensor& grad,
                                                                      const at::Tensor& q,
                                                                      const at::Tensor& k,
                                                                      const at::Tensor& v, const Mask& mask,
                                                                      bool causal, double scale) {
  check_dot_product_attention_args(q, k, v, mask, causal);
  const Attention a{q, k, v, mask, causal, scale};
  const auto type = q.scalar_type();
  const auto grad_q = at::empty(q.sizes(), q.options());
  const auto grad_k = at::zeros(k.sizes(), a.wide()), grad_v = at::zeros(v.sizes(), a.wide());
  if (grad.numel() == 0) grad_q.zero_();
  for_blocks(a, [&](const Block& block) {
    if (grad.numel() == 0 || block.keys == 0) return;
    const auto weights = weights_of(a, block);
    const auto upstream = grad.narrow(1, block.first, block.rows), values = v.narrow(1, 0, block.keys);
    auto slope = at::empty(weights.sizes(), weights.options());
    multiply_heads(a, 0, 1, [&](int64_t b, int64_t h) {
      return gemm_plan(a.matrix(upstream, b, h), a.matrix(values, b, h).t(), {}, slope[b][h]);
    });
    add_to_keys(a, weights.to(type), upstream, grad_v.narrow(1, 0, block.keys));
    slope.mul_(weights);
    const auto mean = slope.sum(-1, true);
    slope = slope.sub_(weights * mean).mul_(scale).to(type);
    const auto queries = q.narrow(1, block.first, block.rows), to = grad_q.narrow(1, block.first, block.rows);
    const auto keys = k.narrow(1, 0, block.keys);
    multiply_heads(a, 0, 1, [&](int64_t b, int64_t h) {
      return gemm_plan(slope[b][h], a.matrix(keys, b, h), {}, a.matrix(to, b, h));
    });
    add_to_keys(a, slope, queries, grad_k.narrow(1, 0, block.keys));
  });
  return {grad_q, grad_k.to(type), grad_v.to(type)};
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CPU, m) {
  m.impl("dot_product_attention", attention_cpu);
  m.impl("dot_product_attention_backward", attention_backward_cpu);
}

}  // namespace modewise::ops
