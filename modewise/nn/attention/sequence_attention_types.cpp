// The list of attention types over a sequence, and the types that ops::tensor_attention computes.

#include "modewise/nn/attention/sequence_attention.h"
#include "modewise/nn/layers/checks.h"
#include "modewise/nn/layers/constant.h"

namespace modewise::nn {

// Each is defined in the file of its type.
SequenceConstructor linformer_constructor();
SequenceConstructor performer_constructor();
SequenceConstructor nystroemformer_constructor();
SequenceConstructor reformer_constructor();

namespace {

ops::TensorAttentionOptions tensor_options(const SequenceAttentionOptions& options) {
  ops::TensorAttentionOptions out;
  out.type = options.type;
  const ops::AttentionType& type = *ops::find_attention_type(options.type);
  out.causal = type.latents;
  out.density = options.density;
  if (type.fold) out.fold = options.fold;
  if (type.by_modes()) out.modes = options.modes;
  if (type.window) out.window = options.window;
  return out;
}

/// The types of ops::tensor_attention.
class TensorAttention final : public SequenceAttention {
 public:
  TensorAttention(Initializer& init, const SequenceAttentionOptions& options)
      : SequenceAttention(init, options), options_(tensor_options(options)) {
    if (const int64_t levels = ops::latent_levels(options_); levels > 0)
      latents_ = register_parameter(
          "latents",
          init.normal({levels, options.heads, options.summary_tokens, options.width / options.heads}, 0.02));
  }

 private:
  at::Tensor mixed(const Tokens& t) const override {
    ops::TensorAttentionOptions options = options_;
    options.dropout = softmax_options().dropout;
    options.key = softmax_options().key;
    return ops::tensor_attention(t.q, t.k, t.v, options, cast_like(latents_, t.q), {}, t.mask);
  }

  ops::TensorAttentionOptions options_;
  at::Tensor latents_;  // [m−1, H, summary_tokens, d]
};

int64_t latents_of(const SequenceAttentionOptions& options) {
  return ops::latent_levels(tensor_options(options)) * options.summary_tokens * options.width;
}

}  // namespace

std::span<const SequenceConstructor> sequence_constructors() {
  static const SequenceConstructor list[] = {
      {"full", make_sequence_type<TensorAttention>},
      {"axial", make_sequence_type<TensorAttention>},
      {"pooled", make_sequence_type<TensorAttention>},
      {"summary", make_sequence_type<TensorAttention>, latents_of},
      {"window", make_sequence_type<TensorAttention>},
      {"random", make_sequence_type<TensorAttention>},
      {"topk", make_sequence_type<TensorAttention>},
      linformer_constructor(),
      performer_constructor(),
      nystroemformer_constructor(),
      reformer_constructor(),
  };
  return list;
}

double compared_pairs(const SequenceAttentionOptions& options, int64_t n) {
  sequence_constructor(options.type);  // throws for an unknown type
  const int64_t head = width_of_head("compared_pairs", options.width, options.heads);
  return ops::compared_pairs(
      {tensor_options(options), options.summary_tokens, head, options.tokens, options.own}, n);
}

}  // namespace modewise::nn
