#pragma once
// What every classifier of series is: a module from a batch of series, with a mask where some are shorter
// than others, to the classes' logits.
//
// Shapes: B samples, V variables, T steps, K classes.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace modewise::models {

struct SeriesModelConfig;

/// The sizes a classifier is built for.
struct SeriesShape {
  int64_t variables = 1, length = 0, classes = 2;
  bool padded = false;         // whether batches come with masks
  int64_t training_cases = 0;  // that a model may keep
};

struct SeriesInput {
  at::Tensor values;  // [B, V, T], 0 behind a case's end
  at::Tensor valid;   // [B, T] bool; undefined when no case is padded
};

class SeriesClassifier : public torch::nn::Module {
 public:
  explicit SeriesClassifier(const SeriesShape& shape) : shape_(shape) {}

  /// [B, K] logits, float32 (float64 for a float64 module).
  virtual at::Tensor forward(const SeriesInput& input) = 0;
  /// How much of each token's value reaches each token in attention layer `layer` (from 0): [B, heads, P, P],
  /// for models that attend; the mean over variables whose tokens are apart. Undefined for the others.
  virtual at::Tensor attention_matrix(const SeriesInput& /*input*/, int64_t /*layer*/) { return {}; }
  /// Hands over all training cases [N, V, T] with their labels [N], before training; for models made of them.
  virtual void remember(const SeriesInput& /*cases*/, const at::Tensor& /*labels*/) {}

  const SeriesShape& shape() const { return shape_; }

 protected:
  /// Data error for an input of other sizes.
  void check(const SeriesInput& input) const;

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
