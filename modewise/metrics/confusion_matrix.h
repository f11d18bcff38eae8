#pragma once
// Confusion matrix and segmentation metrics (accuracy, IoU, precision, recall, F1, kappa).

#include <cstdint>
#include <span>
#include <vector>

namespace modewise::metrics {

/// counts(t, p): pixels of class t predicted as p. Pixels with an ignored label are not counted.
class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(int64_t classes);

  /// Labels below 0 are ignored.
  void add(std::span<const int16_t> truth, std::span<const int16_t> predicted);

  /// [K · K], row true, column predicted; counts of other pixels can be added.
  std::span<const int64_t> counts() const { return counts_; }
  std::span<int64_t> counts() { return counts_; }

  int64_t classes() const { return classes_; }
  int64_t count(int64_t truth, int64_t predicted) const;
  int64_t total() const;
  int64_t of_truth(int64_t c) const;
  int64_t of_predicted(int64_t c) const;

  // NaN for 0 / 0.
  /// Overall accuracy: the fraction of correct pixels; equal to micro-averaged precision, recall and F1.
  double accuracy() const;
  /// |t ∩ p| / |t ∪ p| of one class; NaN if it is neither present nor predicted.
  double iou(int64_t c) const;
  /// Mean of iou() over the classes present or predicted.
  double mean_iou() const;
  /// Σ |t ∩ p| / Σ |t ∪ p| = OA / (2 − OA): redundant with the accuracy, but reported in papers.
  double micro_iou() const;
  double recall(int64_t c) const;     // producer's accuracy
  double precision(int64_t c) const;  // user's accuracy
  double f1(int64_t c) const;
  /// Mean of recall() over the classes present.
  double mean_recall() const;
  /// Cohen's kappa.
  double kappa() const;

 private:
  int64_t classes_;
  std::vector<int64_t> counts_;
};

}  // namespace modewise::metrics
