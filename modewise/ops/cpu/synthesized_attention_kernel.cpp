// Blocks of rows whose number the sizes decide. Weights that no sample changes are made once: the samples are
// then more channels of one sample, and all products are large. A block never begins or ends inside the rows
// of one row of `outer` but when it has this one alone, so that its part of the Kronecker product is a
// product of two slices. Sums over samples are taken in their order.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

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
  at::TensorOptions wide() const { return v.options().dtype(accumulate_type(v.scalar_type())); }
};

/// Rows [first, first + count) of all heads.
struct RowBlock {
  int64_t first, count;
};

template <class Body>
void for_row_blocks(const Synthesis& a, const Body& body) {
  const int64_t fit = std::clamp<int64_t>(
      kBlockWeights / std::max<int64_t>(a.batch() * a.heads() * a.keys(), 1) / 16 * 16, 16, 1 << 20);
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

/// The matrices of all samples and heads in one tensor, by strides in elements.
struct Operand {
  /// x [B, n, H, width], or [1, n, H, width] for all samples.
  static Operand tokens(const at::Tensor& x) {
    return {x.const_data_ptr(), x.element_size(), x.size(0) == 1 ? 0 : x.stride(0),
            x.stride(2),        x.stride(1),      x.stride(3),
            x.size(1),          x.size(3),        x.scalar_type()};
  }
  /// x [B, H, n, m]
  static Operand matrices(const at::Tensor& x) {
    return {x.const_data_ptr(), x.element_size(), x.stride(0), x.stride(1),    x.stride(2),
            x.stride(3),        x.size(2),        x.size(3),   x.scalar_type()};
  }
  Operand transposed() const {
    Operand out = *this;
    std::swap(out.row, out.column);
    std::swap(out.rows, out.columns);
    return out;
  }
  const void* at(int64_t b, int64_t h) const {
    return static_cast<const char*>(data) + (b * sample + h * head) * bytes;
  }

  const void* data;
  int64_t bytes, sample, head, row, column, rows, columns;
  at::ScalarType type;
};

/// out[b, h] = left[b, h] · right[b, h], or added to what is there; out has dense rows.
void multiply(const Synthesis& a, const Operand& left, const Operand& right, const Operand& out,
              bool add = false) {
  GemmPlan plan = {};
  plan.rows = left.rows, plan.columns = right.columns, plan.depth = left.columns;
  plan.a_row = left.row, plan.a_col = left.column;
  plan.b_row = right.row, plan.b_col = right.column;
  plan.out_row = out.row;
  plan.wide = out.type != left.type;
  plan.add = add;
  std::vector<GemmPlan> plans;
  plans.reserve(static_cast<size_t>(a.batch() * a.heads()));
  for (int64_t b = 0; b < a.batch(); ++b)
    for (int64_t h = 0; h < a.heads(); ++h) {
      plan.a = left.at(b, h), plan.b = right.at(b, h), plan.out = const_cast<void*>(out.at(b, h));
      plans.push_back(plan);
    }
  gemm(a.v.scalar_type(), plans);
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

/// softmax of the logits of a block, [B, H, rows, m], in the type of sums.
at::Tensor block_weights(const Synthesis& a, const RowBlock& block) {
  at::Tensor logits;
  if (a.left.defined()) {
    logits = at::empty({a.batch(), a.heads(), block.count, a.keys()}, a.wide());
    multiply(a, Operand::tokens(a.left.narrow(1, block.first, block.count)),
             Operand::tokens(a.right).transposed(), Operand::matrices(logits));
  }
  if (a.outer.defined()) {
    const auto product = kronecker_rows(a, block).unsqueeze(0);
    if (logits.defined())
      logits.add_(product);
    else
      logits = product.expand({a.batch(), -1, -1, -1});
  }
  const auto kept = kept_cells(a, block);
  if (!kept.defined()) return at::softmax(logits, -1);
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  const auto weights = at::softmax(logits.masked_fill(kept.logical_not(), kHidden), -1);
  return weights.masked_fill(kept.any(-1, true).logical_not(), 0);
}

/// Whether all samples have the same weights.
bool same_for_all(const at::Tensor& v, const SynthesizedLogits& logits, const Maybe& key_mask) {
  return v.size(0) > 1 && !logits.left.defined() && !key_mask;
}

/// x [B, n, H, e] -> [1, n, H, B·e]: samples as channels.
at::Tensor fold_samples(const at::Tensor& x) {
  return x.permute({1, 2, 0, 3}).flatten(2, 3).unsqueeze(0);
}

/// The reverse.
at::Tensor unfold_samples(const at::Tensor& x, int64_t samples) {
  return x.squeeze(0).unflatten(-1, {samples, x.size(-1) / samples}).permute({2, 0, 1, 3}).contiguous();
}

at::Tensor synthesized_blocks(const at::Tensor& v, const SynthesizedLogits& logits, int64_t rows,
                              const Maybe& key_mask, bool causal) {
  const auto out = at::empty({v.size(0), rows, v.size(2), v.size(3)}, v.options());
  if (out.numel() == 0) return out;
  if (same_for_all(v, logits, key_mask))
    return unfold_samples(synthesized_blocks(fold_samples(v), logits, rows, key_mask, causal), v.size(0));
  const Synthesis a(v, logits, rows, key_mask, causal);
  for_row_blocks(a, [&](const RowBlock& block) {
    const auto weights = block_weights(a, block).to(v.scalar_type());
    multiply(a, Operand::matrices(weights), Operand::tokens(v),
             Operand::tokens(out.narrow(1, block.first, block.count)));
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
    const auto upstream = Operand::tokens(grad_.narrow(1, block.first, block.count));
    const auto narrow_weights = weights.to(a_.v.scalar_type());
    multiply(a_, Operand::matrices(narrow_weights).transposed(), upstream, Operand::tokens(v), true);
    auto slope = at::empty(weights.sizes(), weights.options());
    multiply(a_, upstream, Operand::tokens(a_.v).transposed(), Operand::matrices(slope));
    slope.mul_(weights);
    slope.sub_(weights * slope.sum(-1, true));
    if (a_.left.defined()) add_narrow(slope.to(a_.v.scalar_type()), block);
    if (a_.outer.defined()) add_factors(slope.size(0) == 1 ? slope[0] : slope.sum(0), block);
  }

  at::Tensor v, left, right, outer, inner;

 private:
  void add_narrow(const at::Tensor& slope, const RowBlock& block) {
    const auto rows = Operand::tokens(a_.left.narrow(1, block.first, block.count));
    multiply(a_, Operand::matrices(slope), Operand::tokens(a_.right),
             Operand::tokens(left.narrow(1, block.first, block.count)));
    const bool own = right.size(0) == a_.batch();
    const auto each =
        own ? right : at::empty({a_.batch(), right.size(1), right.size(2), right.size(3)}, right.options());
    multiply(a_, Operand::matrices(slope).transposed(), rows, Operand::tokens(each), own);
    if (!own) right.add_(each.sum(0, true));
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
  const bool folded = same_for_all(v, logits, key_mask);
  const auto values = folded ? fold_samples(v) : v, upstream = folded ? fold_samples(grad) : grad;
  const Synthesis a(values, logits, rows, key_mask, causal);
  SynthesisGradients sums(a, upstream);
  if (grad.numel() > 0 && a.keys() > 0) for_row_blocks(a, [&](const RowBlock& block) { sums.add(block); });
  const auto type = v.scalar_type();
  const auto of_values = sums.v.to(type);
  return {folded ? unfold_samples(of_values, v.size(0)) : of_values, sums.left, sums.right.to(type),
          sums.outer.to(type), sums.inner.to(type)};
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CPU, m) {
  m.impl("synthesized_attention", synthesized_attention_cpu);
  m.impl("synthesized_attention_backward", synthesized_attention_backward_cpu);
}

}  // namespace modewise::ops
