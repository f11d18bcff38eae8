// Blocks of rows whose number the sizes decide. Weights that no sample changes are made once for all. A block
// never begins or ends inside the rows of one row of `outer` but when it has this one alone, so that its part
// of the Kronecker product is a product of two slices. Sums over samples are taken in their order.

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
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"
#include "modewise/ops/synthesized_attention_checks.h"

namespace modewise::ops {

namespace {

using Maybe = std::optional<at::Tensor>;

/// Weights of a block at most: some megabytes.
constexpr int64_t kBlockWeights = int64_t{1} << 20;

struct Synthesis {
  Synthesis(const at::Tensor& values, const SynthesizedLogits& logits, int64_t row_count, const Maybe& mask,
            bool is_causal)
      : v(values), key_mask(mask), causal(is_causal), rows(row_count) {
    const auto type = accumulate_type(v.scalar_type());
    left = logits.left;
    right = logits.right;
    if (!logits.outer.defined()) return;
    outer = logits.outer.to(type);
    inner = logits.inner.to(type);
  }

  const at::Tensor& v;
  at::Tensor left, right, outer, inner;  // the last two in the type of sums
  const Maybe& key_mask;
  bool causal;
  int64_t rows;

  int64_t batch() const { return v.size(0); }
  int64_t keys() const { return v.size(1); }
  int64_t heads() const { return v.size(2); }
  /// Samples that have weights of their own.
  int64_t weighted() const { return left.defined() || key_mask ? batch() : 1; }
  int64_t of_weights(int64_t b) const { return weighted() == 1 ? 0 : b; }
  int64_t of_right(int64_t b) const { return right.size(0) == 1 ? 0 : b; }
  at::TensorOptions wide() const { return v.options().dtype(accumulate_type(v.scalar_type())); }
};

/// Matrix [rows, width] of sample b and head h of x [B, n, H, width].
at::Tensor head_rows(const at::Tensor& x, int64_t b, int64_t h) {
  return x.select(0, b).select(1, h);
}

/// Rows [first, first + count) of all heads.
struct RowBlock {
  int64_t first, count;
};

template <class Body>
void for_row_blocks(const Synthesis& a, const Body& body) {
  const int64_t fit = std::clamp<int64_t>(
      kBlockWeights / std::max<int64_t>(a.weighted() * a.heads() * a.keys(), 1) / 16 * 16, 16, 1 << 20);
  const int64_t group = a.outer.defined() ? std::max<int64_t>(a.inner.size(1), 1) : 1;
  for (int64_t first = 0, count; first < a.rows; first += count) {
    count =
        std::min(fit >= group ? fit / group * group : std::min(fit, group - first % group), a.rows - first);
    body(RowBlock{first, count});
  }
}

/// The slices of outer and inner whose product holds the rows of a block.
struct Slices {
  Slices(const Synthesis& a, const RowBlock& block) {
    const int64_t group = a.inner.size(1);
    first_outer = block.first / group;
    outer_rows = (block.first + block.count - 1) / group - first_outer + 1;
    first_inner = outer_rows == 1 ? block.first % group : 0;
    inner_rows = outer_rows == 1 ? block.count : group;
  }
  /// [H, r, 1, β, 1]
  at::Tensor outer(const at::Tensor& x) const {
    return x.narrow(1, first_outer, outer_rows).unsqueeze(2).unsqueeze(4);
  }
  /// [H, 1, r', 1, β']
  at::Tensor inner(const at::Tensor& x) const {
    return x.narrow(1, first_inner, inner_rows).unsqueeze(1).unsqueeze(3);
  }
  int64_t first_outer, outer_rows, first_inner, inner_rows;
};

/// outer ⊗ inner at the rows of a block, [H, rows, m].
at::Tensor kronecker_rows(const Synthesis& a, const RowBlock& block) {
  const Slices slices(a, block);
  const auto product = slices.outer(a.outer) * slices.inner(a.inner);
  return product.flatten(3, 4).flatten(1, 2).narrow(1, 0, block.count).narrow(2, 0, a.keys());
}

template <class Make>
void multiply_each(const Synthesis& a, int64_t samples, const Make& make) {
  std::vector<GemmPlan> plans;
  for (int64_t b = 0; b < samples; ++b)
    for (int64_t h = 0; h < a.heads(); ++h) plans.push_back(make(b, h));
  gemm(a.v.scalar_type(), plans);
}

/// The same where all samples add to one result: one sample after another.
template <class Make>
void multiply_in_turn(const Synthesis& a, const Make& make) {
  for (int64_t b = 0; b < a.batch(); ++b) {
    std::vector<GemmPlan> plans;
    for (int64_t h = 0; h < a.heads(); ++h) {
      plans.push_back(make(b, h));
      plans.back().add = b > 0;
    }
    gemm(a.v.scalar_type(), plans);
  }
}

/// Cells of a block that count, to be broadcast to [B or 1, H, rows, m]; undefined where all do.
at::Tensor kept_cells(const Synthesis& a, const RowBlock& block) {
  at::Tensor kept;
  if (a.key_mask) kept = a.key_mask->unsqueeze(1).unsqueeze(1);
  if (!a.causal) return kept;
  const auto own = at::arange(block.first, block.first + block.count).unsqueeze(1);
  const auto seen = at::arange(a.keys()).le(own);
  return kept.defined() ? kept.logical_and(seen) : seen.unsqueeze(0).unsqueeze(0);
}

/// softmax of the logits of a block, [B or 1, H, rows, m], in the type of sums.
at::Tensor block_weights(const Synthesis& a, const RowBlock& block) {
  at::Tensor logits;
  if (a.left.defined()) {
    logits = at::empty({a.batch(), a.heads(), block.count, a.keys()}, a.wide());
    const auto rows = a.left.narrow(1, block.first, block.count);
    multiply_each(a, a.batch(), [&](int64_t b, int64_t h) {
      return gemm_plan(head_rows(rows, b, h), head_rows(a.right, a.of_right(b), h).t(), {}, logits[b][h]);
    });
  }
  if (a.outer.defined()) {
    const auto product = kronecker_rows(a, block).unsqueeze(0);
    if (logits.defined())
      logits.add_(product);
    else
      logits = product.expand({a.weighted(), -1, -1, -1});
  }
  const auto kept = kept_cells(a, block);
  if (!kept.defined()) return at::softmax(logits, -1);
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  const auto weights = at::softmax(logits.masked_fill(kept.logical_not(), kHidden), -1);
  return weights.masked_fill(kept.any(-1, true).logical_not(), 0);
}

at::Tensor synthesized_blocks(const at::Tensor& v, const SynthesizedLogits& logits, int64_t rows,
                              const Maybe& key_mask, bool causal) {
  const Synthesis a(v, logits, rows, key_mask, causal);
  const auto out = at::empty({v.size(0), rows, v.size(2), v.size(3)}, v.options());
  if (out.numel() == 0) return out;
  for_row_blocks(a, [&](const RowBlock& block) {
    const auto weights = block_weights(a, block).to(v.scalar_type());
    const auto to = out.narrow(1, block.first, block.count);
    multiply_each(a, a.batch(), [&](int64_t b, int64_t h) {
      return gemm_plan(weights[a.of_weights(b)][h], head_rows(v, b, h), {}, head_rows(to, b, h));
    });
  });
  return out;
}

const KernelList<at::Tensor(const at::Tensor&, const SynthesizedLogits&, int64_t, const Maybe&, bool)>
    synthesized_kernels("synthesized_attention",
                        {{"blocks", decltype(synthesized_kernels)::takes_all, synthesized_blocks},
                         {"reference", decltype(synthesized_kernels)::takes_all,
                          reference::synthesized_attention}});

SynthesizedLogits given_logits(const Maybe& left, const Maybe& right, const Maybe& outer,
                               const Maybe& inner) {
  return {left.value_or(at::Tensor()), right.value_or(at::Tensor()), outer.value_or(at::Tensor()),
          inner.value_or(at::Tensor())};
}

at::Tensor synthesized_attention_cpu(const at::Tensor& v, const Maybe& left, const Maybe& right,
                                     const Maybe& outer, const Maybe& inner, int64_t rows,
                                     const Maybe& key_mask, bool causal) {
  const auto logits = given_logits(left, right, outer, inner);
  check_synthesized_attention_args(v, logits, rows, key_mask, causal);
  return synthesized_kernels.run(v, logits, rows, key_mask, causal);
}

/// Gradients in the type of sums, and what adds a block to them.
class SynthesisGradients {
 public:
  SynthesisGradients(const Synthesis& a, const at::Tensor& grad) : a_(a), grad_(grad) {
    const auto zeros = [&](const at::Tensor& x) {
      return x.defined() ? at::zeros(x.sizes(), a.wide()) : at::empty({0}, a.wide());
    };
    v = zeros(a.v), right = zeros(a.right), outer = zeros(a.outer), inner = zeros(a.inner);
    left = a.left.defined() ? at::zeros(a.left.sizes(), a.left.options()) : at::empty({0}, a.v.options());
  }

