#pragma once
// Convolutional classifiers of series that are compared with.

#include <memory>
#include <vector>

#include "modewise/models/labelled_series/config.h"
#include "modewise/models/labelled_series/series_classifier.h"
#include "modewise/nn/batch_norm.h"
#include "modewise/nn/convolution.h"
#include "modewise/nn/dropout.h"
#include "modewise/nn/linear.h"
#include "modewise/nn/module_list.h"

namespace modewise::models {

/// A causal convolution of kernel K and dilation s along the time of [B, T, C] whose weight is g·v/‖v‖ (Bai
/// et al.'s weight normalisation).
class DilatedConvolution : public torch::nn::Module {
 public:
  DilatedConvolution(nn::Initializer& init, int64_t in, int64_t out, int64_t kernel, int64_t dilation);
  at::Tensor forward(const at::Tensor& x) const;

 private:
  int64_t dilation_, reach_;
  at::Tensor direction_, length_, bias_;  // [C', C, K], [C'], [C']
};

/// As many levels as the config says, or the fewest whose two convolutions each see `steps` together.
int64_t temporal_levels(const SeriesConvolutionConfig& config, int64_t steps);

/// Two dilated convolutions with ReLU and dropout beside a shortcut.
class TemporalBlock : public torch::nn::Module {
 public:
  TemporalBlock(nn::Initializer& init, int64_t in, int64_t out, int64_t kernel, int64_t dilation,
                double dropout);
  at::Tensor forward(const at::Tensor& x) const;

 private:
  std::shared_ptr<DilatedConvolution> first_, second_;
  std::shared_ptr<nn::Dropout> dropout1_, dropout2_;
  std::shared_ptr<nn::Linear> shortcut_;
};

/// The temporal convolutional network of Bai et al. (2018): level l has dilation 2^l; the last valid step is
/// read out.
class TemporalConvolutions : public SeriesClassifier {
 public:
  TemporalConvolutions(const SeriesModelConfig& config, const SeriesShape& shape, nn::Initializer& init);
  at::Tensor forward(const ClassifierInput& input) override;

 private:
  bool bfloat16_;
  std::shared_ptr<nn::ModuleList<TemporalBlock>> levels_;
  std::shared_ptr<nn::Linear> linear_;
};

/// Convolutions of kernels 8, 5 and 3, each with batch normalisation, beside a shortcut.
class SeriesResidualBlock : public torch::nn::Module {
 public:
  SeriesResidualBlock(nn::Initializer& init, int64_t in, int64_t out);
  /// x [B, T, C], mask [B, T] or none.
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) const;

 private:
  std::vector<std::shared_ptr<nn::Convolution>> convolutions_;
  std::vector<std::shared_ptr<nn::BatchNorm>> norms_;
  std::shared_ptr<nn::Convolution> shortcut_;
  std::shared_ptr<nn::BatchNorm> shortcut_norm_;
};

/// The residual network of Ismail Fawaz et al. (2019, after Wang et al. 2017): three blocks of W, 2W and 2W
/// channels, the mean over time, a linear map.
class SeriesResidualNetwork : public SeriesClassifier {
 public:
  SeriesResidualNetwork(const SeriesModelConfig& config, const SeriesShape& shape, nn::Initializer& init);
  at::Tensor forward(const ClassifierInput& input) override;

 private:
  bool bfloat16_;
  std::shared_ptr<nn::ModuleList<SeriesResidualBlock>> blocks_;
  std::shared_ptr<nn::Linear> linear_;
};

}  // namespace modewise::models
