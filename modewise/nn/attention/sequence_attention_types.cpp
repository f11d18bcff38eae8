// Attention types over a sequence: the parameters of each besides the four projections, and how it mixes
// queries, keys and values.

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>

#include "modewise/core/random.h"
#include "modewise/nn/attention/sequence_attention.h"
#include "modewise/nn/embedding/token_projection.h"
#include "modewise/nn/layers/constant.h"
#include "modewise/ops/attention/attention_types.h"
#include "modewise/ops/attention/hashed_attention.h"
#include "modewise/ops/attention/kronecker_attention.h"
#include "modewise/ops/attention/nystroem_attention.h"
#include "modewise/ops/attention/random_features.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::nn {
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

/// softmax(q (E k)ᵀ / √d) F v with learned E, F [K, N] over the tokens (Linformer: Wang et al. 2020).
class Linformer final : public SequenceAttention {
 public:
  Linformer(Initializer& init, const SequenceAttentionOptions& options) : SequenceAttention(init, options) {
    TORCH_CHECK_VALUE(options.tokens >= 1,
                      "linformer projects over the tokens of the longest sequence: its length "
                      "(options.tokens) must be given");
    const int64_t projected = projected_count(options);
    key_map_ = register_parameter("key_map", initial_projection(init, projected, options.tokens));
    value_map_ = register_parameter("value_map", initial_projection(init, projected, options.tokens));
  }
  static int64_t projected_count(const SequenceAttentionOptions& options) {
    return options.projected > 0 ? options.projected : std::max<int64_t>(options.tokens / 4, 1);
  }

 private:
  at::Tensor mixed(const Tokens& t) const override {
    const auto project = [&](const at::Tensor& x, const at::Tensor& map) {
      return projected_tokens(x.flatten(-2), map, t.mask).unflatten(-1, {x.size(2), x.size(3)});
    };
    return ops::weighted_values(t.q, project(t.k, key_map_), project(t.v, value_map_), {}, false,
                                softmax_options());
  }

  at::Tensor key_map_, value_map_;
};

/// Positive orthogonal random features in place of the softmax (Choromanski et al. 2020: FAVOR+). The dropout
/// site seeds them, not the model's seed: they are part of the model's definition.
class Performer final : public SequenceAttention {
 public:
  Performer(Initializer& init, const SequenceAttentionOptions& options)
      : SequenceAttention(init, options),
        site_(init.dropout_site()),
        features_(ops::linear_feature_count(options.width / options.heads, options.features)) {}

 private:
  at::Tensor mixed(const Tokens& t) const override {
    const int64_t heads = t.q.size(2);
    const at::Tensor projection =
        ops::orthogonal_projection(t.q.detach(), t.q.size(3), features_, static_cast<int64_t>(site_), 0);
    at::Tensor values = t.v;
    if (t.mask) values = values.masked_fill(t.mask->logical_not().unsqueeze(-1).unsqueeze(-1), 0);
    const ops::RandomFeatures features =
        ops::random_features(t.q.flatten(-2), t.k.flatten(-2), heads, projection, t.mask);
    const at::Tensor sums =
        ops::matmul(features.keys.transpose(-1, -2), values.transpose(1, 2).to(features.keys.scalar_type()));
    return ops::matmul(features.queries, sums).transpose(1, 2).to(t.v.scalar_type());
  }

  uint32_t site_;
  int64_t features_;
};

class Nystroemformer final : public SequenceAttention {
 public:
  Nystroemformer(Initializer& init, const SequenceAttentionOptions& options)
      : SequenceAttention(init, options), landmarks_(options.landmarks) {
    if (options.kernel > 0)
      kernel_ = register_parameter(
          "kernel",
          init.uniform({options.heads, options.kernel}, 1 / std::sqrt(static_cast<double>(options.kernel))));
  }

 private:
  at::Tensor mixed(const Tokens& t) const override {
    std::optional<at::Tensor> kernel;
    if (kernel_.defined()) kernel = cast_like(kernel_, t.q);
    return ops::nystroem_attention(t.q, t.k, t.v, kernel, t.mask, landmarks_);
  }

  int64_t landmarks_;
  at::Tensor kernel_;  // [H, w]
};

