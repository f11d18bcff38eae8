// First order only; the gradient uses the output and the logsumexp of each row.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/summary_attention.h"

namespace modewise::ops {

namespace {

using Optional = std::optional<at::Tensor>;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct SummaryAttention : torch::autograd::Function<SummaryAttention> {
  static variable_list forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
                               const at::Tensor& v, const Optional& latents, const Optional& frequencies,
                               const Optional& positions, const SummaryOptions& options,
                               const std::vector<double>& gains) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const RotaryEmbedding rotary = {frequencies.value_or(at::Tensor()), gains,
                                    positions.value_or(at::Tensor())};
    auto [out, sums] = summary_attention(q, k, v, latents, options, rotary);
    context->save_for_backward(
        {q, k, v, latents.value_or(at::Tensor()), out, sums, rotary.frequencies, rotary.positions});
    context->saved_data["fold"] = options.fold;
    context->saved_data["window"] = options.window;
    context->saved_data["sinks"] = options.sinks;
    context->saved_data["scale"] = options.scale;
    context->saved_data["gains"] = gains;
    context->mark_non_differentiable({sums});
    return {out, sums};
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const auto& data = context->saved_data;
    const SummaryOptions options = {data.at("fold").toIntVector(), data.at("window").toInt(),
                                    data.at("sinks").toInt(), data.at("scale").toDouble()};
    const RotaryEmbedding rotary = {saved[6], data.at("gains").toDoubleVector(), saved[7]};
    const auto latents = optional(saved[3]);
    auto [grad_q, grad_k, grad_v, grad_latents] = summary_attention_backward(
        grads[0], saved[0], saved[1], saved[2], latents, saved[4], saved[5], options, rotary);
    return {grad_q, grad_k, grad_v, latents ? grad_latents : at::Tensor(), {}, {}, {}, {}};
  }
};

std::tuple<at::Tensor, at::Tensor> summary_attention_autograd(const at::Tensor& q, const at::Tensor& k,
                                                              const at::Tensor& v, const Optional& latents,
                                                              const Optional& frequencies,
                                                              const Optional& positions, at::IntArrayRef fold,
                                                              int64_t window, int64_t sinks, double scale,
                                                              at::ArrayRef<double> gains) {
  const SummaryOptions options = {fold.vec(), window, sinks, scale};
  check_summary_attention_args(
      q, k, v, latents, options,
      {frequencies.value_or(at::Tensor()), gains.vec(), positions.value_or(at::Tensor())});
  const auto results =
      SummaryAttention::apply(q, k, v, latents, frequencies, positions, options, gains.vec());
  return {results[0], results[1]};
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("summary_attention", summary_attention_autograd);
  m.impl("summary_attention_backward", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace modewise::ops
