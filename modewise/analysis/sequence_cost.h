#pragma once
// What language models, classifiers of series and attention of sequences cost, by formula from their options
// and sizes (cost.h says what counts).

#include <cstdint>

#include "modewise/analysis/cost.h"
#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/series_classifier.h"
#include "modewise/models/language_modeling/config.h"
#include "modewise/nn/attention/sequence_attention.h"

namespace modewise::analysis {

/// A layer's attention over `samples` sequences of n tokens.
void add_sequence_attention(CostAccount& account, const nn::SequenceAttentionOptions& options, int64_t n,
                            double samples);
/// A case through one of series_models(). Config error as models::validate.
ModelCost series_cost(const models::SeriesModelConfig& config, const models::SeriesShape& shape);
/// One layer's attention over a sequence of n tokens, of the form that the options name.
ModelCost sequence_cost(const nn::SequenceAttentionOptions& options, int64_t n);
/// A text of config.context tokens through a language model, read out at each.
ModelCost language_cost(const models::LanguageModelConfig& config);

}  // namespace modewise::analysis