  void add(const RowBlock& block) {
    const auto weights = block_weights(a_, block);
    const auto upstream = grad_.narrow(1, block.first, block.count);
    add_values(weights.to(a_.v.scalar_type()), upstream);
    auto slope = at::empty(weights.sizes(), weights.options());
    const auto product = [&](int64_t b, int64_t h) {
      return gemm_plan(head_rows(upstream, b, h), head_rows(a_.v, b, h).t(), {}, slope[a_.of_weights(b)][h]);
    };
    if (a_.weighted() == 1)
      multiply_in_turn(a_, product);
    else
      multiply_each(a_, a_.batch(), product);
    slope.mul_(weights);
    slope.sub_(weights * slope.sum(-1, true));
    if (a_.left.defined()) add_narrow(slope.to(a_.v.scalar_type()), block);
    if (a_.outer.defined()) add_factors(slope.size(0) == 1 ? slope[0] : slope.sum(0), block);
  }

  at::Tensor v, left, right, outer, inner;

 private:
  void add_values(const at::Tensor& weights, const at::Tensor& upstream) {
    multiply_each(a_, a_.batch(), [&](int64_t b, int64_t h) {
      GemmPlan plan =
          gemm_plan(weights[a_.of_weights(b)][h].t(), head_rows(upstream, b, h), {}, head_rows(v, b, h));
      plan.add = true;
      return plan;
    });
  }

