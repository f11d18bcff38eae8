// SCINet (Liu et al., NeurIPS 2022) as in the authors' code, with one stack: a binary tree of blocks that
// split the window into even and odd steps, which rescale and shift one another; the steps are interleaved
// again and mapped to the horizon.

#include <ATen/ops/cat.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/stack.h>

#include <memory>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/nn/layers/convolution.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/ops/dense/elementary.h"

namespace modewise::models {
namespace {

struct SCINetConfig {
  int64_t levels = 3;
  int64_t expansion = 4;  // hidden channels per series
  int64_t kernel = 5;     // odd
  void fields(Fields& fields);
};

void SCINetConfig::fields(Fields& f) {
  f.add("levels", levels, "levels of the tree; the window is padded to a multiple of 2^levels rows",
        {.min = 1, .max = 16});
  f.add("expansion", expansion, "hidden channels per series", {.min = 1, .max = 4096});
  f.add("kernel", kernel, "rows of the first convolution, odd", {.min = 1, .max = 1001});
}

/// tanh(conv(drop(leaky_relu(conv x)))) over time, with replicate padding: x [B, T, N] -> [B, T, N].
class SCINetFilter : public torch::nn::Module {
 public:
  SCINetFilter(const ForecasterConfig& config, int64_t series, nn::Initializer& init)
      : margin_((config.own.of<SCINetConfig>().kernel - 1) / 2 + 1),
        dropout_(register_module("dropout", std::make_shared<nn::Dropout>(init, config.dropout))) {
    const SCINetConfig& own = config.own.of<SCINetConfig>();
    // Weights with variance 1 / (3 fan-in), PyTorch's.
    const auto convolution = [&](int64_t in, int64_t out, int64_t kernel) {
      return std::make_shared<nn::Convolution>(init, 1, in, out, kernel, 1, 0, true,
                                               static_cast<double>(out) / static_cast<double>(3 * in));
    };
    conv1_ = register_module("conv1", convolution(series, series * own.expansion, own.kernel));
    conv2_ = register_module("conv2", convolution(series * own.expansion, series, 3));
  }

  at::Tensor forward(const at::Tensor& x) const {
    const std::vector<int64_t> margin{x.size(0), margin_, x.size(2)};
    const at::Tensor padded =
        at::cat({x.narrow(1, 0, 1).expand(margin), x, x.narrow(1, x.size(1) - 1, 1).expand(margin)}, 1);
    const at::Tensor hidden = dropout_->forward(at::leaky_relu(conv1_->forward(padded), 0.01));
    return ops::elementary(conv2_->forward(hidden), "tanh");
  }

 private:
  int64_t margin_;
  std::shared_ptr<nn::Convolution> conv1_, conv2_;
  std::shared_ptr<nn::Dropout> dropout_;
};

/// A block and, above the last level, the blocks of its even and odd steps.
class SCINetTree : public torch::nn::Module {
 public:
  SCINetTree(const ForecasterConfig& config, int64_t series, int64_t levels, nn::Initializer& init) {
    const auto filter = [&](const char* name) {
      return register_module(name, std::make_shared<SCINetFilter>(config, series, init));
    };
    phi_ = filter("phi");
    psi_ = filter("psi");
    p_ = filter("P");
    u_ = filter("U");
    if (levels == 1) return;
    even_ = register_module("even", std::make_shared<SCINetTree>(config, series, levels - 1, init));
    odd_ = register_module("odd", std::make_shared<SCINetTree>(config, series, levels - 1, init));
  }

  /// x [B, T, N], T a multiple of 2^levels
  at::Tensor forward(const at::Tensor& x) const {
    const at::Tensor halves = x.unflatten(1, {-1, 2});  // [B, T / 2, 2, N]
    const at::Tensor even = halves.select(2, 0).contiguous(), odd = halves.select(2, 1).contiguous();
    const at::Tensor d = odd * ops::elementary(phi_->forward(even), "exp");
    const at::Tensor c = even * ops::elementary(psi_->forward(odd), "exp");
    at::Tensor left = c + u_->forward(d), right = d - p_->forward(c);
    if (even_) {
      left = even_->forward(left);
      right = odd_->forward(right);
    }
    return at::stack({left, right}, 2).flatten(1, 2);
  }

