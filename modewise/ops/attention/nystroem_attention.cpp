#include "modewise/ops/attention/nystroem_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>
#include <torch/library.h>

#include <cmath>
#include <limits>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/sequence_checks.h"
#include "modewise/ops/attention/softmax.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::ops {
namespace {

constexpr auto kNystroem = "nystroem_attention";
constexpr int kSteps = 6;  // iterations of the pseudo-inverse, as in the authors' code

void check_nystroem_attention_args(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                   const std::optional<at::Tensor>& kernel,
                                   const std::optional<at::Tensor>& token_mask, int64_t landmarks,
                                   double scale) {
  check_heads_of_tokens(kNystroem, q, v, token_mask);
  check_same(kNystroem, "k", k, "q", q);
  TORCH_CHECK_VALUE(k.sym_sizes() == q.sym_sizes(), kNystroem, ": k must have the shape of q ", q.sym_sizes(),
                    ", got ", k.sym_sizes());
  check_integer(kNystroem, "landmarks", landmarks, 1, kMaxSide);
  TORCH_CHECK_VALUE(scale >= 0 && std::isfinite(scale), kNystroem,
                    ": scale must be positive, or 0 for 1/√d, got ", scale);
  if (!kernel) return;
  check_device(kNystroem, "kernel", *kernel, "q", q);
  TORCH_CHECK_VALUE(
      kernel->dim() == 2 && kernel->sym_size(0) == q.sym_size(2) && kernel->sym_size(1) % 2 == 1, kNystroem,
      ": kernel must be [", q.sym_size(2), ", w] with w odd, got ", kernel->sym_sizes());
}

/// Segments of tokens whose means are the landmarks.
struct Segments {
  at::Tensor valid;  // [B or 1, n]
  at::Tensor count;  // valid tokens, [B or 1, 1]
  at::Tensor used;   // non-empty landmarks, [B or 1, 1]
  at::Tensor means;  // [B or 1, 1, m, n]: averaging matrix
  at::Tensor empty;  // empty landmarks, [B or 1, 1, 1, m]

