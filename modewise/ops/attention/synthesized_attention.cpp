#include "modewise/ops/attention/synthesized_attention.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/synthesized_attention_checks.h"

namespace modewise::ops {
namespace {

constexpr auto kSynthesizedAttention = "synthesized_attention";
using Maybe = std::optional<at::Tensor>;

SynthesizedLogits synthesized_logits(const Maybe& left, const Maybe& right, const Maybe& outer,
                                     const Maybe& inner) {
  return {left.value_or(at::Tensor()), right.value_or(at::Tensor()), outer.value_or(at::Tensor()),
          inner.value_or(at::Tensor())};
}

void check_narrow_logits(const at::Tensor& v, const at::Tensor& left, const at::Tensor& right, int64_t rows) {
  check_same(kSynthesizedAttention, "left", left, "v", v);
  check_same(kSynthesizedAttention, "right", right, "v", v);
  TORCH_CHECK_VALUE(left.dim() == 4 && left.sym_size(0) == v.sym_size(0) && left.sym_size(1) == rows &&
                        left.sym_size(2) == v.sym_size(2),
                    kSynthesizedAttention, ": left must be [", v.sym_size(0), ", ", rows, ", ", v.sym_size(2),
                    ", c] for v ", v.sym_sizes(), " and ", rows, " rows, got ", left.sym_sizes());
  TORCH_CHECK_VALUE(right.dim() == 4 && (right.sym_size(0) == v.sym_size(0) || right.sym_size(0) == 1) &&
                        right.sym_size(1) == v.sym_size(1) && right.sym_size(2) == v.sym_size(2) &&
                        right.sym_size(3) == left.sym_size(3),
                    kSynthesizedAttention, ": right must be [", v.sym_size(0), " or 1, ", v.sym_size(1), ", ",
                    v.sym_size(2), ", ", left.sym_size(3), "] for v ", v.sym_sizes(), " and left ",
                    left.sym_sizes(), ", got ", right.sym_sizes());
}

void check_kronecker_logits(const at::Tensor& v, const at::Tensor& outer, const at::Tensor& inner,
                            int64_t rows) {
  for (const auto& [name, t] : {std::pair("outer", outer), std::pair("inner", inner)}) {
    check_same(kSynthesizedAttention, name, t, "v", v);
    TORCH_CHECK_VALUE(t.dim() == 3 && t.sym_size(0) == v.sym_size(2), kSynthesizedAttention, ": ", name,
                      " must be [", v.sym_size(2), ", rows, columns] for v ", v.sym_sizes(), ", got ",
                      t.sym_sizes());
  }
  TORCH_CHECK_VALUE(
      outer.sym_size(1) * inner.sym_size(1) >= rows && outer.sym_size(2) * inner.sym_size(2) >= v.sym_size(1),
      kSynthesizedAttention, ": outer and inner must have ", rows, " rows and ", v.sym_size(1),
      " columns in their product at least, got ", outer.sym_sizes(), " and ", inner.sym_sizes());
}

at::Tensor synthesized_meta(const at::Tensor& v, const Maybe& left, const Maybe& right, const Maybe& outer,
                            const Maybe& inner, int64_t rows, const Maybe& key_mask, bool causal) {
  check_synthesized_attention_args(v, synthesized_logits(left, right, outer, inner), rows, key_mask, causal);
  return at::empty_symint({v.sym_size(0), rows, v.sym_size(2), v.sym_size(3)}, v.options());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> synthesized_backward_meta(
    const at::Tensor&, const at::Tensor& v, const Maybe& left, const Maybe& right, const Maybe& outer,
    const Maybe& inner, int64_t rows, const Maybe& key_mask, bool causal) {
  check_synthesized_attention_args(v, synthesized_logits(left, right, outer, inner), rows, key_mask, causal);
  const auto like = [&](const Maybe& x) {
    return x ? at::empty_symint(x->sym_sizes(), x->options()) : at::empty({0}, v.options());
  };
  return {like(v), like(left), like(right), like(outer), like(inner)};
}

}  // namespace

void check_synthesized_attention_args(const at::Tensor& v, const SynthesizedLogits& logits, int64_t rows,
                                      const std::optional<at::Tensor>& key_mask, bool causal) {
  check_floating(kSynthesizedAttention, "v", v);
  TORCH_CHECK_VALUE(v.dim() == 4, kSynthesizedAttention, ": v must be [B, m, H, e], got ", v.sym_sizes());
  check_integer(kSynthesizedAttention, "rows", rows, 0);
  TORCH_CHECK_VALUE(logits.left.defined() == logits.right.defined(), kSynthesizedAttention,
                    ": left and right must be given together, got only one");
  TORCH_CHECK_VALUE(logits.outer.defined() == logits.inner.defined(), kSynthesizedAttention,
                    ": outer and inner must be given together, got only one");
  TORCH_CHECK_VALUE(logits.left.defined() || logits.outer.defined(), kSynthesizedAttention,
                    ": the logits need left and right, outer and inner, or all four, got none");
  if (logits.left.defined()) check_narrow_logits(v, logits.left, logits.right, rows);
  if (logits.outer.defined()) check_kronecker_logits(v, logits.outer, logits.inner, rows);
  TORCH_CHECK_VALUE(!causal || v.sym_size(1) >= rows, kSynthesizedAttention,
                    ": causal needs at least as many keys as rows, got ", v.sym_size(1), " and ", rows);
  if (!key_mask) return;
  check_device(kSynthesizedAttention, "key_mask", *key_mask, "v", v);
  TORCH_CHECK_VALUE(key_mask->scalar_type() == at::kBool && key_mask->dim() == 2 &&
                        key_mask->sym_size(0) == v.sym_size(0) && key_mask->sym_size(1) == v.sym_size(1),
                    kSynthesizedAttention, ": key_mask must be bool [", v.sym_size(0), ", ", v.sym_size(1),
                    "] for v ", v.sym_sizes(), ", got ", key_mask->scalar_type(), " ", key_mask->sym_sizes());
}

at::Tensor synthesized_attention(const at::Tensor& v, const SynthesizedLogits& logits, int64_t rows,
                                 const std::optional<at::Tensor>& key_mask, bool causal) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::synthesized_attention", "")
                             .typed<at::Tensor(const at::Tensor&, const Maybe&, const Maybe&, const Maybe&,
                                               const Maybe&, int64_t, const Maybe&, bool)>();
  return op.call(v, optional(logits.left), optional(logits.right), optional(logits.outer),
                 optional(logits.inner), rows, key_mask, causal);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> synthesized_attention_backward(
    const at::Tensor& grad, const at::Tensor& v, const SynthesizedLogits& logits, int64_t rows,
    const std::optional<at::Tensor>& key_mask, bool causal) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::synthesized_attention_backward", "")
                             .typed<decltype(synthesized_backward_meta)>();
  return op.call(grad, v, optional(logits.left), optional(logits.right), optional(logits.outer),
                 optional(logits.inner), rows, key_mask, causal);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "synthesized_attention(Tensor v, Tensor? left, Tensor? right, Tensor? outer, Tensor? inner, int rows, "
      "Tensor? key_mask=None, bool causal=False) -> Tensor");
  m.def(
      "synthesized_attention_backward(Tensor grad, Tensor v, Tensor? left, Tensor? right, Tensor? outer, "
      "Tensor? inner, int rows, Tensor? key_mask, bool causal) -> (Tensor, Tensor, Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("synthesized_attention", synthesized_meta);
  m.impl("synthesized_attention_backward", synthesized_backward_meta);
}

}  // namespace modewise::ops
