#include "modewise/models/encoder_cost.h"

#include <algorithm>
#include <numeric>

#include "modewise/nn/attention/attention_cost.h"
#include "modewise/ops/attention/attention_types.h"
#include "modewise/ops/attention/kronecker_attention.h"

namespace modewise::models {
namespace {

/// Cost of one block's attention.
class BlockAttentionCost {
 public:
  BlockAttentionCost(nn::CostAccount& account, const EncoderConfig& config, const TokenShape& tokens)
      : account_(account),
        config_(config),
        sizes_(tokens.sizes),
        tokens_(nn::cell_count(tokens.sizes)),
        width_(config.width),
        features_(static_cast<double>(
            ops::linear_feature_count(config.width / config.heads, config.attention.features))) {}

  void kronecker(Projection projection) {
    values_and_output();
    norms();
    const bool full = projection == Projection::full;
    const double d = static_cast<double>(width_);
    std::vector<int64_t> modes = config_.attention.attend_modes;
    if (modes.empty()) {
      modes.resize(sizes_.size());
      std::iota(modes.begin(), modes.end(), int64_t{0});
    }
    const int64_t sets = config_.attention.share_modes ? 1 : std::ssize(sizes_);
    account_.add("query and key", 2 * sets * (width_ * width_ + width_),
                 full ? 2 * tokens_ * static_cast<double>(sets) * d * d : 0);
    for (const int64_t mode : modes) {
      const auto n = static_cast<double>(sizes_[static_cast<size_t>(mode)]);
      if (!full) account_.add("query and key", 0, 2 * n * d * d);
      if (linear()) {
        account_.add("scores and mixing", 0, 2 * n * d * features_ + 2 * tokens_ * d * features_);
      } else {
        account_.add("scores and mixing", 0, n * n * d + n * tokens_ * d);
        account_.keep(n * n * static_cast<double>(config_.heads));
      }
      account_.keep(4 * n * d);
    }
    account_.keep(tokens_ * d * (3 + static_cast<double>(modes.size())));
  }

  /// Every token attends to `scope` tokens.
  void tokens(double scope) {
    values_and_output();
    norms();
    const double d = static_cast<double>(width_);
    for (int i = 0; i < 2; ++i) account_.linear("query and key", width_, width_, tokens_);
    account_.add("scores and mixing", 0, linear() ? 4 * tokens_ * d * features_ : 2 * tokens_ * scope * d);
    account_.keep(tokens_ * d * 6);
  }

  void divided() {
    const double d = static_cast<double>(width_);
    norms();
    for (const int64_t n : sizes_) {
      for (int i = 0; i < 2; ++i) account_.linear("query and key", width_, width_, tokens_);
      account_.linear("value and output", width_, width_, tokens_);
      account_.add("scores and mixing", 0, 2 * tokens_ * static_cast<double>(n) * d);
      account_.keep(tokens_ * d * 5);
    }
  }

  void pooling() {
    values_and_output();
    const double d = static_cast<double>(width_);
    double coarse = 1;
    int64_t taps = 1;
    for (const int64_t n : sizes_) {
      const int64_t halved = (n + 1) / 2;
      coarse *= static_cast<double>(halved);
      taps *= 3;
    }
    for (int i = 0; i < 2; ++i) account_.linear("query and key", width_, width_, tokens_);
    for (const double places : {tokens_, coarse, coarse}) {
      account_.add("pooling", taps * width_, places * d * static_cast<double>(taps));
      account_.norm(width_, places);
    }
    account_.add("scores and mixing", 0, 2 * tokens_ * coarse * d);
    account_.keep(tokens_ * d * 8);
  }

 private:
  bool linear() const { return config_.attention.kernel == "linear"; }
  void values_and_output() {
    for (int i = 0; i < 2; ++i) account_.linear("value and output", width_, width_, tokens_);
  }
  void norms() {
    if (config_.attention.query_key_norm) account_.add("norms", 4 * (width_ / config_.heads), 0);
  }

  nn::CostAccount& account_;
  const EncoderConfig& config_;
  const std::vector<int64_t>& sizes_;
  double tokens_;
  int64_t width_;
  double features_;
};

void add_feed_forward(nn::CostAccount& account, const EncoderConfig& config, double tokens) {
  const auto width = static_cast<double>(config.width), hidden = static_cast<double>(config.hidden);
  if (config.feed_forward == "swiglu") {
    account.add("feed-forward", 3 * config.width * config.hidden, tokens * (3 * width * hidden + hidden));
    account.keep(tokens * (2 * width + 3 * hidden));
  } else {
    account.linear("feed-forward", config.width, config.hidden, tokens);
    account.linear("feed-forward", config.hidden, config.width, tokens);
    account.keep(tokens * (2 * width + 2 * hidden));
  }
}

}  // namespace

void add_codes(nn::CostAccount& account, const EncoderConfig& config, const TokenShape& tokens) {
  int64_t places = config.position.code == "learned" ? 1 : 0;
  for (int64_t mode = 0; mode < tokens.modes(); ++mode) {
    const auto& ordered = tokens.ordered_modes;
    const int64_t size = tokens.sizes[static_cast<size_t>(mode)];
    if (std::find(ordered.begin(), ordered.end(), mode) != ordered.end())
      places *= size;
    else if (config.position.identity)
      account.add("position embeddings", size * config.width, 0);
  }
  account.add("position embeddings", places * config.width, 0);
}

void add_blocks(nn::CostAccount& account, const EncoderConfig& config, const std::string& mechanism,
                const TokenShape& tokens, Projection projection) {
  const double count = nn::cell_count(tokens.sizes);
  const auto last = static_cast<double>(tokens.sizes.back());
  const auto scale = [&] {
    if (config.layer_scale > 0) account.add("norms", config.width, count * static_cast<double>(config.width));
  };
  for (int64_t block = 0; block < config.blocks; ++block) {
    account.layer("block " + std::to_string(block + 1));
    if (config.attention.kernel != "none") {
      account.norm(config.width, count);
      BlockAttentionCost attention(account, config, tokens);
      const std::string& type = config.attention.from_registry() ? config.attention.type : mechanism;
      if (type == "hot")
        attention.kronecker(projection);
      else if (ops::find_attention_type(type, ops::TokenLayout::grid) != nullptr)
        add_attention(account, type, {tokens.sizes, 0, config.width, config.heads});
      else if (type == "divided")
        attention.divided();
      else if (type == "pooling")
        attention.pooling();
      else
        attention.tokens(type == "spatial" ? count / last : type == "temporal" ? last : count);
      scale();
    }
    if (config.feed_forward != "none") {
      account.norm(config.width, count);
      add_feed_forward(account, config, count);
      scale();
    }
  }
}

void add_patches(nn::CostAccount& account, const std::string& embedding, const std::vector<int64_t>& patch,
                 int64_t channels, int64_t width, double count) {
  int64_t inputs = channels;
  for (const int64_t p : patch) inputs *= p;
  account.linear("embedding", inputs, width, count);
  if (embedding == "relu_norm") account.norm(width, count);
  account.keep(count * static_cast<double>(inputs + width));
}

}  // namespace modewise::models
