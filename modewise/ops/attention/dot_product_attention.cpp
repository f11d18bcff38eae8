#include "modewise/ops/attention/dot_product_attention.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/dot_product_attention_checks.h"

namespace modewise::ops {
namespace {

constexpr auto kDotProductAttention = "dot_product_attention";

at::Tensor attention_meta(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const std::optional<at::Tensor>& mask, bool causal, double) {
  check_dot_product_attention_args(q, k, v, mask, causal);
  auto sizes = q.sym_sizes().vec();
  sizes.back() = v.sym_size(-1);
  return at::empty_symint(sizes, q.options());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> attention_backward_meta(const at::Tensor&, const at::Tensor& q,
                                                                       const at::Tensor& k,
                                                                       const at::Tensor& v,
                                                                       const std::optional<at::Tensor>& mask,
                                                                       bool causal, double) {
  check_dot_product_attention_args(q, k, v, mask, causal);
  const auto like = [](const at::Tensor& x) { return at::empty_symint(x.sym_sizes(), x.options()); };
  return {like(q), like(k), like(v)};
}

bool mask_fits(const at::Tensor& mask, const at::Tensor& q, const at::Tensor& k) {
  const c10::SymInt wanted[] = {q.sym_size(0), q.sym_size(2), q.sym_size(1), k.sym_size(1)};
  if (mask.scalar_type() != at::kBool || mask.dim() > 4) return false;
  for (int64_t i = 1; i <= mask.dim(); ++i)
    if (mask.sym_size(-i) != wanted[4 - i] && mask.sym_size(-i) != 1) return false;
  return true;
}

}  // namespace

void check_dot_product_attention_args(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                      const std::optional<at::Tensor>& mask, bool causal) {
  check_floating(kDotProductAttention, "q", q);
  TORCH_CHECK_VALUE(q.dim() == 4, kDotProductAttention, ": q must be [B, n, H, d], got ", q.sym_sizes());
  check_same(kDotProductAttention, "k", k, "q", q);
  check_same(kDotProductAttention, "v", v, "q", q);
  TORCH_CHECK_VALUE(k.dim() == 4 && k.sym_size(0) == q.sym_size(0) && k.sym_size(3) == q.sym_size(3) &&
                        k.sym_size(2) >= 1 && q.sym_size(2) % k.sym_size(2) == 0,
                    kDotProductAttention, ": k must be [", q.sym_size(0), ", m, G, ", q.sym_size(3),
                    "] with G a divisor of ", q.sym_size(2), " for q ", q.sym_sizes(), ", got ",
                    k.sym_sizes());
  TORCH_CHECK_VALUE(v.dim() == 4 && v.sym_size(0) == k.sym_size(0) && v.sym_size(1) == k.sym_size(1) &&
                        v.sym_size(2) >= 1 && q.sym_size(2) % v.sym_size(2) == 0,
                    kDotProductAttention, ": v must be [", k.sym_size(0), ", ", k.sym_size(1),
                    ", G, e] with G a divisor of ", q.sym_size(2), " for k ", k.sym_sizes(), ", got ",
                    v.sym_sizes());
  TORCH_CHECK_VALUE(!causal || q.sym_size(1) == k.sym_size(1), kDotProductAttention,
                    ": causal needs as many keys as queries, got ", k.sym_size(1), " and ", q.sym_size(1));
  if (!mask) return;
  check_device(kDotProductAttention, "mask", *mask, "q", q);
  TORCH_CHECK_VALUE(mask_fits(*mask, q, k), kDotProductAttention, ": mask must be bool and broadcast to [",
                    q.sym_size(0), ", ", q.sym_size(2), ", ", q.sym_size(1), ", ", k.sym_size(1), "], got ",
                    mask->scalar_type(), " ", mask->sym_sizes());
}

at::Tensor dot_product_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const std::optional<at::Tensor>& mask, bool causal, double scale) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::dot_product_attention", "")
                             .typed<decltype(dot_product_attention)>();
  return op.call(q, k, v, mask, causal, scale);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> dot_product_attention_backward(
    const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const std::optional<at::Tensor>& mask, bool causal, double scale) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::dot_product_attention_backward", "")
                             .typed<decltype(dot_product_attention_backward)>();
  return op.call(grad, q, k, v, mask, causal, scale);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "dot_product_attention(Tensor q, Tensor k, Tensor v, Tensor? mask=None, bool causal=False, "
      "float scale=1.) -> Tensor");
  m.def(
      "dot_product_attention_backward(Tensor grad, Tensor q, Tensor k, Tensor v, Tensor? mask, bool causal, "
      "float scale) -> (Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("dot_product_attention", attention_meta);
  m.impl("dot_product_attention_backward", attention_backward_meta);
}

}  // namespace modewise::ops
