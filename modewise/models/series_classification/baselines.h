#pragma once
// Baseline series classifiers: nearest neighbour, and a linear model on season and trend.

#include <memory>

#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/series_classifier.h"
#include "modewise/nn/layers/linear.h"

namespace modewise::models {

/// 1-NN with Euclidean distance, padding included. Nothing is trained: the training samples are its state.
/// Logits are negative distances to the nearest sample of each class.
class NearestNeighbor : public SeriesClassifier {
 public:
  explicit NearestNeighbor(const SeriesShape& shape);
  at::Tensor forward(const ClassifierInput& input) override;
  void remember(const ClassifierInput& samples, const at::Tensor& labels) override;
  bool remembers() const override { return true; }

 private:
  at::Tensor samples_, labels_;  // buffers [N, V, T], [N]
};

/// DLinear (Zeng et al., AAAI 2023) as a classifier: trend (moving average with replicate padding) and season
/// (the remainder), each with a linear layer to the classes. DLinear's linear layers along time are omitted:
/// they give the same function class with T² more weights.
class LinearClassifier : public SeriesClassifier {
 public:
  LinearClassifier(const SeriesModelConfig& config, const SeriesShape& shape, nn::Initializer& init);
  at::Tensor forward(const ClassifierInput& input) override;

 private:
  int64_t kernel_;
  std::shared_ptr<nn::Linear> seasonal_, trend_;
};

}  // namespace modewise::models
