// TimesNet (Wu et al., ICLR 2023) as in the authors' code: the window is extended over
// the horizon; each block folds it by its strongest periods to images of cycles × phases, which pass through
// convolutions of several sizes, and weighs the results by the periods' amplitudes. As in the paper (Eq. 1)
// each window has periods of its own; the authors' code averages amplitudes over the batch.

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/models/forecasting/window_embedding.h"
#include "modewise/nn/layers/layer_norm.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/nn/layers/module_list.h"
#include "modewise/ops/attention/softmax.h"
#include "modewise/ops/dense/convolution.h"
#include "modewise/ops/dense/elementary.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::models {
namespace {

struct TimesNetConfig {
  int64_t periods = 5;  // k
  int64_t kernels = 6;  // convolutions of 1 × 1, 3 × 3, …
  void fields(Fields& fields);
};

void TimesNetConfig::fields(Fields& f) {
  f.add("periods", periods, "strongest periods by which each block folds the window",
        {.min = 1, .max = 65536});
  f.add("kernels", kernels, "convolutions whose mean is a layer: 1 × 1, 3 × 3, … (2·kernels − 1)²",
        {.min = 1, .max = 64});
}

int64_t largest_kernel(const TimesNetConfig& config) {
  return 2 * config.kernels - 1;
}

/// Mean of convolutions with kernels of 1, 3, 5 … cells, computed as one convolution.
class Inception : public torch::nn::Module {
 public:
  Inception(nn::Initializer& init, int64_t in, int64_t out, int64_t kernels);

  /// The weight [C', C, K, K] of the mean.
  at::Tensor weight() const;
  /// x [B, rows, columns, C] with the weight of weight()
  at::Tensor forward(const at::Tensor& x, const at::Tensor& weight) const;

 private:
  std::vector<at::Tensor> weights_;
  at::Tensor bias_;  // [kernels, C']
};

Inception::Inception(nn::Initializer& init, int64_t in, int64_t out, int64_t kernels)
    : bias_(register_parameter("bias", at::zeros({kernels, out}))) {
  for (int64_t i = 0; i < kernels; ++i) {
    const int64_t size = 2 * i + 1;
    const double stddev = std::sqrt(2.0 / static_cast<double>(out * size * size));  // fan-out
    weights_.push_back(
        register_parameter("weight" + std::to_string(i), init.normal({out, in, size, size}, stddev)));
  }
}

at::Tensor Inception::weight() const {
  const auto count = std::ssize(weights_);
  at::Tensor sum;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t margin = count - 1 - i;
    const at::Tensor padded =
        at::constant_pad_nd(weights_[static_cast<size_t>(i)], {margin, margin, margin, margin});
    sum = sum.defined() ? sum + padded : padded;
  }
  return sum / static_cast<double>(count);
}

at::Tensor Inception::forward(const at::Tensor& x, const at::Tensor& weight) const {
  // Taps beyond the image's size see padding alone.
  const int64_t margin = weight.size(-1) / 2;
  const std::vector<int64_t> padding = {std::min(margin, x.size(1) - 1), std::min(margin, x.size(2) - 1)};
  const at::Tensor seen = weight.narrow(2, margin - padding[0], 2 * padding[0] + 1)
                              .narrow(3, margin - padding[1], 2 * padding[1] + 1);
  return ops::convolution(x, seen.contiguous(), bias_.mean(0), {1, 1}, padding, {1, 1});
}

class TimesBlock : public torch::nn::Module {
 public:
  TimesBlock(const ForecasterConfig& config, int64_t steps, nn::Initializer& init);

  /// x [B, T, D]
  at::Tensor forward(const at::Tensor& x);

 private:
  /// Mean amplitude of the frequencies 1 … T/2 over the channels: [B, T/2].
  at::Tensor amplitudes(const at::Tensor& x) const;

  int64_t periods_;
  std::shared_ptr<nn::Constant> waves_;  // [2 · (T/2), T]: cosines, then sines
  std::shared_ptr<Inception> inception1_, inception2_;
};

