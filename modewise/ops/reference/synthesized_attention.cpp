// In strips of rows, whose logits have a bounded size; the backward pass computes each strip again.

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/gradients.h"
#include "modewise/ops/reference/reference.h"
#include "modewise/ops/reference/strip_rows.h"

namespace modewise::ops::reference {

namespace {

/// Logits of rows [first, first + count): the rows of `left`, and those of `outer` whose Kronecker products
/// with `inner` have them; `skipped` rows of these products come before.
struct LogitStrip {
  int64_t first, count;
  int64_t outer_first = 0, outer_count = 0, skipped = 0;

  LogitStrip(const SynthesizedLogits& logits, int64_t first_row, int64_t rows)
      : first(first_row), count(rows) {
    if (!logits.outer.defined()) return;
    const int64_t group = logits.inner.size(1);  // rows per row of `outer`
    outer_first = first / group;
    outer_count = (first + count - 1) / group + 1 - outer_first;
    skipped = first - outer_first * group;
  }
  at::Tensor left(const at::Tensor& whole) const {
    return whole.defined() ? whole.narrow(1, first, count) : whole;
  }
  at::Tensor outer(const at::Tensor& whole) const {
    return whole.defined() ? whole.narrow(1, outer_first, outer_count) : whole;
  }
};

SynthesizedLogits widened(const SynthesizedLogits& logits, at::ScalarType type) {
  const auto wide = [&](const at::Tensor& x) { return x.defined() ? x.to(type) : x; };
  return {wide(logits.left), wide(logits.right), wide(logits.outer), wide(logits.inner)};
}

/// The rows of a strip, [B, count, H, e], from v and the strip's logits in the accumulate type.
at::Tensor attend(const at::Tensor& v, const SynthesizedLogits& logits, const LogitStrip& strip,
                  const std::optional<at::Tensor>& key_mask, bool causal) {
  const int64_t m = v.size(1);
  const auto heads_first = [](const at::Tensor& x) { return x.transpose(1, 2); };
  at::Tensor z = at::zeros({1, v.size(2), strip.count, m}, v.options());
  if (logits.left.defined())
    z = z + at::matmul(heads_first(logits.left), heads_first(logits.right).transpose(-1, -2));
  if (logits.outer.defined()) {
    const auto outer = logits.outer.unsqueeze(2).unsqueeze(4);  // [H, α, 1, β, 1]
    const auto inner = logits.inner.unsqueeze(1).unsqueeze(3);  // [H, 1, α', 1, β']
    const auto rows = (outer * inner).flatten(3, 4).flatten(1, 2);
    z = z + rows.narrow(1, strip.skipped, strip.count).narrow(2, 0, m).unsqueeze(0);
  }
  auto kept = at::ones({1, 1, strip.count, m}, v.options().dtype(at::kBool));
  if (key_mask) kept = kept.logical_and(key_mask->unsqueeze(1).unsqueeze(1));
  if (causal) kept = kept.tril(strip.first);
  const auto none = at::zeros({}, z.options());
  z = at::where(kept, z, none - std::numeric_limits<double>::infinity());
  const auto any = kept.any(-1, true);
  const auto weights = at::where(any, at::softmax(at::where(any, z, none), -1), none);
  return at::matmul(weights, heads_first(v)).transpose(1, 2);
}

int64_t strip_width(const at::Tensor& v) {
  return v.size(0) * v.size(2) * v.size(1);
}

}  // namespace

at::Tensor synthesized_attention(const at::Tensor& v, const SynthesizedLogits& logits, int64_t rows,
                                 const std::optional<at::Tensor>& key_mask, bool causal) {
  const auto type = accumulate_type(v.scalar_type());
  const SynthesizedLogits wide = widened(logits, type);
  const auto values = v.to(type);
  Tensors out = {at::zeros({v.size(0), 0, v.size(2), v.size(3)}, v.options())};
  for_strips(rows, strip_width(v), [&](int64_t first, int64_t count) {
    const LogitStrip strip(logits, first, count);
    const SynthesizedLogits own = {strip.left(wide.left), wide.right, strip.outer(wide.outer), wide.inner};
    out.push_back(attend(values, own, strip, key_mask, causal).to(v.scalar_type()));
  });
  return at::cat(out, 1);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> synthesized_attention_backward(
    const at::Tensor& grad, const at::Tensor& v, const SynthesizedLogits& logits, int64_t rows,
    const std::optional<at::Tensor>& key_mask, bool causal) {
  const auto type = accumulate_type(v.scalar_type());
  const SynthesizedLogits wide = widened(logits, type);
  const auto values = v.to(type);
  const auto zeros = [&](const at::Tensor& x) {
    return x.defined() ? at::zeros(x.sizes(), values.options()) : x;
  };
  const auto of_v = zeros(v);
  const SynthesizedLogits slopes = {zeros(logits.left), zeros(logits.right), zeros(logits.outer),
                                    zeros(logits.inner)};
  for_strips(rows, strip_width(v), [&](int64_t first, int64_t count) {
    const LogitStrip strip(logits, first, count);
    const Tensors parts = gradients(
        [&](const Tensors& in) -> Tensors {
          return {attend(in[0], {in[1], in[2], in[3], in[4]}, strip, key_mask, causal)};
        },
        {values, strip.left(wide.left), wide.right, strip.outer(wide.outer), wide.inner},
        {grad.narrow(1, first, count).to(type)});
    const Tensors targets = {of_v, strip.left(slopes.left), slopes.right, strip.outer(slopes.outer),
                             slopes.inner};
    for (size_t i = 0; i < targets.size(); ++i)
      if (targets[i].defined()) targets[i].add_(parts[i]);
  });
  const auto narrowed = [&](const at::Tensor& x) {
    return x.defined() ? x.to(v.scalar_type()) : at::empty({0}, v.options());
  };
  return {narrowed(of_v), narrowed(slopes.left), narrowed(slopes.right), narrowed(slopes.outer),
          narrowed(slopes.inner)};
}

}  // namespace modewise::ops::reference
