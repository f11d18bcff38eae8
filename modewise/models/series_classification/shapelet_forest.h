#pragma once
// The generalized random shapelet forest (Karlsson, Papapetrou and Boström, "Generalized random shapelet
// forests", Data Mining and Knowledge Discovery 30, 2016).

#include <cstdint>
#include <span>
#include <vector>

#include "modewise/core/random.h"
#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/series_classifier.h"
#include "modewise/models/series_classification/shapelet_distance.h"

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
  void remember(const ClassifierInput& samples, const at::Tensor& labels) override;
  bool remembers() const override { return true; }

 private:
  struct Node {
    int64_t number;
    std::vector<int64_t> samples;  // with repeats
  };
  struct Shapelet {
    int64_t record[4];  // case, variable, start, length
    SearchedShapelet search;
  };
  struct Split {
    int64_t shapelet[4] = {0, 0, 0, 0};
    double threshold = 0, gain = 0, gap = 0;
    std::vector<bool> near;  // by case: whether it is one of the node's within the threshold
  };
  /// Of several shapelets to several cases: [shapelets][cases].
  using Distances = std::vector<std::vector<double>>;

  std::span<const float> stretch(const int64_t* shapelet) const;
  std::vector<Shapelet> drawn_shapelets(const Node& node, const RandomStream& stream) const;
  Distances distances_of(const std::vector<Shapelet>& shapelets, const std::vector<int64_t>& samples) const;
  Split best_split(const Node& node, int64_t tree, const std::vector<int64_t>& labels) const;
  void grow(int64_t tree, const std::vector<int64_t>& labels);
  /// Steps of Fourier transforms for shapelets of that length, and for series that meet shapelets of any.
  int64_t transform_for(int64_t shapelet) const;
  int64_t series_transform() const { return transform_for((shape().length + 1) / 2); }
  /// The variables of one case [V, T], which must outlive them.
  std::vector<SearchedSeries> searched(const at::Tensor& values, int64_t steps) const;
  /// The classes that a tree gives to several cases; of each the search of every variable.
  std::vector<int64_t> votes_of(int64_t tree, const std::vector<std::vector<SearchedSeries>>& samples) const;

  SeriesForestConfig settings_;
  uint64_t seed_;
  at::Tensor samples_, lengths_;  // [N, V, T], [N]
  // Of M nodes a tree, the first its root: [trees, M, 4], [trees, M], the first of two children or 0 for a
  // leaf [trees, M], the class of most cases [trees, M].
  at::Tensor shapelets_, thresholds_, children_, classes_;
};

}  // namespace modewise::models
