#include "modewise/ops/attention/hashed_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <torch/library.h>

#include <limits>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/sequence_checks.h"
#include "modewise/ops/dense/elementary.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::ops {
namespace {

constexpr auto kHashed = "hashed_attention";
constexpr double kOwn = 1e5;             // subtracted from the logit of a token with itself
constexpr double kLengthEpsilon = 1e-6;  // added to the mean square of a key, as in the authors' code
constexpr double kUnseen = -std::numeric_limits<double>::infinity();

void check_hashed_attention_args(const at::Tensor& q, const at::Tensor& v, const at::Tensor& rotations,
                                 const std::optional<at::Tensor>& token_mask, int64_t chunk) {
  check_heads_of_tokens(kHashed, q, v, token_mask);
  check_device(kHashed, "rotations", rotations, "q", q);
  TORCH_CHECK_VALUE(rotations.dim() == 4 && rotations.sym_size(0) >= 1 &&
                        rotations.sym_size(1) == q.sym_size(2) && rotations.sym_size(2) == q.sym_size(3) &&
                        rotations.sym_size(3) >= 1,
                    kHashed, ": rotations must be [rounds, ", q.sym_size(2), ", ", q.sym_size(3),
                    ", buckets / 2] for q ", q.sym_sizes(), ", got ", rotations.sym_sizes());
  check_integer(kHashed, "chunk", chunk, 1, kMaxSide);
}

/// Sorted order of the tokens in each round; all tensors [B, R, H, ..] int64.
struct Order {
  at::Tensor buckets;  // of each token, [.., n]
  at::Tensor tokens;   // token indices in sorted order, [.., n]
  at::Tensor places;   // sorted position of each token, [.., n]

