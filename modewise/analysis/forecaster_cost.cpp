#include "modewise/analysis/forecaster_cost.h"

#include <algorithm>
#include <numeric>

#include "modewise/nn/patch_embedding.h"
#include "modewise/ops/kronecker_attention.h"

namespace modewise::analysis {
namespace {

using models::ForecastShape;
using models::ModelConfig;

/// Collects parts; equal names add up.
class Account {
 public:
  void add(const std::string& name, int64_t parameters, double multiply_adds) {
    const auto found =
        std::find_if(parts_.begin(), parts_.end(), [&](const CostPart& p) { return p.name == name; });
    if (found == parts_.end()) {
      parts_.push_back({name, parameters, multiply_adds});
    } else {
      found->parameters += parameters;
      found->multiply_adds += multiply_adds;
    }
  }
  /// A linear map of `rows` rows.
  void linear(const std::string& name, int64_t in, int64_t out, double rows, bool bias = true) {
    add(name, in * out + (bias ? out : 0), rows * static_cast<double>(in * out));
  }
  void norm(int64_t width, double rows) { add("norms", 2 * width, rows * static_cast<double>(width)); }
  std::vector<CostPart> take() { return std::move(parts_); }

 private:
  std::vector<CostPart> parts_;
};

int64_t outputs(const ForecastShape& shape) {
  return shape.horizon * std::max<int64_t>(shape.quantiles, 1);
}

void add_window(Account& account, const models::WindowConfig& window, const ForecastShape& shape) {
  if (window.affine) account.add("window", 2 * shape.series_count(), 0);
  if (window.cycle > 0) account.add("window", window.cycle * shape.series_count(), 0);
}

/// The token models: hot, transformer, spatial, temporal.
class TokenModel {
 public:
  TokenModel(const ModelConfig& config, const ForecastShape& shape, Projection projection)
      : config_(config), shape_(shape), projection_(projection), sizes_(shape.series) {
    sizes_.push_back(nn::patch_count(shape.lookback, config.patch.length, config.patch.stride));
    for (const int64_t size : sizes_) tokens_ *= static_cast<double>(size);
    modes_ = config.attention.attend_modes;
    if (modes_.empty()) {
      modes_.resize(sizes_.size());
      std::iota(modes_.begin(), modes_.end(), int64_t{0});
    }
  }

  ForecasterCost cost() {
    add_window(account_, config_.window, shape_);
    embedding();
    for (int64_t block = 0; block < config_.blocks; ++block) {
      account_.norm(width_, tokens_);
      attention();
      account_.norm(width_, tokens_);
      feed_forward();
      if (config_.layer_scale > 0)
        account_.add("norms", 2 * width_, 2 * tokens_ * static_cast<double>(width_));
    }
    head();
    const double bytes = config_.precision == "bf16" ? 2 : 4;
    return {sizes_, account_.take(), bytes * activations_};
  }

 private:
  int64_t size(int64_t mode) const { return sizes_[static_cast<size_t>(mode)]; }
  bool ordered(int64_t mode) const {
    return mode + 1 == std::ssize(sizes_) ||
           (!shape_.ordered.empty() && shape_.ordered[static_cast<size_t>(mode)]);
  }

  void embedding() {
    const int64_t channels = shape_.missing ? 2 : 1;
    account_.linear("embedding", channels * config_.patch.length, width_, tokens_);
    if (config_.patch.embedding == "relu_norm") account_.norm(width_, tokens_);
    int64_t places = config_.position.code == "learned" ? 1 : 0;
    for (int64_t mode = 0; mode < std::ssize(sizes_); ++mode) {
      if (config_.position.identity && !ordered(mode)) account_.add("codes", size(mode) * width_, 0);
      if (ordered(mode)) places *= size(mode);
    }
    account_.add("codes", places * width_, 0);
    activations_ += tokens_ * static_cast<double>(channels * config_.patch.length);
  }

  void attention() {
    const double width = static_cast<double>(width_), head_width = width / static_cast<double>(config_.heads);
    account_.linear("value and output", width_, width_, 2 * tokens_);
    account_.add("value and output", width_ * width_ + width_, 0);  // the output's own weights
    if (config_.attention.query_key_norm) account_.add("norms", 4 * static_cast<int64_t>(head_width), 0);
    if (config_.name != "hot") {
      account_.linear("query and key", width_, width_, 2 * tokens_);
      account_.add("query and key", width_ * width_ + width_, 0);
      const auto patches = static_cast<double>(sizes_.back());
      const double reach = config_.name == "spatial"    ? tokens_ / patches
                           : config_.name == "temporal" ? patches
                                                        : tokens_;
      account_.add("scores and mixing", 0, 2 * tokens_ * reach * width);
      activations_ += tokens_ * width * 6;
      return;
    }
    const bool full = projection_ == Projection::full;
    const int64_t sets = config_.attention.share_modes ? 1 : std::ssize(sizes_);
    account_.add("query and key", 2 * sets * (width_ * width_ + width_),
                 full ? 2 * tokens_ * static_cast<double>(sets) * width * width : 0);
    for (const int64_t mode : modes_) {
      const auto n = static_cast<double>(size(mode));
      if (!full) account_.add("query and key", 0, 2 * n * width * width);
      if (config_.attention.kernel == "linear") {
        const auto features = static_cast<double>(
            ops::linear_feature_count(static_cast<int64_t>(head_width), config_.attention.features));
        account_.add("scores and mixing", 0,
                     2 * n * width * features + 2 * tokens_ * width * features);  // features; V in and out
      } else {
        account_.add("scores and mixing", 0, n * n * width + n * tokens_ * width);
        activations_ += n * n * static_cast<double>(config_.heads);
      }
      activations_ += 4 * n * width;
    }
    activations_ += tokens_ * width * (3 + static_cast<double>(modes_.size()));
  }

