#pragma once
// Cost of series classifiers, by formula from their options and sizes (conventions in nn/layers/cost.h).

#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/series_classifier.h"
#include "modewise/nn/layers/cost.h"

namespace modewise::models {

/// Cost of one series through one of series_models(). Config errors as validate.
nn::ModelCost series_cost(const SeriesModelConfig& config, const SeriesShape& shape);

// Costs of the rows of series_models().
nn::ModelCost patch_classifier_cost(const SeriesModelConfig& config, const SeriesShape& shape);
nn::ModelCost nearest_neighbor_cost(const SeriesModelConfig& config, const SeriesShape& shape);
nn::ModelCost linear_classifier_cost(const SeriesModelConfig& config, const SeriesShape& shape);
nn::ModelCost temporal_convolutions_cost(const SeriesModelConfig& config, const SeriesShape& shape);
nn::ModelCost series_residual_network_cost(const SeriesModelConfig& config, const SeriesShape& shape);
nn::ModelCost shapelet_forest_cost(const SeriesModelConfig& config, const SeriesShape& shape);
nn::ModelCost minirocket_cost(const SeriesModelConfig& config, const SeriesShape& shape);

}  // namespace modewise::models
