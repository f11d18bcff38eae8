#include "modewise/metrics/confusion_matrix.h"

#include <cmath>

#include "modewise/core/error.h"

namespace modewise::metrics {
namespace {

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : std::nan("");
}

/// JSON has no NaN: a mean over nothing is null.
template <class Value>
double mean_of_finite(int64_t classes, const Value& value) {
  double sum = 0, count = 0;
  for (int64_t c = 0; c < classes; ++c)
    if (const double one = value(c); std::isfinite(one)) {
      sum += one;
      count += 1;
    }
  return ratio(sum, count);
}

}  // namespace

ConfusionMatrix::ConfusionMatrix(int64_t classes)
    : classes_(classes), counts_(static_cast<size_t>(classes * classes)) {}

void ConfusionMatrix::add(std::span<const int16_t> truth, std::span<const int16_t> predicted) {
  require(truth.size() == predicted.size(), ErrorKind::internal,
          "ConfusionMatrix: {} labels but {} predictions", truth.size(), predicted.size());
  for (size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] < 0) continue;
    require(truth[i] < classes_ && predicted[i] >= 0 && predicted[i] < classes_, ErrorKind::internal,
            "ConfusionMatrix: label {} or prediction {} is outside {} classes", truth[i], predicted[i],
            classes_);
    ++counts_[static_cast<size_t>(truth[i] * classes_ + predicted[i])];
  }
}

int64_t ConfusionMatrix::count(int64_t truth, int64_t predicted) const {
  return counts_[static_cast<size_t>(truth * classes_ + predicted)];
}

int64_t ConfusionMatrix::total() const {
  int64_t sum = 0;
  for (const int64_t one : counts_) sum += one;
  return sum;
}

int64_t ConfusionMatrix::of_truth(int64_t c) const {
  int64_t sum = 0;
  for (int64_t p = 0; p < classes_; ++p) sum += count(c, p);
  return sum;
}

int64_t ConfusionMatrix::of_predicted(int64_t c) const {
  int64_t sum = 0;
  for (int64_t t = 0; t < classes_; ++t) sum += count(t, c);
  return sum;
}

double ConfusionMatrix::accuracy() const {
  int64_t right = 0;
  for (int64_t c = 0; c < classes_; ++c) right += count(c, c);
  return ratio(static_cast<double>(right), static_cast<double>(total()));
}

double ConfusionMatrix::iou(int64_t c) const {
  return ratio(static_cast<double>(count(c, c)),
               static_cast<double>(of_truth(c) + of_predicted(c) - count(c, c)));
}

double ConfusionMatrix::mean_iou() const {
  return mean_of_finite(classes_, [this](int64_t c) { return iou(c); });
}

double ConfusionMatrix::micro_iou() const {
  const double right = accuracy();
  return right / (2 - right);
}

double ConfusionMatrix::recall(int64_t c) const {
  return ratio(static_cast<double>(count(c, c)), static_cast<double>(of_truth(c)));
}

double ConfusionMatrix::precision(int64_t c) const {
  return ratio(static_cast<double>(count(c, c)), static_cast<double>(of_predicted(c)));
}

double ConfusionMatrix::f1(int64_t c) const {
  return ratio(2 * static_cast<double>(count(c, c)), static_cast<double>(of_truth(c) + of_predicted(c)));
}

double ConfusionMatrix::mean_recall() const {
  return mean_of_finite(classes_, [this](int64_t c) { return recall(c); });
}

double ConfusionMatrix::kappa() const {
  const auto all = static_cast<double>(total());
  double chance = 0;
  for (int64_t c = 0; c < classes_; ++c)
    chance += ratio(static_cast<double>(of_truth(c)), all) * ratio(static_cast<double>(of_predicted(c)), all);
  return ratio(accuracy() - chance, 1 - chance);
}

}  // namespace modewise::metrics