 private:
  std::shared_ptr<SCINetFilter> phi_, psi_, p_, u_;
  std::shared_ptr<SCINetTree> even_, odd_;
};

/// Rows of the padded window.
int64_t padded_rows(const ForecasterConfig& config, const ForecastShape& shape) {
  const int64_t step = int64_t{1} << config.own.of<SCINetConfig>().levels;
  return (shape.lookback + step - 1) / step * step;
}

class SCINet : public LearnedForecaster {
 public:
  SCINet(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init)
      : LearnedForecaster(shape, config.window),
        rows_(padded_rows(config, shape)),
        tree_(register_module("tree",
                              std::make_shared<SCINetTree>(config, shape.series_count(),
                                                           config.own.of<SCINetConfig>().levels, init))),
        projection_(
            register_module("projection", std::make_shared<nn::Linear>(init, rows_, outputs(), false))) {}

 protected:
  at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput&) override {
    at::Tensor x = values.flatten(1, -2).transpose(1, 2);  // [B, L, N]
    // The first row is repeated before the window.
    const int64_t missing = rows_ - x.size(1);
    x = at::cat({x.narrow(1, 0, 1).expand({x.size(0), missing, x.size(2)}), x}, 1);
    x = x + tree_->forward(x);
    std::vector<int64_t> sizes = values.sizes().vec();
    sizes.back() = outputs();
    return projection_->forward(x.transpose(1, 2).contiguous()).view(sizes);
  }

 private:
  int64_t rows_;
  std::shared_ptr<SCINetTree> tree_;
  std::shared_ptr<nn::Linear> projection_;
};

/// The authors' settings for ETTh1 with windows of 96 rows.
void use_scinet(ForecasterConfig& config) {
  config.dropout = 0.25;
  config.window.centre = "none";
  config.window.scale = "none";
}

void check_scinet(const ForecasterConfig& config, const ForecastShape& /*shape*/, const std::string& source) {
  const int64_t kernel = config.own.of<SCINetConfig>().kernel;
  require(kernel % 2 == 1, ErrorKind::config, "{}: scinet.kernel must be odd, got {}", source, kernel);
}

nn::ModelCost scinet_cost(const ForecasterConfig& config, const ForecastShape& shape,
                          Projection /*projection*/) {
  nn::CostAccount account(config.precision);
  const SCINetConfig& own = config.own.of<SCINetConfig>();
  const int64_t series = shape.series_count(), rows = padded_rows(config, shape),
                hidden = series * own.expansion;
  account.layer("embedding");
  add_window_cost(account, config.window, shape);
  for (int64_t level = 0; level < own.levels; ++level) {
    account.layer("block " + std::to_string(level + 1));
    const int64_t blocks = int64_t{1} << level;
    const auto steps = static_cast<double>(rows / blocks / 2);
    for (int64_t filter = 0; filter < 4 * blocks; ++filter) {
      account.linear("convolutions", own.kernel * series, hidden, steps + 2);
      account.linear("convolutions", 3 * hidden, series, steps);
      account.keep(steps * static_cast<double>(3 * series + 3 * hidden));
    }
  }
  account.layer("head");
  account.linear("head", rows, forecast_outputs(shape), static_cast<double>(series), false);
  return std::move(account).cost({});
}

}  // namespace

ForecasterRow scinet_row() {
  return {.name = "scinet",
          .shared = {"dropout", "window"},
          .make = make_model<SCINet>,
          .cost = scinet_cost,
          .defaults = use_scinet,
          .check = check_scinet,
          .own = own_options<SCINetConfig>};
}

}  // namespace modewise::models
