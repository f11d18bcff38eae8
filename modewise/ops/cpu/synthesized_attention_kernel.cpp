// In parts and blocks (cpu/synthesis.h). Weights that no sample changes are computed once: the samples are
// then folded into the channels of one sample, and all products are large.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <vector>

#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/synthesized_attention_checks.h"
#include "modewise/ops/cpu/synthesis.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

using Maybe = std::optional<at::Tensor>;

/// Whether all samples have the same weights.
bool same_for_all(const at::Tensor& v, const SynthesizedLogits& logits, const Maybe& key_mask) {
  return v.size(0) > 1 && !logits.left.defined() && !key_mask;
}

/// x [B, n, H, e] -> [1, n, H, B·e]: samples folded into channels.
at::Tensor fold_samples(const at::Tensor& x) {
  return x.permute({1, 2, 0, 3}).flatten(2, 3).unsqueeze(0);
}

/// Inverse of fold_samples.
at::Tensor unfold_samples(const at::Tensor& x, int64_t samples) {
  return x.squeeze(0).unflatten(-1, {samples, x.size(-1) / samples}).permute({2, 0, 1, 3}).contiguous();
}

at::Tensor synthesized_blocks(const at::Tensor& v, const SynthesizedLogits& logits, int64_t rows,
                              const Maybe& key_mask, bool causal) {
  const auto out = at::empty({v.size(0), rows, v.size(2), v.size(3)}, v.options());
  if (out.numel() == 0) return out;
  if (same_for_all(v, logits, key_mask))
    return unfold_samples(synthesized_blocks(fold_samples(v), logits, rows, key_mask, causal), v.size(0));
  const Synthesis all(v, logits, rows, key_mask, causal);
  for_parts(all, [&](const SamplePart& part) {
    const Synthesis a = all.samples(part);
    const auto own = out.narrow(0, part.first, part.count);
    for_row_blocks(a, [&](const RowBlock& block) {
      const auto weights = block_weights(a, block).to(v.scalar_type());
      multiply_heads(a, HeadMatrices::matrices(weights), HeadMatrices::tokens(a.v),
                     HeadMatrices::tokens(own.narrow(1, block.first, block.count)));
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

at::Tensor synthesized_attention_checked(const at::Tensor& v, const Maybe& left, const Maybe& right,
                                         const Maybe& outer, const Maybe& inner, int64_t rows,
                                         const Maybe& key_mask, bool causal) {
  const auto logits = given_logits(left, right, outer, inner);
  check_synthesized_attention_args(v, logits, rows, key_mask, causal);
  return synthesized_kernels.run(v.device(), v, logits, rows, key_mask, causal);
}

/// Gradients: of left in its own dtype, all others in the accumulate type. Gradients common to all samples
/// have one sum per part first.
struct SynthesisSums {
  explicit SynthesisSums(const Synthesis& a)
      : v(at::zeros(a.v.sizes(), a.wide())),
        left(a.left.defined() ? at::zeros(a.left.sizes(), a.left.options()) : at::empty({0}, a.v.options())),
        right(a.right.defined() && !a.shared_right() ? at::zeros(a.right.sizes(), a.wide())
                                                     : parts_like(a, a.right)),
        outer(parts_like(a, a.outer)),
        inner(parts_like(a, a.inner)) {}

  at::Tensor v, left, right, outer, inner;

 private:
  static at::Tensor parts_like(const Synthesis& a, const at::Tensor& x) {
    std::vector<int64_t> sizes = {parts_of(a), 0};
    if (x.defined()) {
      sizes.pop_back();
      sizes.insert(sizes.end(), x.sizes().begin(), x.sizes().end());
    }
    return at::zeros(sizes, a.wide());
  }
};

/// Adds the blocks of a part to its sums.
class PartGradients {
 public:
  PartGradients(const Synthesis& all, const SamplePart& part, const at::Tensor& grad,
                const SynthesisSums& sums)
      : a_(all.samples(part)),
        grad_(grad.narrow(0, part.first, part.count)),
        v_(sums.v.narrow(0, part.first, part.count)),
        outer_(sums.outer[part.number]),
        inner_(sums.inner[part.number]) {
    if (!all.left.defined()) return;
    left_ = sums.left.narrow(0, part.first, part.count);
    right_ = all.shared_right() ? sums.right[part.number] : sums.right.narrow(0, part.first, part.count);
  }

  void add() {
    for_row_blocks(a_, [&](const RowBlock& block) { add(block); });
  }

 private:
  void add(const RowBlock& block) {
    const auto weights = block_weights(a_, block);
    const auto upstream = HeadMatrices::tokens(grad_.narrow(1, block.first, block.count));
    const auto narrow_weights = weights.to(a_.v.scalar_type());
    multiply_heads(a_, HeadMatrices::matrices(narrow_weights).transposed(), upstream,
                   HeadMatrices::tokens(v_), true);
    auto slope = at::empty(weights.sizes(), weights.options());
    multiply_heads(a_, upstream, HeadMatrices::tokens(a_.v).transposed(), HeadMatrices::matrices(slope));
    slope.mul_(weights);
    slope.sub_(weights * slope.sum(-1, true));
    if (a_.left.defined()) add_narrow(slope.to(a_.v.scalar_type()), block);
    if (a_.outer.defined()) add_factors(slope.size(0) == 1 ? slope[0] : slope.sum(0), block);
  }

  void add_narrow(const at::Tensor& slope, const RowBlock& block) {
    const auto rows = HeadMatrices::tokens(a_.left.narrow(1, block.first, block.count));
    multiply_heads(a_, HeadMatrices::matrices(slope), HeadMatrices::tokens(a_.right),
                   HeadMatrices::tokens(left_.narrow(1, block.first, block.count)));
    const bool own = right_.size(0) == a_.batch();
    const auto each =
        own ? right_ : at::empty({a_.batch(), right_.size(1), right_.size(2), right_.size(3)}, a_.wide());
    multiply_heads(a_, HeadMatrices::matrices(slope).transposed(), rows, HeadMatrices::tokens(each), own);
    if (!own) right_.add_(each.sum(0, true));
  }

  /// slope [H, rows, m]
  void add_factors(const at::Tensor& slope, const RowBlock& block) {
    const KroneckerSlices slices(a_, block);
    const int64_t all_rows = slices.outer_rows * slices.inner_rows;
    const int64_t columns = outer_.size(2) * inner_.size(2);
    auto cells = slope;
    if (all_rows != slope.size(1) || columns != slope.size(2)) {  // zero outside the used part
      cells = at::zeros({slope.size(0), all_rows, columns}, slope.options());
      cells.narrow(1, 0, slope.size(1)).narrow(2, 0, slope.size(2)).copy_(slope);
    }
    cells = cells.view({slope.size(0), slices.outer_rows, slices.inner_rows, outer_.size(2), inner_.size(2)});
    outer_.narrow(1, slices.first_outer, slices.outer_rows)
        .add_((cells * slices.inner(a_.inner)).sum({2, 4}));
    inner_.narrow(1, slices.first_inner, slices.inner_rows)
        .add_((cells * slices.outer(a_.outer)).sum({1, 3}));
  }

  Synthesis a_;
  at::Tensor grad_, v_, left_, right_, outer_, inner_;
};

using FiveGradients = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

FiveGradients synthesized_backward_blocks(const at::Tensor& grad, const at::Tensor& v,
                                          const SynthesizedLogits& logits, int64_t rows,
                                          const Maybe& key_mask, bool causal) {
  const bool folded = same_for_all(v, logits, key_mask);
  const auto values = folded ? fold_samples(v) : v, upstream = folded ? fold_samples(grad) : grad;
  const Synthesis a(values, logits, rows, key_mask, causal);
  const SynthesisSums sums(a);
  if (grad.numel() > 0 && a.keys() > 0)
    for_parts(a, [&](const SamplePart& part) { PartGradients(a, part, upstream, sums).add(); });
  const auto type = v.scalar_type();
  const auto of_values = sums.v.to(type);
  const bool own_right = a.right.defined() && !a.shared_right();
  return {folded ? unfold_samples(of_values, v.size(0)) : of_values, sums.left,
          (own_right ? sums.right : sums.right.sum(0)).to(type), sums.outer.sum(0).to(type),
          sums.inner.sum(0).to(type)};
}

const KernelList<FiveGradients(const at::Tensor&, const at::Tensor&, const SynthesizedLogits&, int64_t,
                               const Maybe&, bool)>
    synthesized_backward_kernels("synthesized_attention_backward",
                                 {{"blocks", decltype(synthesized_backward_kernels)::takes_all,
                                   synthesized_backward_blocks},
                                  {"reference", decltype(synthesized_backward_kernels)::takes_all,
                                   reference::synthesized_attention_backward}});

FiveGradients synthesized_attention_backward_checked(const at::Tensor& grad, const at::Tensor& v,
                                                     const Maybe& left, const Maybe& right,
                                                     const Maybe& outer, const Maybe& inner, int64_t rows,
                                                     const Maybe& key_mask, bool causal) {
  const auto logits = given_logits(left, right, outer, inner);
  check_synthesized_attention_args(v, logits, rows, key_mask, causal);
  check_same("synthesized_attention_backward", "grad", grad, "v", v);
  return synthesized_backward_kernels.run(v.device(), grad, v, logits, rows, key_mask, causal);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("synthesized_attention", synthesized_attention_checked);
  m.impl("synthesized_attention_backward", synthesized_attention_backward_checked);
}

}  // namespace modewise::ops
