#pragma once
// What a form of nn/attention_zoo.h costs, by formula.

#include <string>

#include "modewise/analysis/cost.h"
#include "modewise/nn/attention/attention_registry.h"

namespace modewise::analysis {

/// One layer of it over `shape`, value and output projections included, as part of `account`. Weights that
/// are the same for all samples are counted as if there were one sample.
void add_attention(CostAccount& account, const std::string& name, const nn::SynthesizerShape& shape,
                       const nn::AttentionTypeOptions& options = {});

}  // namespace modewise::analysis
