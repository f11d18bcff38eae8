#include "modewise/ops/sparse_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>

#include <limits>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/dot_product_attention.h"
#include "modewise/ops/matmul.h"

namespace modewise::ops {

namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// [t, n] bool for rows [t, 1] and columns [n] of token positions. Tensor operations alone, so that it can be
/// traced: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) of both positions.
at::Tensor drawn(const at::Tensor& row, const at::Tensor& column, double density) {
  const auto mixed = [](const at::Tensor& x, int64_t shift) {  // x ^ x >> shift, zeros from the left
    return x.bitwise_xor(x.__rshift__(shift).bitwise_and((int64_t{1} << (64 - shift)) - 1));
  };
  auto bits = row * (int64_t{1} << 32) + column + static_cast<int64_t>(0x9E3779B97F4A7C15);
  bits = mixed(bits, 30) * static_cast<int64_t>(0xBF58476D1CE4E5B9);
  bits = mixed(bits, 27) * static_cast<int64_t>(0x94D049BB133111EB);
  const auto uniform = mixed(bits, 31).__rshift__(40).bitwise_and((1 << 24) - 1).to(at::kDouble) * 0x1p-24;
  return uniform.lt(density).logical_or(row.eq(column));
}

/// Logits that are at least the ⌈density·m⌉-th largest of the m that a token might see.
at::Tensor largest(const at::Tensor& logits, const at::Tensor& seen, double density) {
  const auto count = (seen.sum(-1, true).to(at::kDouble) * density).ceil().clamp_min(1).to(at::kLong);
  const auto sorted = std::get<0>(logits.sort(-1, true));
  const auto last = sorted.gather(-1, (count - 1).expand({logits.size(0), logits.size(1), -1, 1}));
  return logits.ge(last);
}

}  // namespace

at::Tensor sparse_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const SparseOptions& options, int64_t first) {
  const int64_t tokens = known_size(q, 1), n = known_size(k, 1), heads = known_size(q, 2);
  const auto positions = q.options().dtype(at::kLong);
  const auto row = at::arange(first, first + tokens, positions).unsqueeze(1);
  const auto column = at::arange(n, positions);
  const auto seen = options.causal ? column.le(row) : at::ones({tokens, n}, q.options().dtype(at::kBool));
  if (options.random) {
    const auto kept = drawn(row, column, options.density).logical_and(seen);
    return dot_product_attention(q, k, v, kept, false, options.scale);
  }
  const auto heads_first = [&](const at::Tensor& x) {
    const int64_t repeats = heads / known_size(x, 2);
    const auto all = repeats == 1 ? x : x.repeat_interleave(repeats, 2);
    return all.transpose(1, 2).to(accumulate_type(q.scalar_type())).detach();
  };
  const auto logits = ops::matmul(heads_first(q), heads_first(k).transpose(-1, -2)) * options.scale;
  const auto hidden = logits.masked_fill(seen.logical_not(), kHidden);
  return dot_product_attention(q, k, v, largest(hidden, seen, options.density).logical_and(seen), false,
                               options.scale);
}

}  // namespace modewise::ops
