#include "modewise/models/series_classification/convolutions.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "modewise/ops/dense/convolution.h"
#include "modewise/ops/dense/elementary.h"

namespace modewise::models {
namespace {

/// [B, V, T] -> [B, T, V], in the dtype of the activations.
at::Tensor time_major(const at::Tensor& values, bool bfloat16) {
  return (bfloat16 ? values.to(at::kBFloat16) : values).transpose(1, 2).contiguous();
}

at::Tensor pad_time(const at::Tensor& x, int64_t before, int64_t behind) {
  return at::constant_pad_nd(x, {0, 0, before, behind});
}

/// Right-aligns the samples of [B, T, V], with zeros before their start.
at::Tensor moved_to_end(const at::Tensor& x, const at::Tensor& lengths) {
  const int64_t steps = x.size(1);
  const at::Tensor from = at::arange(steps, lengths.options()).unsqueeze(0) - (steps - lengths).unsqueeze(1);
  const at::Tensor at = from.clamp_min(0).unsqueeze(-1).expand(x.sizes());
  return x.gather(1, at).masked_fill(from.lt(0).unsqueeze(-1), 0);
}

/// Zeroes the steps of x [B, N, C] before each sample's start; steps are `spacing` apart and end with the
/// sample. Undefined lengths: all samples are full length.
at::Tensor zero_before_begin(const at::Tensor& x, const at::Tensor& lengths, int64_t spacing) {
  if (!lengths.defined()) return x;
  const at::Tensor to_end = at::arange(x.size(1) - 1, -1, -1, lengths.options()) * spacing;
  return x.masked_fill(to_end.unsqueeze(0).ge(lengths.unsqueeze(1)).unsqueeze(-1), 0);
}

}  // namespace

int64_t temporal_levels(const SeriesTcnConfig& config, int64_t steps) {
  if (config.levels > 0) return config.levels;
  int64_t levels = 0, seen = 1;
  while (seen < steps) seen += 2 * (config.kernel - 1) * (int64_t{1} << levels++);
  return std::max<int64_t>(levels, 1);
}

std::vector<TemporalSteps> temporal_steps(const SeriesTcnConfig& config, int64_t steps) {
  std::vector<TemporalSteps> out(static_cast<size_t>(temporal_levels(config, steps)));
  int64_t wanted = 1;
  for (size_t level = out.size(); level-- > 0;) {
    const int64_t apart = int64_t{1} << level, there = (steps + apart - 1) / apart,
                  seen = 2 * (wanted - 1) + config.kernel;
    out[level] = {std::min(there, seen), wanted};
    wanted = std::min(there, seen + config.kernel - 1);
  }
  return out;
}

CausalConvolution::CausalConvolution(nn::Initializer& init, int64_t in, int64_t out, int64_t kernel)
    : direction_(register_parameter(
          "direction", init.normal({out, in, kernel}, std::sqrt(2.0 / static_cast<double>(in * kernel))))),
      length_(
          register_parameter("length", ops::elementary(direction_.detach().square().sum({1, 2}), "sqrt"))),
      bias_(register_parameter("bias", at::zeros({out}))) {}

at::Tensor CausalConvolution::forward(const at::Tensor& x, int64_t count, int64_t stride) const {
  const at::Tensor norm = ops::elementary(direction_.square().sum({1, 2}), "sqrt");
  const at::Tensor weight = direction_ * (length_ / norm).unsqueeze(-1).unsqueeze(-1);
  // Negative left padding: drop steps outside the receptive field.
  const int64_t seen = stride * (count - 1) + direction_.size(2);
  return ops::convolution(pad_time(x, seen - x.size(1), 0), weight, bias_, {stride}, {0}, {1});
}

TemporalBlock::TemporalBlock(nn::Initializer& init, int64_t in, int64_t out, int64_t kernel, int64_t spacing,
                             double dropout)
    : spacing_(spacing),
      first_(register_module("conv1", std::make_shared<CausalConvolution>(init, in, out, kernel))),
      second_(register_module("conv2", std::make_shared<CausalConvolution>(init, out, out, kernel))),
      dropout1_(register_module("dropout1", std::make_shared<nn::Dropout>(init, dropout))),
      dropout2_(register_module("dropout2", std::make_shared<nn::Dropout>(init, dropout))) {
  if (in != out) shortcut_ = register_module("shortcut", std::make_shared<nn::Linear>(init, in, out));
}

at::Tensor TemporalBlock::forward(const at::Tensor& x, const at::Tensor& lengths,
                                  const TemporalSteps& steps) const {
  const at::Tensor first = dropout1_->forward(at::relu(first_->forward(x, steps.first, 1)));
  const at::Tensor middle = zero_before_begin(first, lengths, spacing_);
  const at::Tensor y = dropout2_->forward(at::relu(second_->forward(middle, steps.second, 2)));
  const at::Tensor beside = x.slice(1, x.size(1) - 1 - 2 * (steps.second - 1), x.size(1), 2).contiguous();
  return zero_before_begin(at::relu(y + (shortcut_ ? shortcut_->forward(beside) : beside)), lengths,
                           2 * spacing_);
}

TemporalConvolutions::TemporalConvolutions(const SeriesModelConfig& config, const SeriesShape& shape,
                                           nn::Initializer& init)
    : SeriesClassifier(shape),
      bfloat16_(config.precision == "bf16"),
      steps_(temporal_steps(config.tcn, shape.length)),
      levels_(register_module("levels", std::make_shared<nn::ModuleList<TemporalBlock>>())) {
  const int64_t width = config.convolution.width;
  for (size_t i = 0; i < steps_.size(); ++i)
    levels_->push_back(std::make_shared<TemporalBlock>(init, i == 0 ? shape.variables : width, width,
                                                       config.tcn.kernel, int64_t{1} << i, config.dropout));
  linear_ = register_module("linear", std::make_shared<nn::Linear>(init, width, shape.classes));
}

at::Tensor TemporalConvolutions::forward(const ClassifierInput& given) {
  const ClassifierInput input = checked(given);
  at::Tensor x = time_major(input.values, bfloat16_), lengths;
  if (input.valid.defined()) {
    lengths = input.valid.sum(1);
    x = moved_to_end(x, lengths);
  }
  size_t level = 0;
  for (const auto& block : *levels_) x = block->forward(x, lengths, steps_[level++]);
  return linear_->forward(x.squeeze(1)).to(input.values.scalar_type());
}

SeriesResidualBlock::SeriesResidualBlock(nn::Initializer& init, int64_t in, int64_t out) {
  constexpr std::array<int64_t, 3> kernels = {8, 5, 3};
  for (size_t i = 0; i < kernels.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    convolutions_.push_back(register_module(
        "conv" + number, std::make_shared<nn::Convolution>(init, 1, i == 0 ? in : out, out, kernels[i])));
    norms_.push_back(register_module("bn" + number, std::make_shared<nn::BatchNorm>(out)));
  }
  if (in != out)
    shortcut_ = register_module("shortcut", std::make_shared<nn::Convolution>(init, 1, in, out, 1));
  shortcut_norm_ = register_module("shortcut_bn", std::make_shared<nn::BatchNorm>(out));
}

at::Tensor SeriesResidualBlock::forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) const {
  constexpr std::array<int64_t, 3> before = {3, 2, 1}, behind = {4, 2, 1};
  // Zero the padding before every convolution, like the zero padding after the longest sample.
  const auto cleaned = [&](const at::Tensor& y) {
    return mask ? y.masked_fill(mask->logical_not().unsqueeze(-1), 0) : y;
  };
  at::Tensor y = cleaned(x);
  for (size_t i = 0; i < convolutions_.size(); ++i) {
    y = norms_[i]->forward(convolutions_[i]->forward(pad_time(y, before[i], behind[i])), mask);
    if (i + 1 < convolutions_.size()) y = cleaned(y.relu_());
  }
  return y.add_(shortcut_norm_->forward(shortcut_ ? shortcut_->forward(x) : x, mask)).relu_();
}

