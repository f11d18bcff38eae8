#include "modewise/models/vision/residual_network.h"

#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include <array>

namespace modewise::models {
namespace {

nn::KernelAxes kernel_axes(const std::string& convolution) {
  if (convolution == "2.5d") return nn::KernelAxes::slices;
  return convolution == "acs" ? nn::KernelAxes::planes : nn::KernelAxes::all;
}

}  // namespace

ResidualBlock::ResidualBlock(nn::Initializer& init, int64_t modes, int64_t in, int64_t width, int64_t stride,
                             bool bottleneck, nn::KernelAxes axes) {
  const int64_t out = width * expansion(bottleneck);
  const auto make = [&](int64_t from, int64_t to, int64_t kernel, int64_t step) {
    return std::make_shared<nn::Convolution>(init, modes, from, to, kernel, step, kernel / 2, false, 2, axes);
  };
  const auto add = [&](int64_t from, int64_t to, int64_t kernel, int64_t step) {
    const std::string number = std::to_string(convolutions_.size() + 1);
    convolutions_.push_back(register_module("conv" + number, make(from, to, kernel, step)));
    norms_.push_back(register_module("bn" + number, std::make_shared<nn::BatchNorm>(to)));
  };
  if (bottleneck) {
    add(in, width, 1, 1);
    add(width, width, 3, stride);
    add(width, out, 1, 1);
  } else {
    add(in, width, 3, stride);
    add(width, width, 3, 1);
  }
  if (stride == 1 && in == out) return;
  const auto shortcut = register_module("shortcut", std::make_shared<nn::Sequence>());
  shortcut_ = shortcut->register_module("0", make(in, out, 1, stride));
  shortcut_norm_ = shortcut->register_module("1", std::make_shared<nn::BatchNorm>(out));
}

at::Tensor ResidualBlock::forward(const at::Tensor& x) {
  at::Tensor y = x;
  for (size_t i = 0; i < convolutions_.size(); ++i) {
    y = norms_[i]->forward(convolutions_[i]->forward(y));
    if (i + 1 < convolutions_.size()) y.relu_();
  }
  return y.add_(shortcut_ ? shortcut_norm_->forward(shortcut_->forward(x)) : x).relu_();
}

ResidualNetwork::ResidualNetwork(const VisionModelConfig& config, const VisionShape& shape,
                                 nn::Initializer& init)
    : VisionClassifier(shape), bfloat16_(config.precision == "bf16") {
  const auto modes = static_cast<int64_t>(shape.size.size());
  const bool bottleneck = config.name == "resnet50";
  const nn::KernelAxes axes = kernel_axes(config.resnet.convolution);
  const std::array<int64_t, 4> depths =
      bottleneck ? std::array<int64_t, 4>{3, 4, 6, 3} : std::array<int64_t, 4>{2, 2, 2, 2};
  int64_t width = config.resnet.width, in = width;
  convolution_ = register_module("conv1", std::make_shared<nn::Convolution>(init, modes, shape.channels,
                                                                            width, 3, 1, 1, false, 2, axes));
  norm_ = register_module("bn1", std::make_shared<nn::BatchNorm>(width));
  for (size_t stage = 0; stage < depths.size(); ++stage, width *= 2) {
    stages_.push_back(register_module(fmt::format("layer{}", stage + 1),
                                      std::make_shared<nn::ModuleList<ResidualBlock>>()));
    for (int64_t i = 0; i < depths[stage]; ++i) {
      const int64_t stride = i == 0 && stage > 0 ? 2 : 1;
      stages_.back()->push_back(
          std::make_shared<ResidualBlock>(init, modes, in, width, stride, bottleneck, axes));
      in = width * ResidualBlock::expansion(bottleneck);
    }
  }
  linear_ = register_module("linear", std::make_shared<nn::Linear>(init, in, shape.classes));
}

at::Tensor ResidualNetwork::forward(const ClassifierInput& input) {
  at::Tensor x = checked(input).values;
  if (bfloat16_) x = x.to(at::kBFloat16);
  x = norm_->forward(convolution_->forward(x)).relu_();
  for (const auto& stage : stages_)
    for (const auto& block : *stage) x = block->forward(x);
  return linear_->forward(x.flatten(1, -2).mean(1)).to(input.values.scalar_type());
}

}  // namespace modewise::models
