#include "modewise/analysis/cost.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "modewise/analysis/attention_type_cost.h"
#include "modewise/ops/attention/kronecker_attention.h"

namespace modewise::analysis {
namespace {

double product(const std::vector<int64_t>& sizes) {
  double out = 1;
  for (const int64_t n : sizes) out *= static_cast<double>(n);
  return out;
}

void add_to(std::vector<CostPart>& parts, const std::string& name, int64_t parameters, double multiply_adds) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const CostPart& p) { return p.name == name; });
  if (found == parts.end()) {
    parts.push_back({name, parameters, multiply_adds});
  } else {
    found->parameters += parameters;
    found->multiply_adds += multiply_adds;
  }
}

int64_t parameters_of(const std::vector<CostPart>& parts) {
  return std::accumulate(parts.begin(), parts.end(), int64_t{0},
                         [](int64_t sum, const CostPart& part) { return sum + part.parameters; });
}

double multiply_adds_in(const std::vector<CostPart>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0,
                         [](double sum, const CostPart& part) { return sum + part.multiply_adds; });
}

/// Cost of one block's attention.
class AttentionCost {
 public:
  AttentionCost(CostAccount& account, const models::EncoderConfig& config, const models::TokenShape& tokens)
      : account_(account),
        config_(config),
        sizes_(tokens.sizes),
        tokens_(product(tokens.sizes)),
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

  /// Every token attends to `reach` tokens.
  void tokens(double reach) {
    values_and_output();
    norms();
    const double d = static_cast<double>(width_);
    for (int i = 0; i < 2; ++i) account_.linear("query and key", width_, width_, tokens_);
    account_.add("scores and mixing", 0, linear() ? 4 * tokens_ * d * features_ : 2 * tokens_ * reach * d);
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
      coarse *= static_cast<double>((n + 1) / 2);
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

  CostAccount& account_;
  const models::EncoderConfig& config_;
  const std::vector<int64_t>& sizes_;
  double tokens_;
  int64_t width_;
  double features_;
};

void add_feed_forward(CostAccount& account, const models::EncoderConfig& config, double tokens) {
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

int64_t LayerCost::parameters() const {
  return parameters_of(parts);
}
double LayerCost::multiply_adds() const {
  return multiply_adds_in(parts);
}
int64_t ModelCost::parameters() const {
  return parameters_of(parts);
}
double ModelCost::multiply_adds() const {
  return multiply_adds_in(parts);
}
double ModelCost::multiply_adds_of(const std::vector<std::string>& names) const {
  double sum = 0;
  for (const CostPart& part : parts)
    if (std::find(names.begin(), names.end(), part.name) != names.end()) sum += part.multiply_adds;
  return sum;
}

void add_parts(ModelCost& cost, const ModelCost& other) {
  for (const CostPart& part : other.parts) add_to(cost.parts, part.name, part.parameters, part.multiply_adds);
}

void CostAccount::layer(const std::string& name) {
  cost_.layers.push_back({name, {}, 0});
}

void CostAccount::add(const std::string& name, int64_t parameters, double multiply_adds) {
  add_to(cost_.parts, name, parameters, multiply_adds);
  if (!cost_.layers.empty()) add_to(cost_.layers.back().parts, name, parameters, multiply_adds);
}

void CostAccount::linear(const std::string& name, int64_t in, int64_t out, double rows, bool bias) {
  add(name, in * out + (bias ? out : 0), rows * static_cast<double>(in * out));
}

void CostAccount::norm(int64_t width, double rows) {
  add("norms", 2 * width, rows * static_cast<double>(width));
}

void CostAccount::keep(double elements) {
  cost_.activation_bytes += bytes_ * elements;
  if (!cost_.layers.empty()) cost_.layers.back().activation_bytes += bytes_ * elements;
}

ModelCost CostAccount::cost(std::vector<int64_t> tokens) && {
  cost_.tokens = std::move(tokens);
  return std::move(cost_);
}

void add_codes(CostAccount& account, const models::EncoderConfig& config, const models::TokenShape& tokens) {
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

void add_blocks(CostAccount& account, const models::EncoderConfig& config, const std::string& mechanism,
                const models::TokenShape& tokens, Projection projection) {
  const double count = product(tokens.sizes);
  const auto last = static_cast<double>(tokens.sizes.back());
  const auto scale = [&] {
    if (config.layer_scale > 0) account.add("norms", config.width, count * static_cast<double>(config.width));
  };
  for (int64_t block = 0; block < config.blocks; ++block) {
    account.layer("block " + std::to_string(block + 1));
    if (config.attention.kernel != "none") {
      account.norm(config.width, count);
      AttentionCost attention(account, config, tokens);
      const std::string& type = config.attention.from_registry() ? config.attention.type : mechanism;
      if (type == "hot")
        attention.kronecker(projection);
      else if (nn::find_attention_entry(type) != nullptr)
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

models::TokenShape VisionModel::tokens() const {
  models::TokenShape out;
  for (size_t mode = 0; mode < size.size(); ++mode) {
    out.sizes.push_back((size[mode] + patch - 1) / patch);
    out.ordered_modes.push_back(static_cast<int64_t>(mode));
  }
  return out;
}

ModelCost grid_cost(const VisionModel& model, Projection projection) {
  const models::TokenShape tokens = model.tokens();
  const double count = product(tokens.sizes);
  const int64_t width = model.encoder.width;
  int64_t inputs = model.channels;
  for (size_t i = 0; i < model.size.size(); ++i) inputs *= model.patch;
  CostAccount account;
  account.layer("embedding");
  account.linear("embedding", inputs, width, count);
  account.norm(width, count);  // BatchNorm
  add_codes(account, model.encoder, tokens);
  account.keep(count * static_cast<double>(inputs + width));
  add_blocks(account, model.encoder, model.mechanism, tokens, projection);
  account.layer("head");
  account.norm(width, 1);
  account.linear("head", width, model.classes, 1);
  account.keep(2 * static_cast<double>(width));
  return std::move(account).cost(tokens.sizes);
}

}  // namespace modewise::analysis
