#pragma once
// Generalized random shapelet forest (Karlsson, Papapetrou and Boström, "Generalized random shapelet
// forests", Data Mining and Knowledge Discovery 30, 2016).

#include <cstdint>
#include <span>
#include <vector>

#include "modewise/core/random.h"
#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/series_classifier.h"
#include "modewise/models/series_classification/shapelet_distance.h"

namespace modewise::models {

/// Each of `trees` trees is grown on a bootstrap sample of the training samples. An impure node draws
/// `shapelets` shapelets from its samples (sample, variable, length and start, all uniform), computes their
/// distances to its samples (shapelet_distance.h), and splits at the shapelet and threshold with the largest
/// information gain (ties: widest gap between the nearest samples); a node that no shapelet separates is a
/// leaf. A tree votes for its leaf's majority class; logits are ln((votes + 1/K) / (trees + 1)). Training
/// samples and trees are its state; fitted by remember() only; the initial-weight random stream draws it.
class ShapeletForest : public SeriesClassifier {
 public:
  ShapeletForest(const SeriesModelConfig& config, const SeriesShape& shape, nn::Initializer& init);
  at::Tensor forward(const ClassifierInput& input) override;
  void remember(const ClassifierInput& samples, const at::Tensor& labels) override;
  bool remembers() const override { return true; }

 private:
  struct Node {
    int64_t number;
    std::vector<int64_t> samples;  // with repeats
  };
  struct Shapelet {
    int64_t record[4];  // sample, variable, start, length
    SearchedShapelet search;
  };
  struct Split {
    int64_t shapelet[4] = {0, 0, 0, 0};
    double threshold = 0, gain = 0, gap = 0;
    std::vector<bool> near;  // per sample: whether its distance is within the threshold
  };
  /// Distances of shapelets to samples: [shapelets][samples].
  using Distances = std::vector<std::vector<double>>;

  std::span<const float> stretch(const int64_t* shapelet) const;
  std::vector<Shapelet> drawn_shapelets(const Node& node, const RandomStream& stream) const;
  Distances distances_of(const std::vector<Shapelet>& shapelets, const std::vector<int64_t>& samples) const;
  Split best_split(const Node& node, int64_t tree, const std::vector<int64_t>& labels) const;
  void grow(int64_t tree, const std::vector<int64_t>& labels);
  /// FFT length for shapelets of this length, and for series searched with shapelets of any length.
  int64_t transform_for(int64_t shapelet) const;
  int64_t series_transform() const { return transform_for((shape().length + 1) / 2); }
  /// Prepares the variables of one sample [V, T], which must outlive the result.
  std::vector<SearchedSeries> searched(const at::Tensor& values, int64_t steps) const;
  /// The classes that a tree predicts for samples, given their prepared variables.
  std::vector<int64_t> votes_of(int64_t tree, const std::vector<std::vector<SearchedSeries>>& samples) const;

  SeriesForestConfig settings_;
  uint64_t seed_;
  at::Tensor samples_, lengths_;  // [N, V, T], [N]
  // M nodes per tree, node 0 is the root: shapelets [trees, M, 4], thresholds [trees, M], first of two
  // children or 0 for a leaf [trees, M], majority class [trees, M].
  at::Tensor shapelets_, thresholds_, children_, classes_;
};

}  // namespace modewise::models
