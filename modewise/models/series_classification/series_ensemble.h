#pragma once
// Several classifiers of series put together.

#include <vector>

#include "modewise/models/class_ensemble.h"
#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/series_classifier.h"

namespace modewise::models {

/// Members that were trained on other splits scale the variables by other means and deviations: each sees the
/// values as it was trained on them.
class SeriesEnsemble final : public ClassEnsemble<SeriesModelConfig, SeriesShape, SeriesClassifier> {
 public:
  SeriesEnsemble(const SeriesModelConfig& config, const SeriesShape& shape, nn::Initializer& init);

  /// The member sees factor · x + shift of each variable, [V] each; x itself at first.
  void set_scale(int64_t member, const std::vector<double>& factor, const std::vector<double>& shift);

 protected:
  ClassifierInput input_of(int64_t member, const ClassifierInput& input) const override;

 private:
  at::Tensor factors_, shifts_;  // [M, V] float64
};

}  // namespace modewise::models
