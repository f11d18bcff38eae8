#include "modewise/models/language_modeling/language_model.h"

#include <ATen/ops/embedding.h>

#include <cmath>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/nn/attention/language_attention.h"
#include "modewise/nn/layers/device.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/feed_forward.h"
#include "modewise/nn/layers/module_list.h"
#include "modewise/nn/layers/rms_norm.h"
#include "modewise/nn/recompute.h"
#include "modewise/ops/dense/linear.h"

namespace modewise::models {
namespace {

double stddev_of(const LanguageModelConfig& config) {
  return config.stddev > 0 ? config.stddev : 1 / std::sqrt(static_cast<double>(config.width));
}

}  // namespace

// Not in the unnamed namespace: LanguageModel::Decoder, which has external linkage, holds them.
class LanguageLayer : public torch::nn::Module {
 public:
  LanguageLayer(const LanguageModelConfig& config, nn::Initializer& init) {
    const double stddev = stddev_of(config);
    const double last = stddev / std::sqrt(2.0 * static_cast<double>(config.layers));
    attention_ = register_module(
        "self_attn", std::make_shared<nn::LanguageAttention>(
                         init, nn::LanguageAttentionOptions{.width = config.width,
                                                            .heads = config.heads,
                                                            .kv_heads = config.kv_heads,
                                                            .head_width = config.head_width,
                                                            .summary_tokens = config.attention.summary_tokens,
                                                            .stddev = stddev,
                                                            .out_stddev = last,
                                                            .latent_stddev = config.attention.latent_stddev,
                                                            .attention = config.attention_options(),
                                                            .rotary = config.rotary_embedding()}));
    feed_forward_ =
        register_module("mlp", std::make_shared<nn::SwiGLU>(init, config.width, config.hidden, stddev, last));
    norm1_ =
        register_module("input_layernorm", std::make_shared<nn::RMSNorm>(config.width, config.norm_epsilon));
    norm2_ = register_module("post_attention_layernorm",
                             std::make_shared<nn::RMSNorm>(config.width, config.norm_epsilon));
    dropout1_ = register_module("dropout1", std::make_shared<nn::Dropout>(init, config.dropout));
    dropout2_ = register_module("dropout2", std::make_shared<nn::Dropout>(init, config.dropout));
  }

  at::Tensor forward(const at::Tensor& x) const {
    return fed(dropout1_->add_to(x, attention_->forward(norm1_->forward(x))));
  }
  at::Tensor step(const at::Tensor& x, ops::AttentionCache& cache) const {
    return fed(dropout1_->add_to(x, attention_->step(norm1_->forward(x), cache)));
  }
  at::Tensor attention_matrix(const at::Tensor& x) const {
    return attention_->full_matrix(norm1_->forward(x));
  }
  ops::AttentionCache new_cache(at::ScalarType type) const { return attention_->new_cache(type); }

 private:
  at::Tensor fed(const at::Tensor& x) const {
    return dropout2_->add_to(x, feed_forward_->forward(norm2_->forward(x)));
  }

  std::shared_ptr<nn::LanguageAttention> attention_;
  std::shared_ptr<nn::SwiGLU> feed_forward_;
  std::shared_ptr<nn::RMSNorm> norm1_, norm2_;
  std::shared_ptr<nn::Dropout> dropout1_, dropout2_;
};

/// Module with one parameter named `weight`.
class LanguageMatrix : public torch::nn::Module {
 public:
  explicit LanguageMatrix(at::Tensor value) { weight = register_parameter("weight", std::move(value)); }
  at::Tensor weight;
};

class LanguageModel::Decoder : public torch::nn::Module {
 public:
  Decoder(const LanguageModelConfig& config, nn::Initializer& init) {
    embedding = register_module("embed_tokens", std::make_shared<LanguageMatrix>(init.normal(
                                                    {config.vocabulary, config.width}, stddev_of(config))));
    layers = register_module("layers", std::make_shared<nn::ModuleList<LanguageLayer>>());
    for (int64_t i = 0; i < config.layers; ++i)
      layers->push_back(std::make_shared<LanguageLayer>(config, init));
    norm = register_module("norm", std::make_shared<nn::RMSNorm>(config.width, config.norm_epsilon));
  }