TimesBlock::TimesBlock(const ForecasterConfig& config, int64_t steps, nn::Initializer& init)
    : periods_(config.own.of<TimesNetConfig>().periods) {
  const int64_t kernels = config.own.of<TimesNetConfig>().kernels;
  inception1_ =
      register_module("inception1", std::make_shared<Inception>(init, config.width, config.hidden, kernels));
  inception2_ =
      register_module("inception2", std::make_shared<Inception>(init, config.hidden, config.width, kernels));
  const at::Tensor frequencies = at::arange(1, steps / 2 + 1, at::kLong),
                   turns = frequencies.unsqueeze(1) * at::arange(steps, at::kLong) % steps;
  const at::Tensor angles = turns.to(at::kDouble) * (2 * std::numbers::pi / static_cast<double>(steps));
  waves_ = register_module("waves", std::make_shared<nn::Constant>(at::cat(
                                        {ops::elementary(angles, "cos"), ops::elementary(angles, "sin")})));
}

at::Tensor TimesBlock::amplitudes(const at::Tensor& x) const {
  const at::Tensor parts = ops::matmul(waves_->value().to(x.scalar_type()), x);  // [B, 2F, D]
  const int64_t count = parts.size(1) / 2;
  const at::Tensor square = parts.narrow(1, 0, count).square() + parts.narrow(1, count, count).square();
  // The gradient of a zero amplitude is 0.
  const at::Tensor zero = square == 0, one = at::ones({}, square.options());
  return ops::elementary(at::where(zero, one, square), "sqrt").masked_fill(zero, 0).mean(-1);
}

at::Tensor TimesBlock::forward(const at::Tensor& x) {
  const int64_t batch = x.size(0), steps = x.size(1), width = x.size(2);
  const at::Tensor all = amplitudes(x);
  const at::Tensor top = std::get<1>(all.detach().topk(periods_, -1));  // [B, k]: frequency − 1
  const at::Tensor shares = ops::softmax(all.gather(1, top));

  // Images of the same period are convolved together.
  std::vector<int64_t> frequencies(static_cast<size_t>(batch * periods_));
  if (!top.is_meta()) {
    const at::Tensor chosen = top.to(at::kCPU).contiguous();
    std::copy_n(chosen.const_data_ptr<int64_t>(), frequencies.size(), frequencies.begin());
  }
  const auto on_device = [&](const std::vector<int64_t>& list) {
    if (x.is_meta()) return at::zeros({std::ssize(list)}, top.options());
    return at::tensor(list, at::kLong).to(x.device());
  };
  const auto period_of = [&](int64_t image) { return steps / (frequencies[static_cast<size_t>(image)] + 1); };
  std::vector<int64_t> images(static_cast<size_t>(batch * periods_)), place(images.size());
  std::iota(images.begin(), images.end(), 0);
  std::ranges::stable_sort(images, {}, period_of);
  const at::Tensor weight1 = inception1_->weight(), weight2 = inception2_->weight();
  std::vector<at::Tensor> parts;
  for (size_t first = 0; first < images.size();) {
    const int64_t period = period_of(images[first]), cycles = (steps + period - 1) / period;
    std::vector<int64_t> rows;
    for (; first < images.size() && period_of(images[first]) == period; ++first) {
      place[static_cast<size_t>(images[first])] = static_cast<int64_t>(first);
      rows.push_back(images[first] / periods_);
    }
    at::Tensor image = x.index_select(0, on_device(rows));
    image = at::constant_pad_nd(image, {0, 0, 0, cycles * period - steps});
    image = inception1_->forward(image.view({-1, cycles, period, width}), weight1);
    image = inception2_->forward(ops::elementary(image, "gelu"), weight2);
    parts.push_back(image.flatten(1, 2).narrow(1, 0, steps));
  }
  const at::Tensor folded = at::cat(parts).index_select(0, on_device(place));
  return x + (folded.view({batch, periods_, steps, width}) * shares.unsqueeze(-1).unsqueeze(-1)).sum(1);
}

class TimesNet : public LearnedForecaster {
 public:
  TimesNet(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

 protected:
  at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) override;

 private:
  std::shared_ptr<WindowEmbedding> embedding_;
  std::shared_ptr<nn::Linear> extend_, projection_;
  std::shared_ptr<nn::ModuleList<TimesBlock>> layers_;
  std::shared_ptr<nn::LayerNorm> norm_;
};

