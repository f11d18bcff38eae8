#pragma once
// Ensemble of series classifiers.

#include <vector>

#include "modewise/models/class_ensemble.h"
#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/series_classifier.h"

namespace modewise::models {

/// Members trained on different splits scale the variables by different means and standard deviations: each
/// gets the values in its own scale.
class SeriesEnsemble final : public ClassEnsemble<SeriesModelConfig, SeriesShape, SeriesClassifier> {
 public:
  SeriesEnsemble(const SeriesModelConfig& config, const SeriesShape& shape, nn::Initializer& init);

  /// Sets the member's input to factor · x + shift per variable, [V] each; initially x.
  void set_scale(int64_t member, const std::vector<double>& factor, const std::vector<double>& shift);

 protected:
  ClassifierInput input_of(int64_t member, const ClassifierInput& input) const override;

 private:
  at::Tensor factors_, shifts_;  // [M, V] float64
};

}  // namespace modewise::models