  void add_narrow(const at::Tensor& slope, const RowBlock& block) {
    const auto rows = a_.left.narrow(1, block.first, block.count),
               to = left.narrow(1, block.first, block.count);
    multiply_each(a_, a_.batch(), [&](int64_t b, int64_t h) {
      return gemm_plan(slope[b][h], head_rows(a_.right, a_.of_right(b), h), {}, head_rows(to, b, h));
    });
    for (int64_t b = 0; b < a_.batch(); ++b) {
      std::vector<GemmPlan> plans;
      for (int64_t h = 0; h < a_.heads(); ++h) {
        plans.push_back(
            gemm_plan(slope[b][h].t(), head_rows(rows, b, h), {}, head_rows(right, a_.of_right(b), h)));
        plans.back().add = true;
      }
      gemm(a_.v.scalar_type(), plans);
    }
  }

  /// slope [H, rows, m]
  void add_factors(const at::Tensor& slope, const RowBlock& block) {
    const Slices slices(a_, block);
    const int64_t all_rows = slices.outer_rows * slices.inner_rows;
    const int64_t columns = outer.size(2) * inner.size(2);
    auto cells = slope;
    if (all_rows != slope.size(1) || columns != slope.size(2)) {  // beyond the part that is used
      cells = at::zeros({slope.size(0), all_rows, columns}, slope.options());
      cells.narrow(1, 0, slope.size(1)).narrow(2, 0, slope.size(2)).copy_(slope);
    }
    cells = cells.view({slope.size(0), slices.outer_rows, slices.inner_rows, outer.size(2), inner.size(2)});
    outer.narrow(1, slices.first_outer, slices.outer_rows).add_((cells * slices.inner(a_.inner)).sum({2, 4}));
    inner.narrow(1, slices.first_inner, slices.inner_rows).add_((cells * slices.outer(a_.outer)).sum({1, 3}));
  }

  const Synthesis& a_;
  const at::Tensor& grad_;
};

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> synthesized_attention_backward_cpu(
    const at::Tensor& grad, const at::Tensor& v, const Maybe& left, const Maybe& right, const Maybe& outer,
    const Maybe& inner, int64_t rows, const Maybe& key_mask, bool causal) {
  const auto logits = given_logits(left, right, outer, inner);
  check_synthesized_attention_args(v, logits, rows, key_mask, causal);
  const Synthesis a(v, logits, rows, key_mask, causal);
  SynthesisGradients sums(a, grad);
  if (grad.numel() > 0 && a.keys() > 0) for_row_blocks(a, [&](const RowBlock& block) { sums.add(block); });
  const auto type = v.scalar_type();
  return {sums.v.to(type), sums.left, sums.right.to(type), sums.outer.to(type), sums.inner.to(type)};
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CPU, m) {
  m.impl("synthesized_attention", synthesized_attention_cpu);
  m.impl("synthesized_attention_backward", synthesized_attention_backward_cpu);
}

}  // namespace modewise::ops