TimesNet::TimesNet(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init)
    : LearnedForecaster(shape, config.window),
      embedding_(register_module(
          "enc_embedding",
          std::make_shared<WindowEmbedding>(init, shape, config.width, shape.lookback, config.dropout))),
      extend_(register_module("predict_linear", std::make_shared<nn::Linear>(
                                                    init, shape.lookback, shape.lookback + shape.horizon))),
      layers_(register_module("layers", std::make_shared<nn::ModuleList<TimesBlock>>())),
      norm_(register_module("layer_norm", std::make_shared<nn::LayerNorm>(config.width))) {
  projection_ = register_module(
      "projection",
      std::make_shared<nn::Linear>(init, config.width, shape.series_count() * (outputs() / shape.horizon)));
  for (int64_t i = 0; i < config.blocks; ++i)
    layers_->push_back(std::make_shared<TimesBlock>(config, shape.lookback + shape.horizon, init));
}

at::Tensor TimesNet::raw_forecast(const at::Tensor& values, const ForecastInput& input) {
  const int64_t horizon = shape().horizon, quantiles = outputs() / horizon;
  at::Tensor x = embedding_->forward(values.flatten(1, -2).transpose(1, 2).contiguous(), known_of(input), 0);
  x = extend_->forward(x.transpose(1, 2).contiguous()).transpose(1, 2).contiguous();
  for (const auto& layer : *layers_) x = norm_->forward(layer->forward(x));
  x = projection_->forward(x.narrow(1, shape().lookback, horizon));
  std::vector<int64_t> sizes = values.sizes().vec();
  sizes.back() = outputs();
  return x.view({x.size(0), horizon, -1, quantiles}).transpose(1, 2).reshape(sizes);
}

/// The authors' ETTh1 settings.
void use_timesnet(ForecasterConfig& config) {
  config.width = 16;
  config.hidden = 32;
  config.blocks = 2;
}

void check_timesnet(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  const int64_t periods = config.own.of<TimesNetConfig>().periods,
                available = (shape.lookback + shape.horizon) / 2;
  require(
      periods <= available, ErrorKind::config,
      "{}: timesnet.periods = {}, but lookback and horizon together have {} rows and thus {} periods: use "
      "fewer periods or a longer lookback",
      source, periods, shape.lookback + shape.horizon, available);
}

nn::ModelCost timesnet_cost(const ForecasterConfig& config, const ForecastShape& shape,
                            Projection /*projection*/) {
  nn::CostAccount account(config.precision);
  const TimesNetConfig& own = config.own.of<TimesNetConfig>();
  const int64_t width = config.width, steps = shape.lookback + shape.horizon, frequencies = steps / 2;
  const auto t = static_cast<double>(steps), d = static_cast<double>(width),
             images = static_cast<double>(own.periods) * t;
  account.layer("embedding");
  add_window_cost(account, config.window, shape);
  add_window_embedding_cost(account, shape, width, shape.lookback);
  account.linear("embedding", shape.lookback, steps, d);
  account.keep(t * d);
  const int64_t largest = largest_kernel(own) * largest_kernel(own);
  int64_t taps = 0;
  for (int64_t i = 0; i < own.kernels; ++i) taps += (2 * i + 1) * (2 * i + 1);
  for (int64_t block = 0; block < config.blocks; ++block) {
    account.layer("block " + std::to_string(block + 1));
    account.add("spectrum", 0, 2 * static_cast<double>(frequencies) * t * d);
    for (const int64_t out : {config.hidden, width}) {
      const int64_t in = out == width ? config.hidden : width;
      account.add("convolutions", in * taps * out + own.kernels * out,
                  images * static_cast<double>(in * largest * out));
    }
    account.add("norms", block == 0 ? 2 * width : 0, t * d);
    account.keep(t * d * 3 + images * static_cast<double>(2 * width + 2 * config.hidden));
  }
  account.layer("head");
  account.linear("head", width, shape.series_count() * (forecast_outputs(shape) / shape.horizon),
                 static_cast<double>(shape.horizon));
  return std::move(account).cost({steps});
}

}  // namespace

ForecasterRow timesnet_row() {
  return {.name = "timesnet",
          .shared = {"width", "hidden", "layers", "dropout", "window"},
          .make = make_model<TimesNet>,
          .cost = timesnet_cost,
          .defaults = use_timesnet,
          .check = check_timesnet,
          .own = own_options<TimesNetConfig>,
          .future_covariates = true};
}

}  // namespace modewise::models
