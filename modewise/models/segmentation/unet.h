#pragma once
// U-Net (Ronneberger et al. 2015) with a ResNet-18 encoder (He et al. 2016), as in the SSL4EO-L benchmark
// (Stewart et al. 2023): five downsampling stages, five nearest-neighbour upsampling stages with skip
// connections and two convolutions each, and a 3 × 3 convolution to the classes. Any number of bands; several
// dates are stacked as bands.
//
// State names as in segmentation_models_pytorch: encoder.conv1, encoder.layer1.0.bn1, …,
// decoder.blocks.0.conv1.0, segmentation_head.0.

#include <memory>
#include <vector>

#include "modewise/models/segmentation/config.h"
#include "modewise/models/segmentation/segmenter.h"
#include "modewise/nn/layers/batch_norm.h"
#include "modewise/nn/layers/convolution.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

/// relu(norm(convolution(x))).
class ConvolutionUnit : public torch::nn::Module {
 public:
  ConvolutionUnit(nn::Initializer& init, int64_t in, int64_t out);
  at::Tensor forward(const at::Tensor& x) const;

 private:
  std::shared_ptr<nn::Convolution> convolution_;
  std::shared_ptr<nn::BatchNorm> norm_;
};

/// ResNet's basic block: two 3 × 3 convolutions and a shortcut (1 × 1 convolution if sizes change).
class ResidualUnit : public torch::nn::Module {
 public:
  ResidualUnit(nn::Initializer& init, int64_t in, int64_t out, int64_t stride);
  at::Tensor forward(const at::Tensor& x) const;

 private:
  std::shared_ptr<nn::Convolution> convolution1_, convolution2_, shortcut_;
  std::shared_ptr<nn::BatchNorm> norm1_, norm2_, shortcut_norm_;
};

class UNet : public Segmenter {
 public:
  UNet(const SegmenterConfig& config, const SegmentationShape& shape, nn::Initializer& init);
  at::Tensor forward(const SegmentationInput& input) override;

 private:
  using Stage = nn::ModuleList<ResidualUnit>;
  class Doubling;

  bool bfloat16_;
  std::shared_ptr<nn::Convolution> stem_, head_;
  std::shared_ptr<nn::BatchNorm> stem_norm_;
  std::vector<std::shared_ptr<Stage>> stages_;
  std::vector<std::shared_ptr<Doubling>> doublings_;
};

}  // namespace modewise::models
