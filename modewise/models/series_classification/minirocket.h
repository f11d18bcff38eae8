#pragma once
// MiniRocket classifier: features of 84 fixed kernels and a ridge classifier.

#include <vector>

#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/minirocket_features.h"
#include "modewise/models/series_classification/series_classifier.h"
#include "modewise/nn/initializer.h"

namespace modewise::models {

/// Each kernel and dilation combination sums over 2^u variables, u uniform in [0, log2(min(V, 9) + 1)), drawn
/// without replacement; its biases are quantiles of its convolution of one training sample (authors'
/// multivariate version). The initial-weight random stream draws both. Samples of different lengths are
/// convolved over their own steps; a feature without any step is 0. Fitted by remember() only: logits are the
/// ridge classifier's decision values, scaled by a sharpness fitted to leave-one-out decisions.
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
  at::Tensor draws_;     // [84·D] in [0, 1): the training sample for each combination's biases
  at::Tensor channels_;  // [84·D, 9], −1 after the last
  at::Tensor biases_;    // [F] float32
  at::Tensor weight_, offset_, sharpness_;  // [K', F], [K'], [] float64
};

}  // namespace modewise::models
