// Attention types among tokens: full and non-causal window use dot_product_attention; random and topk
// sparse_attention; summary, lambda and causal window summary_attention.

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/zeros_like.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/attention_type_parts.h"
#include "modewise/ops/attention/rotary.h"
#include "modewise/ops/attention/sparse_attention.h"
#include "modewise/ops/attention/summary_attention.h"
#include "modewise/ops/attention/weighted_values.h"

namespace modewise::ops {
namespace {

/// Logit of a masked key: far below all others, and far from the range limits of float32 and bfloat16.
constexpr double kRefused = -1e4;

/// q and k with their rotary embedding.
SequenceTensors rotated(const SequenceTensors& t) {
  if (!t.rotary.used()) return t;
  SequenceTensors out = t;
  const at::TensorOptions doubles = t.q.options().dtype(at::kDouble);
  const at::Tensor positions = t.rotary.positions.defined() ? t.rotary.positions.to(at::kDouble)
                                                            : at::arange(known_size(t.q, 1), doubles);
  const at::Tensor angles = at::outer(positions, t.rotary.level_frequencies(0));
  out.q = ops::rotary(t.q, angles, t.rotary.gain(0));
  out.k = ops::rotary(t.k, angles, t.rotary.gain(0));
  return out;
}

at::Tensor with_ones(const at::Tensor& x) {
  return at::cat({x, at::ones_like(x.narrow(-1, 0, 1))}, -1);
}

/// Masked keys through one more coordinate of q, k and latents: 1 in queries and latents; in keys 0, or for
/// masked tokens a value that drives the logit to kRefused, as a token and in a block's summary.
SequenceTensors barred(const SequenceTensors& t, double scale) {
  if (!t.token_mask) return t;
  SequenceTensors out = t;
  const at::Tensor bar =
      at::zeros_like(t.k.narrow(-1, 0, 1))
          .masked_fill(t.token_mask->logical_not().unsqueeze(-1).unsqueeze(-1), kRefused / scale);
  out.q = with_ones(t.q);
  out.k = at::cat({t.k, bar}, -1);
  if (t.latents.defined()) out.latents = with_ones(t.latents);
  return out;
}

}  // namespace

at::Tensor attend_tokens(const SequenceTensors& given, const TensorAttentionOptions& options) {
  const SequenceTensors t = rotated(given);
  const SoftmaxOptions softmax_options = softmax_options_of(t, options);
  std::optional<at::Tensor> kept;  // [B, 1, 1, n]
  if (t.token_mask) kept = t.token_mask->unsqueeze(1).unsqueeze(1);
  return weighted_values(t.q, t.k, t.v, kept, options.causal, softmax_options);
}

at::Tensor attend_near(const SequenceTensors& given, const TensorAttentionOptions& options) {
  if (options.causal) return attend_summaries(given, options);
  const SequenceTensors t = rotated(given);
  return near_attention(t.q, t.k, t.v, t.token_mask, options.window, options.density,
                        softmax_options_of(t, options));
}

at::Tensor attend_sparse(const SequenceTensors& given, const TensorAttentionOptions& options) {
  const SequenceTensors t = rotated(given);
  return sparse_attention(t.q, t.k, t.v,
                          {options.type == "random", options.density, options.causal, t.token_mask,
                           softmax_options_of(t, options)});
}

at::Tensor attend_summaries(const SequenceTensors& given, const TensorAttentionOptions& options) {
  const AttentionType& type = attention_type(options.type);
  const double scale = softmax_options_of(given, options).scale;
  const SummaryOptions summaries = {.fold = type.latents ? options.fold : std::vector<int64_t>{0},
                                    .window = window_of(options, known_size(given.q, 1)),
                                    .sinks = type.sinks ? options.sinks : 0,
                                    .scale = scale};
  const SequenceTensors t = barred(given, scale);
  return std::get<0>(summary_attention(t.q, t.k, t.v, optional(t.latents), summaries, t.rotary));
}

}  // namespace modewise::ops
