#include "modewise/models/token_forecaster.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace modewise::models {
namespace {

constexpr double kCodeDeviation = 0.02;

nn::PatchActivation patch_activation(const std::string& name) {
  if (name == "relu") return nn::PatchActivation::relu;
  if (name == "relu_norm") return nn::PatchActivation::relu_norm;
  return nn::PatchActivation::none;
}

nn::TimePooling time_pooling(const std::string& name) {
  if (name == "mean") return nn::TimePooling::mean;
  if (name == "attention") return nn::TimePooling::attention;
  return nn::TimePooling::flatten;
}

ops::KroneckerAttentionOptions kronecker_options(const ModelConfig& config,
                                                 std::vector<int64_t> rotary_modes) {
  const AttentionConfig& attention = config.attention;
  ops::KroneckerAttentionOptions out;
  out.heads = config.heads;
  out.combine = attention.combine == "product" ? ops::Combine::product
                : attention.combine == "sum"   ? ops::Combine::sum
                                               : ops::Combine::mean;
  out.pooling = attention.pooling == "sum" ? ops::Pooling::sum : ops::Pooling::mean;
  out.share_modes = attention.share_modes;
  out.attend_modes = attention.attend_modes;
  out.rope_modes = std::move(rotary_modes);
  out.rope_base = config.position.rotary_base;
  out.kernel = attention.kernel;
  out.features = attention.features;
  return out;
}

std::vector<int64_t> rotary_modes(const ModelConfig& config, const std::vector<int64_t>& ordered_modes) {
  if (config.position.rotary == "none") return {};
  if (config.position.rotary == "time") return {ordered_modes.back()};
  return ordered_modes;
}

std::shared_ptr<nn::Attention> make_attention(const ModelConfig& config, int64_t modes,
                                              const std::vector<int64_t>& ordered_modes,
                                              nn::Initializer& init) {
  std::vector<int64_t> rotary = rotary_modes(config, ordered_modes);
  const AttentionConfig& attention = config.attention;
  if (config.name == "hot")
    return std::make_shared<nn::KroneckerAttention>(init, config.width, modes, attention.query_key_norm,
                                                    attention.dropout,
                                                    kronecker_options(config, std::move(rotary)));
  const nn::Reach reach = config.name == "spatial"    ? nn::Reach::spatial
                          : config.name == "temporal" ? nn::Reach::temporal
                                                      : nn::Reach::all;
  return std::make_shared<nn::TokenAttention>(init, config.width, config.heads, reach,
                                              attention.query_key_norm, attention.dropout, std::move(rotary),
                                              config.position.rotary_base);
}

}  // namespace

TokenForecaster::TokenForecaster(const ModelConfig& config, const ForecastShape& shape, nn::Initializer& init)
    : LearnedForecaster(shape, config.window), bfloat16_(config.precision == "bf16") {
  const int64_t patches = nn::patch_count(shape.lookback, config.patch.length, config.patch.stride);
  const int64_t modes = static_cast<int64_t>(shape.series.size()) + 1;
  std::vector<int64_t> token_sizes = shape.series;
  token_sizes.push_back(patches);
  for (size_t mode = 0; mode < shape.ordered.size(); ++mode)
    if (shape.ordered[mode]) ordered_modes_.push_back(static_cast<int64_t>(mode));
  ordered_modes_.push_back(modes - 1);
  attended_modes_ = config.attention.attend_modes;
  if (attended_modes_.empty()) {
    attended_modes_.resize(static_cast<size_t>(modes));
    std::iota(attended_modes_.begin(), attended_modes_.end(), int64_t{0});
  }

  embedding_ = register_module("emb", std::make_shared<nn::PatchEmbedding>(
                                          init, config.patch.length, config.patch.stride, config.width,
                                          patch_activation(config.patch.embedding), shape.missing));
  make_codes(config, token_sizes, init);
  embedding_dropout_ =
      register_module("embedding_dropout", std::make_shared<nn::Dropout>(init, config.patch.dropout));
  make_blocks(config, init);
  head_ = register_module(
      "head", std::make_shared<nn::TimeHead>(init, time_pooling(config.head.time), patches, config.width,
                                             config.heads, outputs(), config.head.dropout));
  if (config.head.zero_start) head_->set_to_zero();
  if (config.head.skip != "none") {
    skip_ = register_module("skip", std::make_shared<nn::SeriesLinear>(
                                        init, config.head.skip == "individual" ? shape.series_count() : 0,
                                        shape.lookback, outputs()));
    skip_->set_to_zero();
  }
}

