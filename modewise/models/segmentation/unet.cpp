#include "modewise/models/segmentation/unet.h"

#include <ATen/ops/cat.h>

namespace modewise::models {
namespace {

/// Container of named children.
class Group : public torch::nn::Module {};

}  // namespace

ConvolutionUnit::ConvolutionUnit(nn::Initializer& init, int64_t in, int64_t out)
    : convolution_(register_module("0", std::make_shared<nn::Convolution>(init, 2, in, out, 3, 1, 1))),
      norm_(register_module("1", std::make_shared<nn::BatchNorm>(out))) {}

at::Tensor ConvolutionUnit::forward(const at::Tensor& x) const {
  return norm_->forward(convolution_->forward(x)).relu_();
}

ResidualUnit::ResidualUnit(nn::Initializer& init, int64_t in, int64_t out, int64_t stride)
    : convolution1_(
          register_module("conv1", std::make_shared<nn::Convolution>(init, 2, in, out, 3, stride, 1))),
      convolution2_(register_module("conv2", std::make_shared<nn::Convolution>(init, 2, out, out, 3, 1, 1))),
      norm1_(register_module("bn1", std::make_shared<nn::BatchNorm>(out))),
      norm2_(register_module("bn2", std::make_shared<nn::BatchNorm>(out))) {
  if (in == out && stride == 1) return;
  const auto shortcut = register_module("downsample", std::make_shared<Group>());
  shortcut_ =
      shortcut->register_module("0", std::make_shared<nn::Convolution>(init, 2, in, out, 1, stride, 0));
  shortcut_norm_ = shortcut->register_module("1", std::make_shared<nn::BatchNorm>(out));
}

at::Tensor ResidualUnit::forward(const at::Tensor& x) const {
  const at::Tensor first = norm1_->forward(convolution1_->forward(x)).relu_();
  const at::Tensor second = norm2_->forward(convolution2_->forward(first));
  return second.add_(shortcut_ ? shortcut_norm_->forward(shortcut_->forward(x)) : x).relu_();
}

/// Decoder block: upsamples by 2, concatenates the encoder's features if any, and convolves twice.
class UNet::Doubling : public torch::nn::Module {
 public:
  Doubling(nn::Initializer& init, int64_t in, int64_t skip, int64_t out)
      : unit1_(register_module("conv1", std::make_shared<ConvolutionUnit>(init, in + skip, out))),
        unit2_(register_module("conv2", std::make_shared<ConvolutionUnit>(init, out, out))) {}

  at::Tensor forward(const at::Tensor& x, const at::Tensor& skip) const {
    at::Tensor wide = nn::repeat_places(x, 2);
    if (skip.defined()) wide = at::cat({wide, skip}, -1);
    return unit2_->forward(unit1_->forward(wide));
  }

 private:
  std::shared_ptr<ConvolutionUnit> unit1_, unit2_;
};

UNet::UNet(const SegmenterConfig& config, const SegmentationShape& shape, nn::Initializer& init)
    : Segmenter(shape), bfloat16_(config.precision == "bf16") {
  const int64_t width = config.unet.width;
  const auto encoder = register_module("encoder", std::make_shared<Group>());
  stem_ = encoder->register_module(
      "conv1", std::make_shared<nn::Convolution>(init, 2, channels() * shape.times, width, 7, 2, 3));
  stem_norm_ = encoder->register_module("bn1", std::make_shared<nn::BatchNorm>(width));
  int64_t in = width;
  for (int64_t stage = 0; stage < 4; ++stage) {
    const int64_t out = width << stage;
    auto units = std::make_shared<Stage>();
    units->push_back(std::make_shared<ResidualUnit>(init, in, out, stage == 0 ? 1 : 2));
    units->push_back(std::make_shared<ResidualUnit>(init, out, out, 1));
    stages_.push_back(encoder->register_module("layer" + std::to_string(stage + 1), std::move(units)));
    in = out;
  }
  const auto decoder = register_module("decoder", std::make_shared<Group>());
  const auto blocks = decoder->register_module("blocks", std::make_shared<Group>());
  const int64_t skips[] = {4 * width, 2 * width, width, width, 0};
  const int64_t outs[] = {4 * width, 2 * width, width, width / 2, width / 4};
  for (size_t i = 0; i < std::size(outs); ++i) {
    doublings_.push_back(
        blocks->register_module(std::to_string(i), std::make_shared<Doubling>(init, in, skips[i], outs[i])));
    in = outs[i];
  }
  const auto head = register_module("segmentation_head", std::make_shared<Group>());
  head_ = head->register_module(
      "0", std::make_shared<nn::Convolution>(init, 2, in, shape.classes, 3, 1, 1, true, 1));
}

at::Tensor UNet::forward(const SegmentationInput& input) {
  at::Tensor x = checked_image(input).permute({0, 2, 3, 1, 4}).flatten(3);
  if (bfloat16_) x = x.to(at::kBFloat16);
  std::vector<at::Tensor> features = {stem_norm_->forward(stem_->forward(x)).relu_()};
  x = nn::max_pool(features.back(), 3, 2, 1);
  for (const auto& stage : stages_) {
    for (const auto& unit : *stage) x = unit->forward(x);
    features.push_back(x);
  }
  features.pop_back();
  for (const auto& doubling : doublings_) {
    at::Tensor skip;
    if (!features.empty()) {
      skip = features.back();
      features.pop_back();
    }
    x = doubling->forward(x, skip);
  }
  return head_->forward(x).to(input.image.scalar_type());
}

}  // namespace modewise::models
