#pragma once
// MiniRocket: features of 84 fixed kernels, a ridge classifier on them.

#include <vector>

#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/minirocket_features.h"
#include "modewise/models/series_classification/series_classifier.h"
#include "modewise/nn/initializer.h"

namespace modewise::models {

/// Each combination of kernel and dilation sums over 2^u of the variables, u uniform in [0, log2(min(V, 9) +
/// 1)), drawn without replacement, and takes its biases from the quantiles of its convolution of one training
/// case (authors' multivariate version). The weights' random numbers draw both. Where cases differ in length,
/// each is convolved over its own steps; a feature whose ends leave no step is 0. It learns by remember()
/// alone: logits are the ridge classifier's decisions times the sharpness that suits those of cases left out.
class MiniRocket : public SeriesClassifier {
 public:
  MiniRocket(const SeriesModelConfig& config, const SeriesShape& shape, nn::Initializer& init);
  at::Tensor forward(const ClassifierInput& input) override;
  void remember(const ClassifierInput& samples, const at::Tensor& labels) override;
  bool remembers() const override { return true; }

 private:
  std::vector<std::vector<int64_t>> channel_lists() const;
  void draw_biases(const ClassifierInput& samples);
  at::Tensor features_of(const ClassifierInput& samples) const;  // [N, F] float32

  RocketDilations dilations_;
  at::Tensor draws_;     // [84·D] in [0, 1): which case each combination has its biases from
  at::Tensor channels_;  // [84·D, 9], −1 behind the last
  at::Tensor biases_;    // [F] float32
  at::Tensor weight_, offset_, sharpness_;  // [K', F], [K'], [] float64
};

}  // namespace modewise::models