  Segments(const at::Tensor& mask, int64_t landmarks, at::ScalarType type)
      : valid(mask), count(mask.sum(-1, true)), used(count.clamp_max(landmarks)) {
    const auto place = valid.cumsum(-1) - 1;
    // In float64, which is exact here: integer division fails for symbolic values while tracing shapes.
    const auto segment = ((place * used).to(at::kDouble) / count).floor().unsqueeze(1);  // [B or 1, 1, n]
    const auto landmark = at::arange(landmarks, place.options());
    const auto members = landmark.unsqueeze(1).eq(segment).logical_and(valid.unsqueeze(1)).to(type);
    means = (members / members.sum(-1, true).clamp_min(1)).unsqueeze(1);
    empty = landmark.ge(used).unsqueeze(1).unsqueeze(1);
  }
};

at::Tensor softmax_without(const at::Tensor& logits, const at::Tensor& removed) {
  return ops::softmax(logits.masked_fill(removed, -std::numeric_limits<double>::infinity()));
}

/// Iterative pseudo-inverse of x [.., m, m] with rows of sum 1, of third-order convergence.
at::Tensor pseudo_inverse(const at::Tensor& x) {
  const int64_t m = known_size(x, -1);
  const auto identity = at::eye(m, x.options());
  const auto columns = ops::matmul(at::ones({1, m}, x.options()), x);
  auto z = x.transpose(-1, -2) / at::amax(columns, -1, true);
  for (int step = 0; step < kSteps; ++step) {
    const auto product = ops::matmul(x, z);
    const auto inner = identity * 15 - ops::matmul(product, identity * 7 - product);
    z = ops::matmul(z, identity * 13 - ops::matmul(product, inner)) * 0.25;
  }
  return z;
}

/// v [B, H, n, e], kernel [H, w] -> [B, H, n, e]: depthwise convolution per head along the tokens, as one
/// product of a banded matrix and a window of values for every kRows tokens.
at::Tensor convolved(const at::Tensor& v, const at::Tensor& kernel) {
  constexpr int64_t kRows = 64;
  const int64_t n = known_size(v, 2), width = known_size(kernel, 1);
  const int64_t blocks = (n + kRows - 1) / kRows, seen = kRows + width - 1;
  const auto row = at::arange(kRows, kernel.options().dtype(at::kLong)).unsqueeze(1);
  const auto tap = at::arange(seen, row.options()) - row;  // [rows, seen]
  const auto outside = tap.lt(0).logical_or(tap.ge(width));
  const auto band = kernel.index_select(1, tap.clamp(0, width - 1).flatten())
                        .view({-1, 1, kRows, seen})
                        .masked_fill(outside, 0);
  const auto padded = at::constant_pad_nd(v, {0, 0, width / 2, blocks * kRows - n + width / 2}, 0);
  const auto windows = padded.unfold(2, seen, kRows).transpose(-1, -2);  // [B, H, blocks, seen, e]
  return ops::matmul(band, windows).flatten(2, 3).narrow(2, 0, n);
}

at::Tensor nystroem_attention_op(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const std::optional<at::Tensor>& kernel,
                                 const std::optional<at::Tensor>& token_mask, int64_t landmarks,
                                 double scale) {
  check_nystroem_attention_args(q, k, v, kernel, token_mask, landmarks, scale);
  if (q.sym_size(1) == 0) return v.clone();
  const auto type = accumulate_type(q.scalar_type());
  const KeptTokens kept(q, token_mask);
  const Segments segments(kept.some, landmarks, type);
  const double root = std::sqrt(scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(known_size(q, -1))));
  const auto heads_first = [&](const at::Tensor& x) {
    return kept.without_others(x).transpose(1, 2).to(type);  // [B, H, n, .]
  };
  const auto queries = heads_first(q) * root, keys = heads_first(k) * root, values = heads_first(v);
  const auto landmark_queries = ops::matmul(segments.means, queries);
  const auto landmark_keys = ops::matmul(segments.means, keys).transpose(-1, -2);
  const auto to_landmarks = softmax_without(ops::matmul(queries, landmark_keys), segments.empty);
  // Empty landmarks are separated from the others: their block is the identity.
  const auto among = softmax_without(ops::matmul(landmark_queries, landmark_keys), segments.empty);
  const auto identity = at::eye(landmarks, among.options());
  const auto inverse = pseudo_inverse(at::where(segments.empty.transpose(-1, -2), identity, among));
  const auto from_tokens = softmax_without(ops::matmul(landmark_queries, keys.transpose(-1, -2)),
                                           segments.valid.logical_not().unsqueeze(1).unsqueeze(1));
  const auto solved = ops::matmul(inverse, ops::matmul(from_tokens, values));
  const auto whole = segments.count.le(landmarks).unsqueeze(-1).unsqueeze(-1);
  const auto middle = at::where(whole, ops::matmul(segments.means, values), solved);
  auto out = ops::matmul(to_landmarks, middle);
  if (kernel) out = out + convolved(values, kernel->to(type));
  return kept.without_others(out.transpose(1, 2))
      .to(q.scalar_type(), /*non_blocking=*/false, /*copy=*/true, at::MemoryFormat::Contiguous);
}

}  // namespace

at::Tensor nystroem_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const std::optional<at::Tensor>& kernel,
                              const std::optional<at::Tensor>& token_mask, int64_t landmarks, double scale) {
  return nystroem_attention_op(q, k, v, kernel, token_mask, landmarks, scale);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "nystroem_attention(Tensor q, Tensor k, Tensor v, Tensor? kernel=None, Tensor? token_mask=None, *, "
      "int landmarks=64, float scale=0.) -> Tensor");
}

TORCH_LIBRARY_IMPL(modewise, CompositeImplicitAutograd, m) {
  m.impl("nystroem_attention", nystroem_attention_op);
}

}  // namespace modewise::ops
