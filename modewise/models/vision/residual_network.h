#pragma once
// ResNets (He et al., CVPR 2016) in any number of dimensions, as in MedMNIST's baselines for small inputs:
// first convolution of kernel 3 and stride 1, no pooling before the first stage. Over volumes the kernels are
// 3D, 2.5D or axial-coronal-sagittal (Yang et al. 2021, "Reinventing 2D convolutions for 3D images").
//
// State names as in MedMNIST's code: conv1, bn1, layerN.I.conv1, …, layerN.I.shortcut.0, linear.

#include <memory>
#include <vector>

#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"
#include "modewise/nn/layers/batch_norm.h"
#include "modewise/nn/layers/convolution.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

/// Two convolutions of kernel 3 (resnet18) or a bottleneck of kernels 1, 3, 1 (resnet50), and a shortcut.
class ResidualBlock : public torch::nn::Module {
 public:
  ResidualBlock(nn::Initializer& init, int64_t modes, int64_t in, int64_t width, int64_t stride,
                bool bottleneck, nn::KernelAxes axes);
  at::Tensor forward(const at::Tensor& x);

  static int64_t expansion(bool bottleneck) { return bottleneck ? 4 : 1; }

 private:
  std::vector<std::shared_ptr<nn::Convolution>> convolutions_;
  std::vector<std::shared_ptr<nn::BatchNorm>> norms_;
  std::shared_ptr<nn::Convolution> shortcut_;
  std::shared_ptr<nn::BatchNorm> shortcut_norm_;
};

class ResidualNetwork : public VisionClassifier {
 public:
  ResidualNetwork(const VisionModelConfig& config, const VisionShape& shape, nn::Initializer& init);
  at::Tensor forward(const ClassifierInput& input) override;

 private:
  bool bfloat16_;
  std::shared_ptr<nn::Convolution> convolution_;
  std::shared_ptr<nn::BatchNorm> norm_;
  std::vector<std::shared_ptr<nn::ModuleList<ResidualBlock>>> stages_;
  std::shared_ptr<nn::Linear> linear_;
};

}  // namespace modewise::models
