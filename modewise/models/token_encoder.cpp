#include "modewise/models/token_encoder.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/nn/attention/divided_attention.h"
#include "modewise/nn/attention/grid_attention.h"
#include "modewise/nn/attention/pooling_attention.h"

namespace modewise::models {
namespace {

constexpr double kEncodingStddev = 0.02;

ops::KroneckerAttentionOptions kronecker_options(const EncoderConfig& config,
                                                 std::vector<int64_t> rotary_modes) {
  const AttentionConfig& attention = config.attention;
  ops::KroneckerAttentionOptions out;
  out.heads = config.heads;
  const std::string combine = attention.combined();
  out.combine = combine == "product" ? ops::Combine::product
                : combine == "sum"   ? ops::Combine::sum
                                     : ops::Combine::mean;
  out.pooling = attention.pooling == "sum" ? ops::Pooling::sum : ops::Pooling::mean;
  out.share_modes = attention.share_modes;
  out.attend_modes = attention.attend_modes;
  out.rope_modes = std::move(rotary_modes);
  out.rope_base = config.position.rotary_base;
  out.kernel = attention.kernel;
  out.features = attention.features;
  out.feature_map = attention.feature_map;
  return out;
}

std::vector<int64_t> rotary_modes(const PositionConfig& position, const TokenShape& tokens) {
  if (!position.rotary_modes.empty()) return position.rotary_modes;
  if (position.rotary == "none" || tokens.ordered_modes.empty()) return {};
  if (position.rotary == "time") return {tokens.ordered_modes.back()};
  return tokens.ordered_modes;
}

std::shared_ptr<nn::Attention> make_attention(const EncoderConfig& config, const std::string& mechanism,
                                              const TokenShape& tokens, nn::Initializer& init) {
  const AttentionConfig& attention = config.attention;
  if (attention.kernel == "none") return nullptr;
  if (attention.from_registry())
    return nn::make_attention(init, attention.type, {tokens.sizes, 0, config.width, config.heads});
  std::vector<int64_t> rotary = rotary_modes(config.position, tokens);
  const nn::FeatureDrawOptions draw{attention.feature_draw == "seed", attention.features_redraw_every};
  if (mechanism == "hot")
    return std::make_shared<nn::KroneckerAttention>(
        init, config.width, tokens.modes(), attention.query_key_norm, attention.dropout,
        kronecker_options(config, std::move(rotary)), draw, attention.mode_masks);
  if (mechanism == "pooling")
    return std::make_shared<nn::PoolingAttention>(init, config.width, config.heads, tokens.sizes,
                                                  attention.dropout);
  nn::TokenAttentionOptions options = {.query_key_norm = attention.query_key_norm,
                                       .dropout = attention.dropout,
                                       .rotary_modes = std::move(rotary),
                                       .rotary_base = config.position.rotary_base,
                                       .features = attention.kernel == "linear" ? attention.features : -1,
                                       .regularised = attention.feature_map == "regularised",
                                       .draw = draw};
  if (mechanism == "divided")
    return std::make_shared<nn::DividedAttention>(init, config.width, config.heads, tokens.modes(),
                                                  std::move(options));
  require(mechanism == "transformer" || mechanism == "spatial" || mechanism == "temporal",
          ErrorKind::internal, "unknown attention '{}'", mechanism);
  if (mechanism != "transformer")
    options.scope = mechanism == "spatial" ? nn::AttentionScope::spatial : nn::AttentionScope::temporal;
  return std::make_shared<nn::TokenAttention>(init, config.width, config.heads, std::move(options));
}

std::shared_ptr<nn::FeedForward> make_feed_forward(const EncoderConfig& config, nn::Initializer& init) {
  if (config.feed_forward == "none") return nullptr;
  if (config.feed_forward == "swiglu") return std::make_shared<nn::SwiGLU>(init, config.width, config.hidden);
  return std::make_shared<nn::GELUNetwork>(init, config.width, config.hidden);
}

}  // namespace

TokenEncoder::TokenEncoder(const EncoderConfig& config, const std::string& mechanism, TokenShape tokens,
                           double input_dropout, nn::Initializer& init)
    : tokens_(std::move(tokens)), attended_modes_(config.attention.attend_modes) {
  if (attended_modes_.empty()) {
    attended_modes_.resize(tokens_.sizes.size());
    std::iota(attended_modes_.begin(), attended_modes_.end(), int64_t{0});
  }
  make_codes(config, init);
  embedding_dropout_ =
      register_module("embedding_dropout", std::make_shared<nn::Dropout>(init, input_dropout));
  make_blocks(config, mechanism, init);
}

void TokenEncoder::make_codes(const EncoderConfig& config, nn::Initializer& init) {
  const std::vector<int64_t>& ordered = tokens_.ordered_modes;
  if (config.position.identity && ordered.size() < tokens_.sizes.size()) {
    identity_ = register_module("identity", std::make_shared<nn::ModuleList<nn::ModeEmbedding>>());
    for (int64_t mode = 0; mode < tokens_.modes(); ++mode)
      if (std::find(ordered.begin(), ordered.end(), mode) == ordered.end())
        identity_->push_back(std::make_shared<nn::ModeEmbedding>(
            init, tokens_.sizes, std::vector<int64_t>{mode}, config.width, kEncodingStddev));
  }
  if (config.position.code == "learned")
    learned_positions_ = register_module(
        "positions",
        std::make_shared<nn::ModeEmbedding>(init, tokens_.sizes, ordered, config.width, kEncodingStddev));
  if (config.position.code == "sincos")
    fixed_positions_ = register_module(
        "positions", std::make_shared<nn::SinCosEncoding>(tokens_.sizes, ordered, config.width));
}

void TokenEncoder::make_blocks(const EncoderConfig& config, const std::string& mechanism,
                               nn::Initializer& init) {
  blocks_ = register_module("blocks", std::make_shared<nn::ModuleList<nn::Block>>());
  for (int64_t i = 0; i < config.blocks; ++i) {
    auto attention = make_attention(config, mechanism, tokens_, init);
    auto feed_forward = make_feed_forward(config, init);
    blocks_->push_back(std::make_shared<nn::Block>(init, config.width, std::move(attention),
                                                   std::move(feed_forward), config.dropout,
                                                   config.layer_scale));
  }
}

void TokenEncoder::join(torch::nn::Module& parent) {
  for (const auto& child : named_children()) parent.register_module(child.key(), child.value());
}

at::Tensor TokenEncoder::with_codes(const at::Tensor& tokens) const {
  at::Tensor x = tokens;
  if (identity_)
    for (const auto& code : *identity_) x = code->add_to(x);
  if (learned_positions_) x = learned_positions_->add_to(x);
  if (fixed_positions_) x = fixed_positions_->add_to(x);
  return embedding_dropout_->forward(x);
}

at::Tensor TokenEncoder::forward(const nn::PatchTokens& input) const {
  at::Tensor x = with_codes(input.tokens);
  for (const auto& block : *blocks_) x = block->forward(x, input.mask);
  return x;
}

AttentionView TokenEncoder::attention(const nn::PatchTokens& input) const {
  AttentionView view{tokens_.sizes, {}, {}};
  at::Tensor x = with_codes(input.tokens);
  for (const auto& block : *blocks_) {
    std::vector<at::Tensor> factors = block->factors(x, input.mask);
    at::Tensor matrix = factors.empty() ? block->full_matrix(x, input.mask) : at::Tensor();
    if (!factors.empty()) view.maps.push_back({attended_modes_, std::move(factors)});
    if (matrix.defined()) view.full.push_back(std::move(matrix));
    x = block->forward(x, input.mask);
  }
  return view;
}

}  // namespace modewise::models
