#pragma once
// Stable ranks of the attention matrices as metrics of an evaluation (`--track stable_rank`).

#include <cstdint>
#include <vector>

#include "modewise/analysis/layer_ranks.h"
#include "modewise/train/task.h"

namespace modewise::tasks {

constexpr int64_t kTrackedSamples = 8;  // samples at most whose attention is looked at

/// Sets rank_mode0 … (mode-wise matrices), rank_product and rank_sum (of the same factors joined in either
/// way), or rank_full: means over layers, heads and samples (the paper's Figures 3 and 4). Nothing for models
/// without attention.
void add_stable_ranks(train::Metrics& metrics, const std::vector<analysis::LayerRanks>& layers);

}  // namespace modewise::tasks
