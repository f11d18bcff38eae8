#pragma once
// Cost of the attention types of nn/attention/attention_registry.h, by formula.

#include <string>

#include "modewise/analysis/cost.h"
#include "modewise/nn/attention/attention_registry.h"

namespace modewise::analysis {

/// Adds one attention layer over `shape`, value and output projections included, to `account`. Attention
/// weights shared by all samples are counted as for one sample.
void add_attention(CostAccount& account, const std::string& name, const nn::SynthesizerShape& shape,
                   const nn::AttentionTypeOptions& options = {});

}  // namespace modewise::analysis
