#pragma once
// Classifiers of series: values [B, V, T], 0 behind a case's end, masks [B, T], where some are shorter than
// others. Matrices of attention are means over variables whose tokens are apart.
//
// Shapes: B samples, V variables, T steps, K classes.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "modewise/models/classifier.h"

namespace modewise::models {

struct SeriesModelConfig;

/// The sizes a classifier is built for.
struct SeriesShape {
  int64_t variables = 1, length = 0, classes = 2;
  bool padded = false;         // whether batches come with masks
  int64_t training_samples = 0;  // that a model may keep
};

class SeriesClassifier : public Classifier {
 public:
  explicit SeriesClassifier(const SeriesShape& shape) : Classifier(shape.classes), shape_(shape) {}

  /// Hands over all training cases [N, V, T] with their labels [N], before training; for models made of them.
  virtual void remember(const ClassifierInput& /*cases*/, const at::Tensor& /*labels*/) {}
  /// Whether it is.
  virtual bool remembers() const { return false; }

  const SeriesShape& shape() const { return shape_; }

 protected:
  /// Data error for an input of other sizes.
  void check(const ClassifierInput& input) const;

 private:
  SeriesShape shape_;
};

/// The mean of x [B, T, C] over the valid steps, [B, C].
at::Tensor mean_over_time(const at::Tensor& x, const at::Tensor& valid);

/// Builds the model named in `config` with weights that depend on `seed` alone. A config or shape that makes
/// no sense is a config error that names the option.
std::shared_ptr<SeriesClassifier> make_series_classifier(const SeriesModelConfig& config,
                                                         const SeriesShape& shape, uint64_t seed);

}  // namespace modewise::models
