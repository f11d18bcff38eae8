#pragma once
// Convolutional classifiers of series that are compared with.

#include <memory>
#include <vector>

#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/series_classifier.h"
#include "modewise/nn/layers/batch_norm.h"
#include "modewise/nn/layers/convolution.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

/// A causal convolution of kernel K along the time of [B, N, C] whose weight is g·v/‖v‖ (Bai et al.'s weight
/// normalisation).
class CausalConvolution : public torch::nn::Module {
 public:
  CausalConvolution(nn::Initializer& init, int64_t in, int64_t out, int64_t kernel);
  /// Its results at `count` steps, `stride` apart and the last of them at the last of x: [B, count, C'].
  at::Tensor forward(const at::Tensor& x, int64_t count, int64_t stride) const;

 private:
  at::Tensor direction_, length_, bias_;  // [C', C, K], [C'], [C']
};

/// As many levels as the config says, or the fewest whose two convolutions each see `steps` together.
int64_t temporal_levels(const SeriesConvolutionConfig& config, int64_t steps);

/// At how many steps a level's two convolutions are computed.
struct TemporalSteps {
  int64_t first, second;
};

/// Of each level, for series of `steps` steps of which the last is read out: behind level l it sees steps
/// 2^(l+1) apart alone, and no further back than the later levels reach.
std::vector<TemporalSteps> temporal_steps(const SeriesConvolutionConfig& config, int64_t steps);

/// Two causal convolutions with ReLU and dropout beside a shortcut, over steps that lie `spacing` apart in
/// the series: a dilation of `spacing`.
class TemporalBlock : public torch::nn::Module {
 public:
  TemporalBlock(nn::Initializer& init, int64_t in, int64_t out, int64_t kernel, int64_t spacing,
                double dropout);
  /// x [B, N, C] that ends with the cases, zeros before their begins; lengths [B] or undefined: the steps of
  /// each case in the series. [B, steps.second, C'], 2·spacing apart, with zeros before the begins.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& lengths, const TemporalSteps& steps) const;

 private:
  int64_t spacing_;
  std::shared_ptr<CausalConvolution> first_, second_;
  std::shared_ptr<nn::Dropout> dropout1_, dropout2_;
  std::shared_ptr<nn::Linear> shortcut_;
};

/// The temporal convolutional network of Bai et al. (2018): level l has dilation 2^l; the last valid step is
/// read out, and only what it sees is computed.
class TemporalConvolutions : public SeriesClassifier {
 public:
  TemporalConvolutions(const SeriesModelConfig& config, const SeriesShape& shape, nn::Initializer& init);
  at::Tensor forward(const ClassifierInput& input) override;

 private:
  bool bfloat16_;
  std::vector<TemporalSteps> steps_;
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