  std::shared_ptr<LanguageMatrix> embedding;
  std::shared_ptr<nn::ModuleList<LanguageLayer>> layers;
  std::shared_ptr<nn::RMSNorm> norm;
};

LanguageModel::LanguageModel(const LanguageModelConfig& config, nn::Initializer& init)
    : config_(config), decoder_(register_module("model", std::make_shared<Decoder>(config, init))) {
  if (config.tied) return;
  head_ = register_module("lm_head", std::make_shared<LanguageMatrix>(
                                         init.normal({config.vocabulary, config.width}, stddev_of(config))))
              ->weight;
}

LanguageModel::~LanguageModel() = default;

const at::Tensor& LanguageModel::head_weight() const {
  return head_.defined() ? head_ : decoder_->embedding->weight;
}

at::Tensor LanguageModel::embed(const at::Tensor& tokens) const {
  require(tokens.dim() == 2 && tokens.scalar_type() == at::kLong, ErrorKind::internal,
          "tokens must be [B, n] int64");
  const at::Tensor& weight = decoder_->embedding->weight;
  const at::Tensor x = at::embedding(weight, nn::placed(tokens, weight.device()));
  return x.to(activation_type());
}

at::ScalarType LanguageModel::activation_type() const {
  return config_.precision == "bf16" ? at::kBFloat16 : decoder_->embedding->weight.scalar_type();
}

at::Tensor LanguageModel::hidden(const at::Tensor& tokens) {
  at::Tensor x = embed(tokens);
  for (const auto& layer : *decoder_->layers) {
    if (config_.recompute)
      x = nn::recomputed(x, *layer, [layer](const at::Tensor& input) { return layer->forward(input); });
    else
      x = layer->forward(x);
  }
  return decoder_->norm->forward(x);
}

at::Tensor LanguageModel::forward(const at::Tensor& tokens) {
  return ops::linear(hidden(tokens), head_weight());
}

at::Tensor LanguageModel::attention_matrix(const at::Tensor& tokens, int64_t layer) {
  require(layer >= 0 && layer < config_.layers, ErrorKind::internal, "layer must be from 0 to {}, got {}",
          config_.layers - 1, layer);
  at::Tensor x = embed(tokens);
  for (int64_t i = 0; i < layer; ++i) x = (*decoder_->layers)[static_cast<size_t>(i)].forward(x);
  return (*decoder_->layers)[static_cast<size_t>(layer)].attention_matrix(x);
}

std::vector<ops::AttentionCache> LanguageModel::new_cache() const {
  std::vector<ops::AttentionCache> out;
  for (const auto& layer : *decoder_->layers) out.push_back(layer->new_cache(activation_type()));
  return out;
}

at::Tensor LanguageModel::step_hidden(const at::Tensor& tokens, std::vector<ops::AttentionCache>& caches) {
  require(caches.size() == decoder_->layers->size(), ErrorKind::internal,
          "expected a cache for each of {} layers, got {}", decoder_->layers->size(), caches.size());
  at::Tensor x = embed(tokens);
  for (size_t i = 0; i < caches.size(); ++i) x = (*decoder_->layers)[i].step(x, caches[i]);
  return decoder_->norm->forward(x);
}

at::Tensor LanguageModel::step(const at::Tensor& tokens, std::vector<ops::AttentionCache>& caches) {
  return ops::linear(step_hidden(tokens, caches).select(1, -1), head_weight());
}

std::shared_ptr<LanguageModel> make_language_model(const LanguageModelConfig& config, uint64_t seed) {
  config.validate("model");
  nn::Initializer init(seed);
  return std::make_shared<LanguageModel>(config.resolved(), init);
}

std::shared_ptr<LanguageModel> make_unset_language_model(const LanguageModelConfig& config,
                                                         at::ScalarType weights) {
  config.validate("model");
  nn::Initializer init = nn::Initializer::without_values(weights);
  auto model = std::make_shared<LanguageModel>(config.resolved(), init);
  if (weights != at::kFloat) model->to(weights);  // norm scales, which the initializer does not create
  return model;
}

}  // namespace modewise::models
