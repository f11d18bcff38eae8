#pragma once
// What language models and classifiers of series cost, by formula from their options and sizes (cost.h says
// what counts).

#include <cstdint>

#include "modewise/analysis/cost.h"
#include "modewise/models/labelled_series/config.h"
#include "modewise/models/labelled_series/series_classifier.h"
#include "modewise/models/language/config.h"

namespace modewise::analysis {

/// A case through one of series_models(). Config error as models::validate.
ModelCost series_cost(const models::SeriesModelConfig& config, const models::SeriesShape& shape);
/// A text of config.context tokens through a language model, read out at each.
ModelCost language_cost(const models::LanguageModelConfig& config);

}  // namespace modewise::analysis
