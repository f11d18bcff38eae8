#include "modewise/ops/attention/summary_attention.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"

namespace modewise::ops {

namespace {

constexpr auto kSummaryAttention = "summary_attention";
using Optional = std::optional<at::Tensor>;

}  // namespace

void check_summary_attention_args(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                  const Optional& latents, const SummaryOptions& options,
                                  const RotaryEmbedding& rotary) {
  check_floating(kSummaryAttention, "q", q);
  check_same(kSummaryAttention, "k", k, "q", q);
  check_same(kSummaryAttention, "v", v, "q", q);
  TORCH_CHECK_VALUE(
      q.dim() == 4 && k.dim() == 4 && v.dim() == 4 && q.sym_size(0) == k.sym_size(0) &&
          q.sym_size(1) == k.sym_size(1) && q.sym_size(3) == k.sym_size(3) && k.sym_size(2) > 0 &&
          q.sym_size(2) % k.sym_size(2) == 0 && v.sym_sizes().slice(0, 3) == k.sym_sizes().slice(0, 3),
      kSummaryAttention,
      ": q, k and v must be [B, n, H, d], [B, n, G, d] and [B, n, G, e], G a divisor of H; got ",
      q.sym_sizes(), ", ", k.sym_sizes(), " and ", v.sym_sizes());
  TORCH_CHECK_VALUE(!options.fold.empty(), kSummaryAttention, ": fold must not be empty");
  check_integer(kSummaryAttention, "window", options.window, 1);
  check_integer(kSummaryAttention, "sinks", options.sinks, 0);
  const auto levels = static_cast<int64_t>(options.fold.size()) - 1;
  for (int64_t l = 0; l <= levels; ++l)
    check_integer(kSummaryAttention, l == 0 ? "the first size of fold" : "each further size of fold",
                  options.fold[static_cast<size_t>(l)], l == 0 ? 0 : 1);
  if (levels > 0) {
    TORCH_CHECK_VALUE(latents.has_value(), kSummaryAttention, ": fold ", options.fold, " needs latents [",
                      levels, ", ", k.sym_size(2), ", r, ", k.sym_size(3), "]");
    check_same(kSummaryAttention, "latents", *latents, "q", q);
    TORCH_CHECK_VALUE(
        latents->dim() == 4 && latents->sym_size(0) >= levels && latents->sym_size(1) == k.sym_size(2) &&
            latents->sym_size(2) >= 1 && latents->sym_size(3) == k.sym_size(3),
        kSummaryAttention, ": latents must be [at least ", levels, ", ", k.sym_size(2), ", r, ",
        k.sym_size(3), "] for fold ", options.fold, " and k ", k.sym_sizes(), ", got ", latents->sym_sizes());
  }
  if (rotary.positions.defined()) check_positions(kSummaryAttention, rotary.positions, q);
  if (rotary.used()) check_device(kSummaryAttention, "frequencies", rotary.frequencies, "q", q);
  if (rotary.used())
    TORCH_CHECK_VALUE(rotary.frequencies.scalar_type() == at::kDouble && rotary.frequencies.dim() == 2 &&
                          rotary.frequencies.sym_size(0) > 0 &&
                          rotary.frequencies.sym_size(1) * 2 == q.sym_size(3),
                      kSummaryAttention, ": frequencies must be float64 [levels, d/2] for q ", q.sym_sizes(),
                      ", got ", rotary.frequencies.scalar_type(), " ", rotary.frequencies.sym_sizes());
}

void check_summary_results(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& logsumexp,
                           const at::Tensor& q, const at::Tensor& v) {
  constexpr auto kOp = "summary_attention_backward";
  const auto check = [&](const char* name, const at::Tensor& x, std::initializer_list<c10::SymInt> sizes) {
    check_device(kOp, name, x, "q", q);
    TORCH_CHECK_VALUE(x.sym_sizes() == c10::SymIntArrayRef(sizes), kOp, ": ", name, " must be ",
                      c10::SymIntArrayRef(sizes), " for q ", q.sym_sizes(), ", got ", x.sym_sizes());
  };
  check("grad", grad, {q.sym_size(0), q.sym_size(1), q.sym_size(2), v.sym_size(3)});
  check("out", out, {q.sym_size(0), q.sym_size(1), q.sym_size(2), v.sym_size(3)});
  check("logsumexp", logsumexp, {q.sym_size(0), q.sym_size(2), q.sym_size(1)});
}

namespace {

std::tuple<at::Tensor, at::Tensor> summary_attention_meta(const at::Tensor& q, const at::Tensor& k,
                                                          const at::Tensor& v, const Optional& latents,
                                                          const Optional& frequencies,
                                                          const Optional& positions, at::IntArrayRef fold,
                                                          int64_t window, int64_t sinks, double scale,
                                                          at::ArrayRef<double> gains) {
  check_summary_attention_args(
      q, k, v, latents, {fold.vec(), window, sinks, scale},
      {frequencies.value_or(at::Tensor()), gains.vec(), positions.value_or(at::Tensor())});
  return {at::empty_symint({q.sym_size(0), q.sym_size(1), q.sym_size(2), v.sym_size(3)}, q.options()),
          at::empty_symint({q.sym_size(0), q.sym_size(2), q.sym_size(1)},
                           q.options().dtype(accumulate_type(q.scalar_type())))};
}

using Gradients = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

Gradients summary_attention_backward_meta(const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k,
                                          const at::Tensor& v, const Optional& latents, const at::Tensor& out,
                                          const at::Tensor& logsumexp, const Optional& frequencies,
                                          const Optional& positions, at::IntArrayRef fold, int64_t window,
                                          int64_t sinks, double scale, at::ArrayRef<double> gains) {
  check_summary_attention_args(
      q, k, v, latents, {fold.vec(), window, sinks, scale},
      {frequencies.value_or(at::Tensor()), gains.vec(), positions.value_or(at::Tensor())});
  check_summary_results(grad, out, logsumexp, q, v);
  const auto like = [](const at::Tensor& x) { return at::empty_symint(x.sym_sizes(), x.options()); };
  return {like(q), like(k), like(v), latents ? like(*latents) : at::empty({0}, q.options())};
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> summary_attention(const at::Tensor& q, const at::Tensor& k,
                                                     const at::Tensor& v, const Optional& latents,
                                                     const SummaryOptions& options,
                                                     const RotaryEmbedding& rotary) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::summary_attention", "")
                             .typed<decltype(summary_attention_meta)>();
  return op.call(q, k, v, latents, optional(rotary.frequencies), optional(rotary.positions), options.fold,
                 options.window, options.sinks, options.scale, rotary.gains);
}

Gradients summary_attention_backward(const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k,
                                     const at::Tensor& v, const Optional& latents, const at::Tensor& out,
                                     const at::Tensor& logsumexp, const SummaryOptions& options,
                                     const RotaryEmbedding& rotary) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::summary_attention_backward", "")
                             .typed<decltype(summary_attention_backward_meta)>();
  return op.call(grad, q, k, v, latents, out, logsumexp, optional(rotary.frequencies),
                 optional(rotary.positions), options.fold, options.window, options.sinks, options.scale,
                 rotary.gains);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "summary_attention(Tensor q, Tensor k, Tensor v, Tensor? latents, Tensor? frequencies, Tensor? "
      "positions, "
      "int[] fold, int window, int sinks, float scale, float[] gains) -> (Tensor, Tensor)");
  m.def(
      "summary_attention_backward(Tensor grad, Tensor q, Tensor k, Tensor v, Tensor? latents, Tensor out, "
      "Tensor "
      "logsumexp, Tensor? frequencies, Tensor? positions, int[] fold, int window, int sinks, float scale, "
      "float[] "
      "gains) -> (Tensor, Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("summary_attention", summary_attention_meta);
  m.impl("summary_attention_backward", summary_attention_backward_meta);
}

}  // namespace modewise::ops
