#pragma once
// Reference kernels: the operators as plain ATen formulas, differentiable by ATen's autograd. They are the
// test oracle, the last entry of every kernel list, and the implementation for devices without kernels of
// their own. All tensors they create are on the device of their arguments.

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "modewise/ops/attention/mode_pool.h"
#include "modewise/ops/attention/summary_attention.h"
#include "modewise/ops/attention/summary_step.h"
#include "modewise/ops/attention/synthesized_attention.h"
#include "modewise/ops/dense/feed_forward_checks.h"
#include "modewise/ops/normalization/layer_norm.h"
#include "modewise/ops/training/adam_step.h"
#include "modewise/ops/training/dropout_key.h"

namespace modewise::ops::reference {

at::Tensor mode_product(const at::Tensor& x, const at::Tensor& factor, int64_t mode);
at::Tensor mode_contract(const at::Tensor& a, const at::Tensor& x, int64_t mode, int64_t heads);
std::vector<at::Tensor> mode_pool(const at::Tensor& x, Pooling pooling,
                                  const std::optional<at::Tensor>& token_mask);

at::Tensor mode_pool_backward(at::TensorList grads, at::IntArrayRef sizes, Pooling pooling,
                              const std::optional<at::Tensor>& token_mask);

/// S = softmax(q kᵀ / √d) per head from q, k [B, N, D]; key_mask [B, N] or [B, H, N] and mode_mask [N, N] are
/// bool, true = may attend. Rows without a key are 0.
at::Tensor mode_scores(const at::Tensor& q, const at::Tensor& k, int64_t heads,
                       const std::optional<at::Tensor>& key_mask, const std::optional<at::Tensor>& mode_mask);
std::tuple<at::Tensor, at::Tensor> mode_scores_backward(const at::Tensor& grad, const at::Tensor& scores,
                                                        const at::Tensor& q, const at::Tensor& k,
                                                        int64_t heads);
at::Tensor rotary(const at::Tensor& x, const at::Tensor& angles, double gain, bool inverse);

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps);
/// (result, mean, 1/standard deviation of each row), and the gradients of x, weight and bias, the last two in
/// the accumulate type.
std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_stats(const at::Tensor& x,
                                                                const std::optional<at::Tensor>& weight,
                                                                const std::optional<at::Tensor>& bias,
                                                                double eps);
std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_backward(
    const at::Tensor& grad, const at::Tensor& x, const at::Tensor& mean, const at::Tensor& rstd,
    const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& grad_sum);
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);
/// The same without mean and bias.
std::tuple<at::Tensor, at::Tensor> rms_norm_stats(const at::Tensor& x,
                                                  const std::optional<at::Tensor>& weight, double eps);
std::tuple<at::Tensor, at::Tensor> rms_norm_backward(const at::Tensor& grad, const at::Tensor& x,
                                                     const at::Tensor& rstd,
                                                     const std::optional<at::Tensor>& weight);
/// 1/(1 − p) where an element is kept, else 0, in the shape and dtype of x (float32 for bfloat16).
at::Tensor dropout_scale(const at::Tensor& x, double p, DropoutKey key);
at::Tensor dropout_add(const at::Tensor& residual, const at::Tensor& x, double p, DropoutKey key);
at::Tensor swiglu(const at::Tensor& gate_and_up);
at::Tensor swiglu_backward(const at::Tensor& grad, const at::Tensor& gate_and_up);
at::Tensor elementary(const at::Tensor& x, std::string_view function);
/// (result, gate x and first x + first_bias side by side, or only the latter).
std::tuple<at::Tensor, at::Tensor> feed_forward(const at::Tensor& x, const FeedForwardWeights& weights,
                                                double p, DropoutKey key);
FeedForwardGradients feed_forward_backward(const at::Tensor& grad, const at::Tensor& x,
                                           const at::Tensor& kept, const FeedForwardWeights& weights,
                                           double p, DropoutKey key, FeedForwardWanted wanted);
std::tuple<at::Tensor, at::Tensor> summary_attention(const at::Tensor& q, const at::Tensor& k,
                                                     const at::Tensor& v,
                                                     const std::optional<at::Tensor>& latents,
                                                     const SummaryOptions& options,
                                                     const RotaryEmbedding& code);
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> summary_attention_backward(
    const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const std::optional<at::Tensor>& latents, const SummaryOptions& options, const RotaryEmbedding& code);
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias);
std::tuple<at::Tensor, at::Tensor, at::Tensor> linear_backward(const at::Tensor& grad, const at::Tensor& x,
                                                               const at::Tensor& weight, bool x_wanted,
                                                               bool weight_wanted, bool bias_wanted);
at::Tensor dot_product_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const std::optional<at::Tensor>& mask, bool causal, double scale);
std::tuple<at::Tensor, at::Tensor, at::Tensor> dot_product_attention_backward(
    const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const std::optional<at::Tensor>& mask, bool causal, double scale);
at::Tensor synthesized_attention(const at::Tensor& v, const SynthesizedLogits& logits, int64_t rows,
                                 const std::optional<at::Tensor>& key_mask, bool causal);
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> synthesized_attention_backward(
    const at::Tensor& grad, const at::Tensor& v, const SynthesizedLogits& logits, int64_t rows,
    const std::optional<at::Tensor>& key_mask, bool causal);
at::Tensor matmul(const at::Tensor& a, const at::Tensor& b);
/// (loss, gradients of hidden and head where requested, else empty).
std::tuple<at::Tensor, at::Tensor, at::Tensor> language_loss(const at::Tensor& hidden, const at::Tensor& head,
                                                             const at::Tensor& targets, bool hidden_wanted,
                                                             bool head_wanted);
at::Tensor token_losses(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets);
std::tuple<at::Tensor, at::Tensor, at::Tensor> batch_norm(const at::Tensor& x, const at::Tensor& weight,
                                                          const at::Tensor& bias, double eps);
std::tuple<at::Tensor, at::Tensor, at::Tensor> batch_norm_backward(const at::Tensor& grad,
                                                                   const at::Tensor& x,
                                                                   const at::Tensor& mean,
                                                                   const at::Tensor& var,
                                                                   const at::Tensor& weight, double eps);

std::tuple<at::Tensor, at::Tensor, at::Tensor> masked_moments(const at::Tensor& rows, const at::Tensor& mask);
at::Tensor masked_moments_backward(const at::Tensor& grad_mean, const at::Tensor& grad_var,
                                   const at::Tensor& rows, const at::Tensor& mask);
void update_moments(const at::Tensor& running_mean, const at::Tensor& running_var, const at::Tensor& mean,
                    const at::Tensor& var, const at::Tensor& count, double momentum);
at::Tensor sum_of_squares(const at::Tensor& x);
void summary_join(const KeyRows& rows, const PartialBlocks& open);
at::Tensor summary_step(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                        const at::Tensor& rotated, const KeyRows& ring, const KeyRows& first,
                        const std::vector<VisibleSummaries>& summary_tokens, const PartialBlocks& open,
                        const RotaryEmbedding& rotary, const StepOptions& options);
void adam_step(const at::Tensor& parameter, const at::Tensor& gradient, const at::Tensor& first_moment,
               const at::Tensor& second_moment, const AdamStep& step);
at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                       at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation);
std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight, at::IntArrayRef stride,
    at::IntArrayRef padding, at::IntArrayRef dilation, bool x_wanted, bool weight_wanted, bool bias_wanted);

}  // namespace modewise::ops::reference
