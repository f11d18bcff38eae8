#include "modewise/ops/attention/sparse_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/autograd/recomputed_attention.h"
#include "modewise/ops/dense/matmul.h"
#include "modewise/ops/reference/strip_rows.h"

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
/// NaN is kept, and with NaN as threshold all are, so that it reaches the result.
at::Tensor largest(const at::Tensor& values, const at::Tensor& seen, double density) {
  if (known_size(values, -1) == 0) return seen;
  const auto hidden = at::where(seen, values, kHidden);
  const auto count = share_of(seen.sum(-1, true), density);
  const auto sorted = std::get<0>(hidden.sort(-1, true));
  const auto place = at::zeros_like(hidden.narrow(-1, 0, 1), at::kLong) + (count - 1);
  return hidden.lt(sorted.gather(-1, place)).logical_not().logical_and(seen);
}

/// sparse_attention with all scores in one tensor.
at::Tensor masked_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
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

}  // namespace

at::Tensor sparse_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const SparseOptions& options, int64_t first) {
  const int64_t tokens = known_size(q, 1), width = known_size(q, 0) * known_size(q, 2) * known_size(k, 1);
  // The numbers of torch's generator cannot be drawn again.
  const bool by_generator = options.softmax_options.dropout > 0 && options.softmax_options.key.by_generator;
  if (by_generator || tokens <= reference::strip_rows(width))
    return masked_attention(q, k, v, options, first);
  std::vector<at::Tensor> out;
  reference::for_strips(tokens, width, [&](int64_t begin, int64_t count) {
    SparseOptions own = options;
    own.softmax_options.key = key_of_rows(own.softmax_options.key, begin);
    out.push_back(recomputed_attention(
        q.narrow(1, begin, count), k, v,
        [=](const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values) {
          return masked_attention(queries, keys, values, own, first + begin);
        }));
  });
  return at::cat(out, 1);
}

namespace {

/// Windows around the tokens, in positions among the valid tokens; all [B or 1, n] or [B or 1, 1].
struct Windows {
  at::Tensor valid, place, count, width, start;

  Windows(const at::Tensor& q, const std::optional<at::Tensor>& token_mask, int64_t window, double density)
      : valid(token_mask ? *token_mask : at::ones({1, known_size(q, 1)}, q.options().dtype(at::kBool))),
        place(valid.cumsum(-1) - 1),
        count(valid.sum(-1, true)),
        width(window > 0 ? count.clamp_max(window) : share_of(count, density)),
        start(at::minimum(place - width.floor_divide(2), count - width).clamp_min(0)) {}

  /// Whether tokens first … first+rows−1 see the keys at `positions` [B or 1, m], [B or 1, rows, m].
  at::Tensor see(int64_t first, int64_t rows, const at::Tensor& positions) const {
    const at::Tensor from = start.narrow(1, first, rows).unsqueeze(-1), column = positions.unsqueeze(1);
    return column.ge(from).logical_and(column.lt(from + width.unsqueeze(-1)));
  }
};

}  // namespace

int64_t near_width(int64_t n, int64_t window, double density) {
  if (window > 0) return std::min(window, n);
  return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(static_cast<double>(n) * density)));
}

NearBlock near_block(int64_t first, int64_t n, int64_t width) {
  const int64_t rows = std::min(std::max(width, kNearRows), n - first);
  const int64_t key = std::max<int64_t>(0, first - width + 1);
  return {first, rows, key, std::min(n, first + rows - 1 + width) - key};
}

at::Tensor near_mask(const at::Tensor& q, const std::optional<at::Tensor>& token_mask, int64_t window,
                     double density) {
  const Windows windows(q, token_mask, window, density);
  return windows.see(0, known_size(q, 1), windows.place).logical_and(windows.valid.unsqueeze(1));
}

at::Tensor near_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const std::optional<at::Tensor>& token_mask, int64_t window, double density,
                          const SoftmaxOptions& softmax_options) {
  const int64_t n = known_size(q, 1), width = near_width(n, window, density);
  if (n <= kNearRows)
    return weighted_values(q, k, v, near_mask(q, token_mask, window, density).unsqueeze(1), false,
                           softmax_options);
  const Windows windows(q, token_mask, window, density);
  at::Tensor valid_first;  // token of each position, [B, n]
  if (token_mask) valid_first = token_mask->logical_not().to(at::kByte).argsort(true, 1, false);
  const auto positions = q.options().dtype(at::kLong);
  std::vector<at::Tensor> out;
  for (int64_t first = 0; first < n;) {
    const NearBlock block = near_block(first, n, width);
    at::Tensor place = at::arange(block.first_key, block.first_key + block.keys, positions).unsqueeze(0);
    at::Tensor keys = k.narrow(1, block.first_key, block.keys),
               values = v.narrow(1, block.first_key, block.keys);
    if (token_mask) {  // the first position that the block sees depends on the sample
      place = windows.place.narrow(1, first, 1) - width + 1 + at::arange(block.rows + 2 * width, positions);
      const at::Tensor tokens = valid_first.gather(1, place.clamp(0, n - 1)).unsqueeze(-1).unsqueeze(-1);
      const auto taken = [&](const at::Tensor& x) {
        return x.gather(1, tokens.expand({-1, -1, known_size(x, 2), known_size(x, 3)}));
      };
      keys = taken(k), values = taken(v);
    }
    const at::Tensor kept =
        windows.see(first, block.rows, place).logical_and(place.lt(windows.count).unsqueeze(1));
    SoftmaxOptions own = softmax_options;
    own.key = key_of_rows(own.key, first);
    out.push_back(
        weighted_values(q.narrow(1, first, block.rows), keys, values, kept.unsqueeze(1), false, own));
    first += block.rows;
  }
  return at::cat(out, 1);
}

}  // namespace modewise::ops
