#pragma once
// Convolutional baselines for series classification: temporal convolutional network and ResNet.

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

/// Causal convolution of kernel K along time of [B, N, C] with weight normalisation g·v/‖v‖ (Bai et al.).
class CausalConvolution : public torch::nn::Module {
 public:
  CausalConvolution(nn::Initializer& init, int64_t in, int64_t out, int64_t kernel);
  /// Outputs at `count` steps, `stride` apart, ending at the last step of x: [B, count, C'].
  at::Tensor forward(const at::Tensor& x, int64_t count, int64_t stride) const;

 private:
  at::Tensor direction_, length_, bias_;  // [C', C, K], [C'], [C']
};

/// The configured number of levels, or the fewest (two convolutions each) whose receptive field covers
/// `steps`.
int64_t temporal_levels(const SeriesTcnConfig& config, int64_t steps);

/// Numbers of steps at which a level's two convolutions are computed.
struct TemporalSteps {
  int64_t first, second;
};

/// Steps per level when only the last of `steps` steps is read out: after level l it depends only on steps
/// 2^(l+1) apart, within the receptive field of the later levels.
std::vector<TemporalSteps> temporal_steps(const SeriesTcnConfig& config, int64_t steps);

/// TCN residual block: two causal convolutions with ReLU and dropout, and a shortcut, over steps `spacing`
/// apart in the series (dilation `spacing`).
class TemporalBlock : public torch::nn::Module {
 public:
  TemporalBlock(nn::Initializer& init, int64_t in, int64_t out, int64_t kernel, int64_t spacing,
                double dropout);
  /// x [B, N, C], right-aligned samples with zeros before their start; lengths [B] in steps, or undefined
  /// (all full). Returns [B, steps.second, C'], 2·spacing apart, with zeros before the start.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& lengths, const TemporalSteps& steps) const;

 private:
  int64_t spacing_;
  std::shared_ptr<CausalConvolution> first_, second_;
  std::shared_ptr<nn::Dropout> dropout1_, dropout2_;
  std::shared_ptr<nn::Linear> shortcut_;
};

/// Temporal convolutional network (TCN, Bai et al. 2018): level l has dilation 2^l; reads out the last valid
/// step and computes only its receptive field.
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

/// Residual block: convolutions of kernels 8, 5 and 3 with batch normalisation, and a shortcut.
class SeriesResidualBlock : public torch::nn::Module {
 public:
  SeriesResidualBlock(nn::Initializer& init, int64_t in, int64_t out);
  /// x [B, T, C], padding mask [B, T] or none.
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) const;

 private:
  std::vector<std::shared_ptr<nn::Convolution>> convolutions_;
  std::vector<std::shared_ptr<nn::BatchNorm>> norms_;
  std::shared_ptr<nn::Convolution> shortcut_;
  std::shared_ptr<nn::BatchNorm> shortcut_norm_;
};

/// ResNet of Ismail Fawaz et al. (2019, after Wang et al. 2017): three blocks of W, 2W and 2W channels, mean
/// pooling over time, linear layer.
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
