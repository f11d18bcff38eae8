#pragma once
// What language models and classifiers of series cost, by formula from their options and sizes (cost.h says
// what counts).

#include <cstdint>

#include "modewise/analysis/cost.h"
#include "modewise/models/labelled_series/config.h"
#include "modewise/models/labelled_series/series_classifier.h"
#include "modewise/models/language/config.h"

namespace modewise::analysis {

/// How many queries are compared with how many keys in one head of tensor_attention over n tokens, with the
/// latents of finished blocks among the queries. Each is a product of d numbers, and one of e numbers behind
/// the softmax. For axial and pooled all cells of the fold count; random and topk make the whole matrix.
double compared_pairs(const ops::TensorAttentionOptions& options, int64_t slots, int64_t n);

/// A case through one of series_model_names(). Config error as models::validate.
ModelCost series_cost(const models::SeriesModelConfig& config, const models::SeriesShape& shape);
/// A text of config.context tokens through a language model, read out at each.
ModelCost language_cost(const models::LanguageModelConfig& config);

}  // namespace modewise::analysis
