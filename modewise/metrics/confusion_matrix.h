#pragma once
// How well predicted classes agree with a mask, from one table of counts.

#include <cstdint>
#include <span>
#include <vector>

namespace modewise::metrics {

/// counts(t, p): pixels of class t that were called p. Pixels whose label is ignored are never added.
class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(int64_t classes);

  /// Labels below 0 are passed over.
  void add(std::span<const int16_t> truth, std::span<const int16_t> predicted);

  /// [K · K], row true, column predicted: those of other pixels can be added.
  std::span<const int64_t> counts() const { return counts_; }
  std::span<int64_t> counts() { return counts_; }

  int64_t classes() const { return classes_; }
  int64_t count(int64_t truth, int64_t predicted) const;
  int64_t total() const;
  int64_t of_truth(int64_t c) const;
  int64_t of_predicted(int64_t c) const;

  // NaN where nothing is divided by nothing.
  /// Overall accuracy: the share of pixels called right; also the micro-averaged precision, recall and F1.
  double accuracy() const;
  /// |t ∩ p| / |t ∪ p| of one class; NaN when it is neither there nor called.
  double iou(int64_t c) const;
  /// Mean of iou() over the classes that are there or called.
  double mean_iou() const;
  /// Σ |t ∩ p| / Σ |t ∪ p| = OA / (2 − OA): says nothing beyond the accuracy, but tables hold it.
  double micro_iou() const;
  double recall(int64_t c) const;     // producer's accuracy
  double precision(int64_t c) const;  // user's accuracy
  double f1(int64_t c) const;
  /// Mean of recall() over the classes that are there.
  double mean_recall() const;
  /// Cohen's kappa.
  double kappa() const;

 private:
  int64_t classes_;
  std::vector<int64_t> counts_;
};

}  // namespace modewise::metrics
