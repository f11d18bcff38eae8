#include "modewise/nn/attention/language_attention.h"

#include <ATen/core/grad_mode.h>

#include <utility>

#include "modewise/nn/attention/attention_matrix.h"
#include "modewise/ops/attention/attention_types.h"

namespace modewise::nn {

LanguageAttention::LanguageAttention(Initializer& init, LanguageAttentionOptions options)
    : options_(std::move(options)) {
  const int64_t width = options_.width, d = options_.head_width;
  const auto projection = [&](const char* name, int64_t in, int64_t out, double stddev) {
    return register_module(name, std::make_shared<Linear>(init, in, out, stddev));
  };
  query_ = projection("q_proj", width, options_.heads * d, options_.stddev);
  key_ = projection("k_proj", width, options_.kv_heads * d, options_.stddev);
  value_ = projection("v_proj", width, options_.kv_heads * d, options_.stddev);
  out_ = projection("o_proj", options_.heads * d, width, options_.out_stddev);
  if (options_.rotary.used())
    frequencies_ = register_module("frequencies", std::make_shared<Constant>(options_.rotary.frequencies));
  if (const int64_t levels = ops::latent_levels(options_.attention); levels > 0)
    latents_ = register_parameter(
        "latents",
        init.normal({levels, options_.kv_heads, options_.summary_tokens, d}, options_.latent_stddev));
}

ops::RotaryEmbedding LanguageAttention::rotary() const {
  ops::RotaryEmbedding code = options_.rotary;
  if (frequencies_) code.frequencies = frequencies_->value();
  return code;
}

LanguageAttention::Projected LanguageAttention::project(const at::Tensor& x) const {
  const std::vector<at::Tensor> parts = joint_linear(x, {query_.get(), key_.get(), value_.get()});
  const auto heads = [&](const at::Tensor& t, int64_t count) {
    return t.unflatten(-1, {count, options_.head_width});
  };
  return {heads(parts[0], options_.heads), heads(parts[1], options_.kv_heads),
          heads(parts[2], options_.kv_heads)};
}

at::Tensor LanguageAttention::forward(const at::Tensor& x) const {
  const Projected p = project(x);
  const at::Tensor attended =
      ops::tensor_attention(p.q, p.k, p.v, options_.attention, cast_like(latents_, x), rotary());
  return out_->forward(attended.flatten(-2));
}

at::Tensor LanguageAttention::full_matrix(const at::Tensor& x) const {
  const Projected p = project(x);
  return attention_matrix(p.q, p.k, options_.attention, latents_, rotary());
}

at::Tensor LanguageAttention::step(const at::Tensor& x, ops::AttentionCache& cache) const {
  const Projected p = project(x);
  return out_->forward(cache.step(p.q, p.k, p.v).flatten(-2));
}

ops::AttentionCache LanguageAttention::new_cache(at::ScalarType type) const {
  return {options_.attention, latents_.defined() ? latents_.detach().to(type) : latents_, rotary()};
}

void start_latents(at::Tensor& latents) {
  const at::NoGradGuard no_grad;
  if (latents.size(2) == 1)
    latents.zero_();
  else
    latents.copy_(Initializer(0).normal(latents.sizes(), LanguageAttentionOptions().latent_stddev));
}

}  // namespace modewise::nn
