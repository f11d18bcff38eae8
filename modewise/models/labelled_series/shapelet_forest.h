#pragma once
// The generalized random shapelet forest (Karlsson, Papapetrou and Boström, "Generalized random shapelet
// forests", Data Mining and Knowledge Discovery 30, 2016).

#include <cstdint>
#include <span>
#include <vector>

#include "modewise/models/labelled_series/config.h"
#include "modewise/models/labelled_series/series_classifier.h"

namespace modewise::models {

/// `trees` trees, each of as many training cases as there are, drawn with replacement. A node that holds
/// cases of several classes draws `shapelets` stretches of its cases (case, variable, length and start, all
/// uniform), takes the distance of each of its cases to each (shapelet_distance.h), and is split at the
/// shapelet and distance of the largest gain of information, of equal gains the one with the widest gap
/// between the two nearest cases; a node whose cases no shapelet tells apart is a leaf. Each tree votes for
/// the most frequent class of the leaf; logits are ln((votes + 1/K) / (trees + 1)). The training cases and
/// the trees are its state, it learns by remember() alone, and the weights' random numbers draw it.
class ShapeletForest : public SeriesClassifier {
 public:
  ShapeletForest(const SeriesModelConfig& config, const SeriesShape& shape, nn::Initializer& init);
  at::Tensor forward(const ClassifierInput& input) override;
  void remember(const ClassifierInput& cases, const at::Tensor& labels) override;
  bool remembers() const override { return true; }

 private:
  struct Node {
    int64_t number;
    std::vector<int64_t> cases;  // with repeats
  };
  struct Split {
    int64_t shapelet[4] = {0, 0, 0, 0};  // case, variable, start, length
    double threshold = 0, gain = 0, gap = 0;
  };
  std::span<const float> stretch(const int64_t* shapelet) const;
  Split best_split(const Node& node, int64_t tree, const std::vector<int64_t>& labels) const;
  void grow(int64_t tree, const std::vector<int64_t>& labels);
  int64_t vote(int64_t tree, const float* values, int64_t steps) const;

  SeriesForestConfig settings_;
  uint64_t seed_;
  at::Tensor cases_, lengths_;  // [N, V, T], [N]
  // Of M nodes a tree, the first its root: [trees, M, 4], [trees, M], the first of two children or 0 for a
  // leaf [trees, M], the class of most cases [trees, M].
  at::Tensor shapelets_, thresholds_, children_, classes_;
};

}  // namespace modewise::models
