#pragma once
// Classifiers of series that are compared with: the nearest training case, and a linear map of season and
// trend.

#include <memory>

#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/series_classifier.h"
#include "modewise/nn/layers/linear.h"

namespace modewise::models {

/// 1-NN with the Euclidean distance, padding included. Learns nothing: the training cases are its state. The
/// logits are the negative distances to the nearest case of each class.
class NearestNeighbor : public SeriesClassifier {
 public:
  explicit NearestNeighbor(const SeriesShape& shape);
  at::Tensor forward(const ClassifierInput& input) override;
  void remember(const ClassifierInput& samples, const at::Tensor& labels) override;
  bool remembers() const override { return true; }

 private:
  at::Tensor samples_, labels_;  // buffers [N, V, T], [N]
};

/// DLinear (Zeng et al., AAAI 2023) as a classifier: trend (a moving average, the ends repeated) and season
/// (the rest), a linear map of each to the classes. The maps along time that DLinear has before the classes'
/// one are left out: they make the same family of functions with T² more weights.
class LinearClassifier : public SeriesClassifier {
 public:
  LinearClassifier(const SeriesModelConfig& config, const SeriesShape& shape, nn::Initializer& init);
  at::Tensor forward(const ClassifierInput& input) override;

 private:
  int64_t kernel_;
  std::shared_ptr<nn::Linear> seasonal_, trend_;
};

}  // namespace modewise::models