  void feed_forward() {
    const auto width = static_cast<double>(width_), hidden = static_cast<double>(config_.hidden);
    if (config_.feed_forward == "swiglu") {
      account_.add("feed-forward", 3 * width_ * config_.hidden, tokens_ * (3 * width * hidden + hidden));
      activations_ += tokens_ * (2 * width + 3 * hidden);
    } else {
      account_.linear("feed-forward", width_, config_.hidden, tokens_);
      account_.linear("feed-forward", config_.hidden, width_, tokens_);
      activations_ += tokens_ * (2 * width + 2 * hidden);
    }
  }

  void head() {
    const auto series = static_cast<double>(shape_.series_count());
    const bool flat = config_.head.time == "flatten", pooled = config_.head.time == "mean";
    account_.norm(width_, pooled ? series : tokens_);
    if (config_.head.time == "attention") {
      account_.linear("head", width_, config_.heads, tokens_, false);
      account_.add("head", 0, tokens_ * static_cast<double>(width_));
    }
    account_.linear("head", flat ? width_ * sizes_.back() : width_, outputs(shape_), series);
    if (config_.head.skip != "none") {
      const int64_t maps = config_.head.skip == "individual" ? shape_.series_count() : 1;
      account_.add("head", maps * (shape_.lookback + 1) * outputs(shape_),
                   series * static_cast<double>(shape_.lookback * outputs(shape_)));
    }
    activations_ += 2 * tokens_ * static_cast<double>(width_);
  }

  const ModelConfig& config_;
  const ForecastShape& shape_;
  Projection projection_;
  std::vector<int64_t> sizes_, modes_;
  double tokens_ = 1, activations_ = 0;
  const int64_t width_ = config_.width;
  Account account_;
};

ForecasterCost linear_cost(const ModelConfig& config, const ForecastShape& shape) {
  Account account;
  const int64_t maps = config.baseline.individual ? shape.series_count() : 1;
  const int64_t branches = config.name == "dlinear" ? 2 : 1;
  const auto series = static_cast<double>(shape.series_count());
  if (config.name == "rlinear") add_window(account, config.window, shape);
  account.add("linear", branches * maps * (shape.lookback + 1) * outputs(shape),
              static_cast<double>(branches * shape.lookback * outputs(shape)) * series);
  return {{}, account.take(), 4 * series * static_cast<double>(branches * shape.lookback)};
}

/// Ordinary transformer layers over `tokens` tokens a row, `rows` rows a sample.
void add_layers(Account& account, const ModelConfig& config, double rows, double tokens,
                double& activations) {
  const int64_t width = config.width;
  const double all = rows * tokens, d = static_cast<double>(width);
  for (int64_t block = 0; block < config.blocks; ++block) {
    for (int i = 0; i < 4; ++i)
      account.linear(i < 2 ? "query and key" : "value and output", width, width, all);
    account.add("scores and mixing", 0, 2 * all * tokens * d);
    account.linear("feed-forward", width, config.hidden, all);
    account.linear("feed-forward", config.hidden, width, all);
    account.norm(width, all);
    account.norm(width, all);
    activations += all * (9 * d + 2 * static_cast<double>(config.hidden)) +
                   rows * tokens * tokens * static_cast<double>(config.heads);
  }
}

ForecasterCost patchtst_cost(const ModelConfig& config, const ForecastShape& shape) {
  Account account;
  add_window(account, config.window, shape);
  const int64_t patches = (shape.lookback - config.patch.length) / config.patch.stride + 2;
  const auto series = static_cast<double>(shape.series_count()), p = static_cast<double>(patches);
  account.linear("embedding", config.patch.length, config.width, series * p);
  account.add("codes", patches * config.width, 0);
  double activations = series * p * static_cast<double>(config.patch.length + config.width);
  add_layers(account, config, series, p, activations);
  account.linear("head", patches * config.width, outputs(shape), series);
  return {{patches}, account.take(), (config.precision == "bf16" ? 2 : 4) * activations};
}

ForecasterCost itransformer_cost(const ModelConfig& config, const ForecastShape& shape) {
  Account account;
  add_window(account, config.window, shape);
  const auto series = static_cast<double>(shape.series_count());
  account.linear("embedding", shape.lookback, config.width, series);
  double activations = series * static_cast<double>(shape.lookback + 2 * config.width);
  add_layers(account, config, 1, series, activations);
  account.norm(config.width, series);
  account.linear("head", config.width, outputs(shape), series);
  return {{shape.series_count()}, account.take(), (config.precision == "bf16" ? 2 : 4) * activations};
}

}  // namespace

int64_t ForecasterCost::parameters() const {
  return std::accumulate(parts.begin(), parts.end(), int64_t{0},
                         [](int64_t sum, const CostPart& part) { return sum + part.parameters; });
}

double ForecasterCost::multiply_adds() const {
  return std::accumulate(parts.begin(), parts.end(), 0.0,
                         [](double sum, const CostPart& part) { return sum + part.multiply_adds; });
}

ForecasterCost forecaster_cost(const ModelConfig& config, const ForecastShape& shape, Projection projection) {
  models::validate(config, shape);
  const std::string& name = config.name;
  if (name == "repeat" || name == "seasonal") return {};
  if (name == "dlinear" || name == "nlinear" || name == "rlinear") return linear_cost(config, shape);
  if (name == "patchtst") return patchtst_cost(config, shape);
  if (name == "itransformer") return itransformer_cost(config, shape);
  return TokenModel(config, shape, projection).cost();
}

}  // namespace modewise::analysis
