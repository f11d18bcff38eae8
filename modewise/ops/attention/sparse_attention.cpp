#include "modewise/ops/attention/sparse_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <limits>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::ops {

namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// Random [t, n] float64 in [0, 1) for positions of rows [t, 1] and columns [n]: SplitMix64 (Steele, Lea and
/// Flood, OOPSLA 2014) of both, by tensor operations only, so that it can be traced.
at::Tensor drawn(const at::Tensor& row, const at::Tensor& column) {
  const auto mixed = [](const at::Tensor& x, int64_t shift) {  // x ^ x >> shift, logical shift
    return x.bitwise_xor(x.__rshift__(shift).bitwise_and((int64_t{1} << (64 - shift)) - 1));
  };
  auto bits = row * (int64_t{1} << 32) + column + static_cast<int64_t>(0x9E3779B97F4A7C15);
  bits = mixed(bits, 30) * static_cast<int64_t>(0xBF58476D1CE4E5B9);
  bits = mixed(bits, 27) * static_cast<int64_t>(0x94D049BB133111EB);
  return mixed(bits, 31).__rshift__(11).bitwise_and((int64_t{1} << 53) - 1).to(at::kDouble) * 0x1p-53;
}

/// ⌈density·m⌉ of m, at least 1.
at::Tensor share_of(const at::Tensor& count, double density) {
  return (count.to(at::kDouble) * density).ceil().clamp_min(1).to(at::kLong);
}

/// Top-k mask: entries of `seen` whose values are at least the ⌈density·m⌉-th largest of the m visible ones.
at::Tensor largest(const at::Tensor& values, const at::Tensor& seen, double density) {
  const auto hidden = at::where(seen, values, kHidden);
  const auto count = share_of(seen.sum(-1, true), density);
  const auto sorted = std::get<0>(hidden.sort(-1, true));
  const auto place = at::zeros_like(hidden.narrow(-1, 0, 1), at::kLong) + (count - 1);
  return hidden.ge(sorted.gather(-1, place)).logical_and(seen);
}

}  // namespace

at::Tensor sparse_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const SparseOptions& options, int64_t first) {
  const int64_t tokens = known_size(q, 1), n = known_size(k, 1), heads = known_size(q, 2);
  const auto positions = q.options().dtype(at::kLong);
  const auto row = at::arange(first, first + tokens, positions).unsqueeze(1);
  const auto column = at::arange(n, positions);
  auto seen = options.causal ? column.le(row) : at::ones({tokens, n}, q.options().dtype(at::kBool));
  seen = seen.unsqueeze(0).unsqueeze(0);  // [B or 1, 1, t, n]
  if (options.token_mask) seen = options.token_mask->unsqueeze(1).unsqueeze(1).logical_and(seen);
  at::Tensor kept;  // broadcasts to [B, H, t, n]
  if (options.random) {
    const auto values = drawn(row, column).masked_fill(row.eq(column), 1);
    kept = largest(values, seen, options.density);
  } else {
    const auto heads_first = [&](const at::Tensor& x) {
      const int64_t repeats = heads / known_size(x, 2);
      const auto all = repeats == 1 ? x : x.repeat_interleave(repeats, 2);
      return all.transpose(1, 2).to(accumulate_type(q.scalar_type())).detach();
    };
    const auto logits =
        ops::matmul(heads_first(q), heads_first(k).transpose(-1, -2)) * options.softmax_options.scale;
    kept = largest(logits, seen, options.density);
  }
  return weighted_values(q, k, v, kept, false, options.softmax_options);
}

at::Tensor near_mask(const at::Tensor& q, const std::optional<at::Tensor>& token_mask, int64_t window,
                     double density) {
  // Index among the valid tokens, [B or 1, n].
  const auto valid = token_mask ? *token_mask : at::ones({1, known_size(q, 1)}, q.options().dtype(at::kBool));
  const auto place = valid.cumsum(-1) - 1;
  const auto count = valid.sum(-1, true);
  const auto width = window > 0 ? count.clamp_max(window) : share_of(count, density);
  const auto start = at::minimum(place - width.floor_divide(2), count - width).clamp_min(0);
  const auto column = place.unsqueeze(1);
  return column.ge(start.unsqueeze(-1))
      .logical_and(column.lt((start + width).unsqueeze(-1)))
      .logical_and(valid.unsqueeze(1));
}

}  // namespace modewise::ops
