#include "modewise/nn/sequence_attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <utility>

#include "modewise/nn/attention_matrix.h"
#include "modewise/ops/attention_forms.h"

namespace modewise::nn {
namespace {

/// A logit far below all others, and far from where float32 and bfloat16 end.
constexpr double kRefused = -1e4;

/// x with one more coordinate, 1.
at::Tensor with_ones(const at::Tensor& x) {
  return at::cat({x, at::ones_like(x.narrow(-1, 0, 1))}, -1);
}

}  // namespace

SequenceAttention::SequenceAttention(Initializer& init, SequenceAttentionOptions options)
    : heads_(options.heads), options_(std::move(options.attention)) {
  const int64_t width = options.width;
  const auto map = [&] { return std::make_shared<Linear>(init, width, width, options.bias); };
  query_ = register_module("query_proj", map());
  key_ = register_module("key_proj", map());
  value_ = register_module("value_proj", map());
  out_ = register_module("out_proj", map());
  if (const int64_t levels = ops::latent_levels(options_); levels > 0)
    latents_ =
        register_parameter("latents", init.normal({levels, heads_, options.slots, width / heads_}, 0.02));
  if (ops::attention_form(options_.form).memory && options_.scale == 0)
    options_.scale = 1 / std::sqrt(static_cast<double>(width) / static_cast<double>(heads_));
}

at::Tensor SequenceAttention::split(const Linear& layer, const at::Tensor& x) const {
  return layer.forward(x).unflatten(-1, {heads_, x.size(-1) / heads_});
}

SequenceAttention::Compared SequenceAttention::compared(const at::Tensor& x,
                                                        const std::optional<at::Tensor>& mask) const {
  Compared out = {split(*query_, x), split(*key_, x), cast_like(latents_, x)};
  if (!mask) return out;
  // One more coordinate: 1 in the queries, in the keys 0 or what makes the logit refuse them. Every form then
  // masks alike, blocks' summaries too.
  const at::Tensor barred =
      at::zeros_like(out.k.narrow(-1, 0, 1))
          .masked_fill(mask->logical_not().unsqueeze(-1).unsqueeze(-1), kRefused / options_.scale);
  out.q = with_ones(out.q);
  out.k = at::cat({out.k, barred}, -1);
  if (out.latents.defined()) out.latents = with_ones(out.latents);
  return out;
}

at::Tensor SequenceAttention::forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  const Compared c = compared(x, mask);
  at::Tensor v = split(*value_, x);
  // Values get a 0, since libtorch's fast kernel, whose gradients do not depend on threads, wants them as
  // wide as keys.
  const int64_t width = v.size(-1);
  if (mask) v = at::cat({v, at::zeros_like(v.narrow(-1, 0, 1))}, -1);
  const at::Tensor attended = ops::tensor_attention(c.q, c.k, v, options_, c.latents).narrow(-1, 0, width);
  return out_->forward(attended.flatten(-2));
}

at::Tensor SequenceAttention::full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  const Compared c = compared(x, mask);
  return attention_matrix(c.q, c.k, options_, c.latents);
}

std::shared_ptr<Attention> make_sequence_attention(Initializer& init,
                                                   const SequenceAttentionOptions& options) {
  return std::make_shared<SequenceAttention>(init, options);
}

}  // namespace modewise::nn