  Order(const at::Tensor& queries, const at::Tensor& rotations, const at::Tensor& valid) {
    const int64_t n = known_size(queries, -2), half = known_size(rotations, -1);
    const auto rotated = ops::matmul(queries.unsqueeze(1), rotations.to(queries.scalar_type()));
    // Masked tokens get a bucket of their own after all others.
    buckets = at::cat({rotated, -rotated}, -1)
                  .argmax(-1)
                  .masked_fill(valid.logical_not().unsqueeze(1).unsqueeze(1), 2 * half);
    tokens = (buckets * n + at::arange(n, buckets.options())).argsort(int64_t{-1});
    places = tokens.argsort(int64_t{-1});
  }
};

/// x [B, R or 1, H, n, .] gathered in sorted order, [B, R, H, n, .]
at::Tensor taken(const at::Tensor& x, const at::Tensor& tokens) {
  auto rows = x.sym_sizes().vec();
  rows[1] = tokens.sym_size(1);
  auto wanted = tokens.sym_sizes().vec();
  wanted.push_back(x.sym_size(-1));
  return x.expand_symint(rows).gather(-2, tokens.unsqueeze(-1).expand_symint(wanted));
}

/// Rows [.., n, w] split into chunks [.., C, chunk, w], padded with `fill`.
at::Tensor cut(const at::Tensor& rows, int64_t chunk, double fill) {
  const int64_t n = known_size(rows, -2), missing = (chunk - n % chunk) % chunk;
  return at::constant_pad_nd(rows, {0, 0, 0, missing}, fill).unflatten(-2, {(n + missing) / chunk, chunk});
}

/// Each chunk preceded by the previous one, [.., C, 2·chunk, w]; `fill` precedes the first.
at::Tensor with_chunk_before(const at::Tensor& chunks, double fill) {
  const int64_t count = known_size(chunks, -3);
  return at::cat({at::constant_pad_nd(chunks, {0, 0, 0, 0, 1, 0}, fill).narrow(-3, 0, count), chunks}, -2);
}

/// Attention mask of each round, [B, R, H, C, chunk, 2·chunk].
struct Visibility {
  at::Tensor seen;   // bool
  at::Tensor own;    // the token itself
  at::Tensor times;  // number of rounds in which the key is visible, int16
};

Visibility visibility_of(const Order& order, int64_t chunk, int64_t last_bucket) {
  const int64_t rounds = known_size(order.tokens, 1), n = known_size(order.tokens, -1);
  // A token attends to its bucket in its own chunk and the previous one: keys whose code is its own or one
  // less, because the codes of a bucket start two after the last code of the previous bucket.
  const int64_t stride = (n + chunk - 1) / chunk + 2;
  const auto codes = order.buckets * stride + order.places.floor_divide(chunk);
  const auto uncounted = order.buckets.eq(last_bucket);
  // Token at each sorted position, −1 for padding.
  const auto row = cut(order.tokens.unsqueeze(-1), chunk, -1);
  const auto column = with_chunk_before(row, -1);
  const auto absent_row = row.lt(0), absent_column = column.lt(0);
  const auto row_at = row.clamp_min(0).flatten(3), column_at = column.clamp_min(0).flatten(3);
  Visibility out;
  out.own = row.eq(column.transpose(-1, -2));
  for (int64_t round = 0; round < rounds; ++round) {
    const auto table = codes.narrow(1, round, 1).expand_as(order.tokens);
    const auto sees = table.masked_fill(uncounted.narrow(1, round, 1), -4)
                          .gather(-1, row_at)
                          .view_as(row)
                          .masked_fill(absent_row, -4);
    const auto code =
        table.gather(-1, column_at).view_as(column).masked_fill(absent_column, -2).transpose(-1, -2);
    const auto shown = sees.eq(code).logical_or_((sees - 1).eq(code));
    const auto mine = shown.narrow(1, round, 1);
    out.times = round == 0 ? shown.to(at::kShort) : out.times.add_(shown);
    out.seen = round == 0 ? mine : at::cat({out.seen, mine}, 1);
  }
  return out;
}

at::Tensor hashed_attention_op(const at::Tensor& q, const at::Tensor& v, const at::Tensor& rotations,
                               const std::optional<at::Tensor>& token_mask, int64_t chunk) {
  check_hashed_attention_args(q, v, rotations, token_mask, chunk);
  const auto type = accumulate_type(q.scalar_type());
  const KeptTokens kept(q, token_mask);
  const auto heads_first = [&](const at::Tensor& x) {
    return kept.without_others(x).transpose(1, 2).to(type);  // [B, H, n, .]
  };
  const auto queries = heads_first(q), values = heads_first(v);
  const auto width = static_cast<double>(known_size(q, -1));
  const auto keys =
      queries / ops::elementary(queries.square().sum(-1, true) + kLengthEpsilon * width, "sqrt");
  const Order order(queries.detach(), rotations.detach(), kept.some);
  const Visibility visibility = visibility_of(order, chunk, 2 * known_size(rotations, -1));
  const auto in_chunks = [&](const at::Tensor& x) {
    return cut(taken(x.unsqueeze(1), order.tokens), chunk, 0);
  };
  auto logits = ops::matmul(in_chunks(queries), with_chunk_before(in_chunks(keys), 0).transpose(-1, -2));
  logits = logits -
           ops::elementary(visibility.times.clamp_min(1).to(type), "log").masked_fill(visibility.own, kOwn);
  // Padding and masked tokens attend to nothing: their sums and results are 0.
  const auto hidden = logits.masked_fill(visibility.seen.logical_not(), kUnseen);
  auto top = at::amax(hidden.detach(), -1, true);
  top = top.masked_fill(top.isinf(), 0);
  const auto weights = ops::elementary(hidden - top, "exp");
  const auto sums =
      at::cat({ops::matmul(weights, with_chunk_before(in_chunks(values), 0)), weights.sum(-1, true), top},
              -1);  // [B, R, H, C, chunk, e + 2]
  const int64_t n = known_size(q, 1), e = known_size(v, -1);
  const auto rounds = taken(sums.flatten(3, 4).narrow(3, 0, n), order.places);
  const auto tops = rounds.narrow(-1, e + 1, 1).detach();
  const auto joined =
      (rounds.narrow(-1, 0, e + 1) * ops::elementary(tops - at::amax(tops, 1, true), "exp")).sum(1);
  const auto total = joined.narrow(-1, e, 1);
  const auto out = joined.narrow(-1, 0, e) / total.masked_fill(total.eq(0), 1);
  return kept.without_others(out.transpose(1, 2))
      .to(q.scalar_type(), /*non_blocking=*/false, /*copy=*/true, at::MemoryFormat::Contiguous);
}

}  // namespace

at::Tensor hashed_attention(const at::Tensor& q, const at::Tensor& v, const at::Tensor& rotations,
                            const std::optional<at::Tensor>& token_mask, int64_t chunk) {
  return hashed_attention_op(q, v, rotations, token_mask, chunk);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "hashed_attention(Tensor q, Tensor v, Tensor rotations, Tensor? token_mask=None, *, int chunk=64) -> "
      "Tensor");
}

TORCH_LIBRARY_IMPL(modewise, CompositeImplicitAutograd, m) {
  m.impl("hashed_attention", hashed_attention_op);
}

}  // namespace modewise::ops
