#include "modewise/ops/cpu/synthesis.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/softmax.h>

#include <limits>
#include <vector>

#include "modewise/ops/cpu/gemm.h"

namespace modewise::ops {

namespace {

/// Maximum number of weights per block: some megabytes.
constexpr int64_t kBlockWeights = int64_t{1} << 20;
/// Maximum number of weights per part: with their gradients about half of the L2 cache.
constexpr int64_t kPartWeights = int64_t{1} << 16;

/// Rows of outer ⊗ inner in a block, [H, rows, m].
at::Tensor kronecker_rows(const Synthesis& a, const RowBlock& block) {
  const KroneckerSlices slices(a, block);
  const auto product = slices.outer(a.outer) * slices.inner(a.inner);
  return product.flatten(3, 4).flatten(1, 2).narrow(1, 0, block.count).narrow(2, 0, a.keys());
}

/// Attention mask of a block, broadcast to [B or 1, H, rows, m]; undefined if nothing is masked.
at::Tensor kept_cells(const Synthesis& a, const RowBlock& block) {
  at::Tensor kept;
  if (a.key_mask) kept = a.key_mask->unsqueeze(1).unsqueeze(1);
  if (!a.causal) return kept;
  const auto own = at::arange(block.first, block.first + block.count).unsqueeze(1);
  const auto seen = at::arange(a.keys()).le(own);
  return kept.defined() ? kept.logical_and(seen) : seen.unsqueeze(0).unsqueeze(0);
}

}  // namespace

int64_t part_samples(const Synthesis& a) {
  const int64_t weights = std::max<int64_t>(a.heads() * a.rows * a.keys(), 1);
  const int64_t fit = std::max<int64_t>(std::min(kPartWeights / weights, a.batch()), 1);
  int64_t shared = 0;
  if (a.outer.defined()) shared += a.outer.numel() + a.inner.numel();
  if (a.right.defined() && a.right.size(0) == 1) shared += a.right.numel();
  const bool small = weights <= kPartWeights && shared * a.batch() <= fit * a.v.numel();
  return small ? fit : std::max<int64_t>(a.batch(), 1);
}

int64_t parts_of(const Synthesis& a) {
  const int64_t each = part_samples(a);
  return std::max<int64_t>((a.batch() + each - 1) / each, 1);
}

int64_t block_rows(const Synthesis& a, int64_t first) {
  const int64_t fit = std::clamp<int64_t>(
      kBlockWeights / std::max<int64_t>(a.batch() * a.heads() * a.keys(), 1) / 16 * 16, 16, 1 << 20);
  const int64_t group = a.outer.defined() ? std::max<int64_t>(a.inner.size(1), 1) : 1;
  const int64_t count = fit >= group ? fit / group * group : std::min(fit, group - first % group);
  return std::min(count, a.rows - first);
}

KroneckerSlices::KroneckerSlices(const Synthesis& a, const RowBlock& block) {
  const int64_t group = a.inner.size(1);
  first_outer = block.first / group;
  outer_rows = (block.first + block.count - 1) / group - first_outer + 1;
  first_inner = outer_rows == 1 ? block.first % group : 0;
  inner_rows = outer_rows == 1 ? block.count : group;
}

void multiply_heads(const Synthesis& a, const HeadMatrices& left, const HeadMatrices& right,
                    const HeadMatrices& out, bool add) {
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

at::Tensor block_weights(const Synthesis& a, const RowBlock& block) {
  at::Tensor logits;
  if (a.left.defined()) {
    logits = at::empty({a.batch(), a.heads(), block.count, a.keys()}, a.wide());
    multiply_heads(a, HeadMatrices::tokens(a.left.narrow(1, block.first, block.count)),
                   HeadMatrices::tokens(a.right).transposed(), HeadMatrices::matrices(logits));
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

}  // namespace modewise::ops