SeriesResidualNetwork::SeriesResidualNetwork(const SeriesModelConfig& config, const SeriesShape& shape,
                                             nn::Initializer& init)
    : SeriesClassifier(shape),
      bfloat16_(config.precision == "bf16"),
      blocks_(register_module("blocks", std::make_shared<nn::ModuleList<SeriesResidualBlock>>())) {
  const int64_t width = config.convolution.width;
  blocks_->push_back(std::make_shared<SeriesResidualBlock>(init, shape.variables, width));
  blocks_->push_back(std::make_shared<SeriesResidualBlock>(init, width, 2 * width));
  blocks_->push_back(std::make_shared<SeriesResidualBlock>(init, 2 * width, 2 * width));
  linear_ = register_module("linear", std::make_shared<nn::Linear>(init, 2 * width, shape.classes));
}

at::Tensor SeriesResidualNetwork::forward(const ClassifierInput& given) {
  const ClassifierInput input = checked(given);
  at::Tensor x = time_major(input.values, bfloat16_);
  const std::optional<at::Tensor> mask = input.valid.defined() ? std::optional(input.valid) : std::nullopt;
  for (const auto& block : *blocks_) x = block->forward(x, mask);
  return linear_->forward(mean_over_time(x, input.valid)).to(input.values.scalar_type());
}

}  // namespace modewise::models