void TokenForecaster::make_codes(const ModelConfig& config, const std::vector<int64_t>& token_sizes,
                                 nn::Initializer& init) {
  if (config.position.identity) {
    identity_ = register_module("identity", std::make_shared<nn::ModuleList<nn::LearnedCode>>());
    for (int64_t mode = 0; mode + 1 < static_cast<int64_t>(token_sizes.size()); ++mode)
      if (std::find(ordered_modes_.begin(), ordered_modes_.end(), mode) == ordered_modes_.end())
        identity_->push_back(std::make_shared<nn::LearnedCode>(init, token_sizes, std::vector<int64_t>{mode},
                                                               config.width, kCodeDeviation));
  }
  if (config.position.code == "learned")
    learned_positions_ = register_module(
        "positions",
        std::make_shared<nn::LearnedCode>(init, token_sizes, ordered_modes_, config.width, kCodeDeviation));
  if (config.position.code == "sincos")
    fixed_positions_ = register_module(
        "positions", std::make_shared<nn::SinCosCode>(token_sizes, ordered_modes_, config.width));
}

void TokenForecaster::make_blocks(const ModelConfig& config, nn::Initializer& init) {
  const int64_t modes = static_cast<int64_t>(shape().series.size()) + 1;
  blocks_ = register_module("blocks", std::make_shared<nn::ModuleList<nn::Block>>());
  for (int64_t i = 0; i < config.blocks; ++i) {
    auto attention = make_attention(config, modes, ordered_modes_, init);
    std::shared_ptr<nn::FeedForward> feed_forward;
    if (config.feed_forward == "swiglu")
      feed_forward = std::make_shared<nn::SwiGLU>(init, config.width, config.hidden);
    else
      feed_forward = std::make_shared<nn::GELUNetwork>(init, config.width, config.hidden);
    blocks_->push_back(std::make_shared<nn::Block>(init, config.width, std::move(attention),
                                                   std::move(feed_forward), config.dropout,
                                                   config.layer_scale));
  }
}

nn::PatchTokens TokenForecaster::embed(const at::Tensor& values, const at::Tensor& observed) const {
  nn::PatchTokens out =
      embedding_->forward(values, observed, bfloat16_ ? at::kBFloat16 : values.scalar_type());
  if (identity_)
    for (const auto& code : *identity_) out.tokens = code->add_to(out.tokens);
  if (learned_positions_) out.tokens = learned_positions_->add_to(out.tokens);
  if (fixed_positions_) out.tokens = fixed_positions_->add_to(out.tokens);
  out.tokens = embedding_dropout_->forward(out.tokens);
  return out;
}

at::Tensor TokenForecaster::raw_forecast(const at::Tensor& values, const at::Tensor& observed) {
  nn::PatchTokens x = embed(values, observed);
  for (const auto& block : *blocks_) x.tokens = block->forward(x.tokens, x.mask);
  const at::Tensor out = head_->forward(x.tokens, x.mask);
  return skip_ ? out.to(values.scalar_type()) + skip_->forward(values) : out;
}

std::vector<ModeMaps> TokenForecaster::attention_maps(const ForecastInput& input) {
  nn::PatchTokens x = embed(normalized(input).values, input.observed);
  std::vector<ModeMaps> out;
  for (const auto& block : *blocks_) {
    std::vector<at::Tensor> factors = block->factors(x.tokens, x.mask);
    if (factors.empty()) return {};
    out.push_back({attended_modes_, std::move(factors)});
    x.tokens = block->forward(x.tokens, x.mask);
  }
  return out;
}

}  // namespace modewise::models
