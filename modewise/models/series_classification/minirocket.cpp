#include "modewise/models/series_classification/minirocket.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/models/series_classification/ridge_classifier.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::models {
namespace {

constexpr int64_t kMaxChannels = 9;

/// The authors' ridge penalties: numpy.logspace(-3, 3, 10).
std::vector<double> penalties() {
  std::vector<double> out;
  for (int i = 0; i < 10; ++i) out.push_back(std::pow(10.0, -3 + i * 6.0 / 9));
  return out;
}

int64_t steps_of(const ClassifierInput& samples, int64_t number) {
  return samples.valid.defined() ? samples.valid[number].sum().item<int64_t>() : samples.values.size(2);
}

}  // namespace

MiniRocket::MiniRocket(const SeriesModelConfig& config, const SeriesShape& shape, nn::Initializer& init)
    : SeriesClassifier(shape), dilations_(rocket_dilations(shape.length, config.minirocket.features)) {
  const int64_t combinations = kRocketKernels * std::ssize(dilations_.dilations), variables = shape.variables;
  // Initial weights are uniform in [−½, ½) here.
  const at::Tensor counts = (init.uniform({combinations}, 0.5) + 0.5) *
                            std::log2(static_cast<double>(std::min(variables, kMaxChannels) + 1));
  const at::Tensor order = at::argsort(init.uniform({combinations, variables}, 0.5), /*stable=*/true, 1);
  draws_ = init.uniform({combinations}, 0.5) + 0.5;
  channels_ = at::full({combinations, kMaxChannels}, -1, at::kLong);
  for (int64_t i = 0; i < combinations; ++i) {
    const auto count = std::clamp<int64_t>(static_cast<int64_t>(std::exp2(counts[i].item<double>())), 1,
                                           std::min(variables, kMaxChannels));
    channels_[i].narrow(0, 0, count).copy_(order[i].narrow(0, 0, count));
  }
  channels_ = register_buffer("channels", channels_);
  const int64_t features = dilations_.count(), rows = shape.classes == 2 ? 1 : shape.classes;
  biases_ = register_buffer("biases", at::zeros({features}));
  weight_ = register_buffer("weight", at::zeros({rows, features}, at::kDouble));
  offset_ = register_buffer("offset", at::zeros({rows}, at::kDouble));
  sharpness_ = register_buffer("sharpness", at::ones({}, at::kDouble));
}

std::vector<std::vector<int64_t>> MiniRocket::channel_lists() const {
  std::vector<std::vector<int64_t>> lists(static_cast<size_t>(channels_.size(0)));
  const int64_t* numbers = channels_.const_data_ptr<int64_t>();
  for (size_t i = 0; i < lists.size(); ++i)
    for (size_t j = 0; j < kMaxChannels && numbers[i * kMaxChannels + j] >= 0; ++j)
      lists[i].push_back(numbers[i * kMaxChannels + j]);
  return lists;
}

void MiniRocket::draw_biases(const ClassifierInput& samples) {
  const int64_t count = samples.values.size(0), steps = shape().length, size = shape().variables * steps;
  const std::vector<std::vector<int64_t>> channels = channel_lists();
  float* biases = biases_.mutable_data_ptr<float>();
  int64_t feature = 0;
  for (size_t i = 0; i < channels.size(); ++i) {
    const size_t dilation = i / kRocketKernels;
    const auto drawn =
        static_cast<int64_t>(draws_[static_cast<int64_t>(i)].item<double>() * static_cast<double>(count));
    const int64_t number = std::min(drawn, count - 1), own = steps_of(samples, number);
    const RocketSeries series{samples.values.const_data_ptr<float>() + number * size, steps, own};
    std::vector<float> values(static_cast<size_t>(own));
    RocketConvolution(series, channels[i], dilations_.dilations[dilation])
        .apply(static_cast<int64_t>(i % kRocketKernels), channels[i], values);
    std::sort(values.begin(), values.end());
    for (int64_t j = 0; j < dilations_.features[dilation]; ++j, ++feature)
      biases[feature] = rocket_bias(values, rocket_quantile(feature));
  }
}

at::Tensor MiniRocket::features_of(const ClassifierInput& samples) const {
  const int64_t count = samples.values.size(0), steps = shape().length, features = dilations_.count();
  const at::Tensor values = samples.values.to(at::kFloat).contiguous(),
                   out = at::empty({count, features}, at::kFloat);
  const std::vector<std::vector<int64_t>> channels = channel_lists();
  const std::span<const float> biases(biases_.const_data_ptr<float>(), static_cast<size_t>(features));
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < count; ++i) lengths.push_back(steps_of(samples, i));
  at::parallel_for(0, count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      rocket_features({values.const_data_ptr<float>() + i * shape().variables * steps, steps,
                       lengths[static_cast<size_t>(i)]},
                      dilations_, channels, biases,
                      {out.mutable_data_ptr<float>() + i * features, static_cast<size_t>(features)});
  });
  return out;
}

void MiniRocket::remember(const ClassifierInput& given, const at::Tensor& labels) {
  const at::NoGradGuard no_grad;
  const ClassifierInput samples = checked(given);
  const ClassifierInput own{samples.values.to(at::kFloat).contiguous(), samples.valid};
  draw_biases(own);
  const at::Tensor numbers = labels.to(at::kLong);
  const RidgeClassifier fit =
      fit_ridge_classifier(features_of(own).to(at::kDouble), numbers, shape().classes, penalties());
  weight_.copy_(fit.weight);
  offset_.copy_(fit.bias);
  sharpness_.fill_(fit_sharpness(fit.left_out, numbers));
}

at::Tensor MiniRocket::forward(const ClassifierInput& given) {
  const ClassifierInput input = checked(given);
  if (input.values.is_meta())
    return at::empty({input.values.size(0), shape().classes}, input.values.options());
  require(input.values.is_cpu(), ErrorKind::config, "minirocket runs on the CPU, but the input is on {}",
          input.values.device().str());
  const at::NoGradGuard no_grad;
  const at::Tensor decisions =
      ops::matmul(features_of(input).to(at::kDouble), weight_.to(at::kDouble).t()) + offset_;
  return ridge_logits(decisions, sharpness_.item<double>()).to(input.values.scalar_type());
}

}  // namespace modewise::models