/// LSH attention (Reformer). The dropout site seeds its rotations, as Performer's features. 2⌈tokens / chunk⌉
/// buckets, so that two of them fill a chunk.
class Reformer final : public SequenceAttention {
 public:
  Reformer(Initializer& init, const SequenceAttentionOptions& options)
      : SequenceAttention(init, options), chunk_(options.chunk) {
    const at::Tensor rotations = at::empty(
        {options.rounds, options.heads, options.width / options.heads, half_buckets(options)}, at::kDouble);
    const RandomStream stream{init.dropout_site(), RandomSite::features, 0};
    auto* values = rotations.mutable_data_ptr<double>();
    for (int64_t i = 0; i < rotations.numel(); ++i) values[i] = stream.normal(static_cast<uint64_t>(i));
    rotations_ = register_module("rotations", std::make_shared<Constant>(rotations));
  }
  static int64_t half_buckets(const SequenceAttentionOptions& options) {
    return std::max<int64_t>((options.tokens + options.chunk - 1) / options.chunk, 1);
  }

 private:
  at::Tensor mixed(const Tokens& t) const override {
    return ops::hashed_attention(t.q, t.v, rotations_->value().to(t.q.scalar_type()), t.mask, chunk_);
  }

  int64_t chunk_;
  std::shared_ptr<Constant> rotations_;  // [rounds, H, d, buckets / 2]
};

int64_t latents_of(const SequenceAttentionOptions& options) {
  return ops::latent_levels(tensor_options(options)) * options.summary_tokens * options.width;
}

int64_t linformer_maps(const SequenceAttentionOptions& options) {
  return 2 * Linformer::projected_count(options) * options.tokens;
}

double linformer_products(const SequenceAttentionOptions& options, int64_t n) {
  return static_cast<double>(2 * Linformer::projected_count(options)) *
         static_cast<double>(n * options.width);
}

/// Random features of queries and keys; `pairs` counts their products with the values.
double performer_products(const SequenceAttentionOptions& options, int64_t n) {
  const int64_t features = ops::linear_feature_count(options.width / options.heads, options.features);
  return 2 * static_cast<double>(features) * static_cast<double>(n * options.width);
}

int64_t nystroem_kernel(const SequenceAttentionOptions& options) {
  return options.heads * options.kernel;
}

/// Landmark means, six Newton steps of four products for the pseudo-inverse, its product with the values, the
/// convolution.
double nystroem_products(const SequenceAttentionOptions& options, int64_t n) {
  const auto m = static_cast<double>(std::min(options.landmarks, n)),
             width = static_cast<double>(options.width), tokens = static_cast<double>(n);
  return 2 * tokens * width + 24 * m * m * m * static_cast<double>(options.heads) + m * m * width +
         tokens * width * static_cast<double>(options.kernel);
}

double reformer_products(const SequenceAttentionOptions& options, int64_t n) {
  return static_cast<double>(options.rounds * Reformer::half_buckets(options)) *
         static_cast<double>(n * options.width);
}

template <class Type>
std::shared_ptr<Attention> made(Initializer& init, const SequenceAttentionOptions& options) {
  return std::make_shared<Type>(init, options);
}

}  // namespace

std::span<const SequenceConstructor> sequence_constructors() {
  static constexpr SequenceConstructor list[] = {
      {"full", made<TensorAttention>},
      {"axial", made<TensorAttention>},
      {"pooled", made<TensorAttention>},
      {"summary", made<TensorAttention>, latents_of},
      {"window", made<TensorAttention>},
      {"random", made<TensorAttention>},
      {"topk", made<TensorAttention>},
      {"linformer", made<Linformer>, linformer_maps, linformer_products},
      {"performer", made<Performer>, nullptr, performer_products},
      {"nystroemformer", made<Nystroemformer>, nystroem_kernel, nystroem_products},
      {"reformer", made<Reformer>, nullptr, reformer_products},
  };
  return list;
}

double compared_pairs(const SequenceAttentionOptions& options, int64_t n) {
  sequence_constructor(options.type);  // throws for an unknown type
  return ops::compared_pairs({tensor_options(options), options.summary_tokens, options.width / options.heads,
                              Linformer::projected_count(options), options.landmarks, options.features,
                              options.chunk, options.rounds},
                             n);
}

}  // namespace modewise::nn
