#pragma once
// Cost of language models, series classifiers and sequence attention, by formula from their options and sizes
// (conventions in cost.h).

#include <cstdint>

#include "modewise/analysis/cost.h"
#include "modewise/models/language_modeling/config.h"
#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/series_classifier.h"
#include "modewise/nn/attention/sequence_attention.h"

namespace modewise::analysis {

/// Adds one attention layer over `samples` sequences of n tokens.
void add_sequence_attention(CostAccount& account, const nn::SequenceAttentionOptions& options, int64_t n,
                            double samples);
/// Cost of one series through one of series_models(). Config errors as models::validate.
ModelCost series_cost(const models::SeriesModelConfig& config, const models::SeriesShape& shape);
/// Cost of one attention layer over a sequence of n tokens, of the type in `options`.
ModelCost sequence_cost(const nn::SequenceAttentionOptions& options, int64_t n);
/// Cost of config.context tokens through a language model, with logits for each token.
ModelCost language_cost(const models::LanguageModelConfig& config);

}  // namespace modewise::analysis
