#pragma once
// Stable ranks of the attention matrices as metrics of an evaluation (`--track stable_rank`).

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/analysis/layer_ranks.h"
#include "modewise/train/loop/task.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

constexpr int64_t kTrackedSamples = 8;  // samples at most whose attention is looked at

class RankTracker {
 public:
  /// Sets rank_mode0 … (mode-wise matrices), rank_product and rank_sum (of the same factors joined in either
  /// way), or rank_full: means over layers, heads and samples (the paper's Figures 3 and 4). For a model
  /// without attention matrices it warns, the first time, that nothing is recorded.
  void add(train::Metrics& metrics, const std::vector<analysis::LayerRanks>& layers);

 private:
  bool warned_ = false;
};

/// For tasks that record no stable ranks. A config error where a new run asks for them; a warning where
/// `file`, the run's own config, does.
void refuse_rank_tracking(const train::TrainConfig& train, const std::string& task, const std::string& file);

}  // namespace modewise::tasks
