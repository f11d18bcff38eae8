#pragma once
// Series classifier interface: values [B, V, T], zero-padded at the end, and padding masks [B, T] for samples
// of different lengths. Attention matrices of channel-independent models are means over variables.
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
  bool padded = false;           // batches have padding masks
  int64_t training_samples = 0;  // buffer size of models that store training samples
};

class SeriesClassifier : public Classifier {
 public:
  explicit SeriesClassifier(const SeriesShape& shape) : Classifier(shape.classes), shape_(shape) {}

  /// Fits the model to all training samples [N, V, T] and labels [N], before training; for models that store
  /// or fit them.
  virtual void remember(const ClassifierInput& /*samples*/, const at::Tensor& /*labels*/) {}
  /// Whether the model uses remember().
  virtual bool remembers() const { return false; }

  const SeriesShape& shape() const { return shape_; }

 protected:
  /// The input with 0 at missing steps. Data error for an input of other sizes.
  ClassifierInput checked(const ClassifierInput& input) const;

 private:
  SeriesShape shape_;
};

/// Mean pooling of x [B, T, C] over the valid steps: [B, C].
at::Tensor mean_over_time(const at::Tensor& x, const at::Tensor& valid);

/// Builds the model named in `config`; weights depend only on `seed`. An invalid config or shape is a config
/// error that names the option.
std::shared_ptr<SeriesClassifier> make_series_classifier(const SeriesModelConfig& config,
                                                         const SeriesShape& shape, uint64_t seed);

}  // namespace modewise::models
