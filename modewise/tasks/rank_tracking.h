#pragma once
// Stable ranks of attention matrices as metrics of evaluations (`--track stable_rank`).

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/analysis/layer_ranks.h"
#include "modewise/train/loop/task.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

constexpr int64_t kTrackedSamples = 8;  // maximum samples for stable ranks

class RankTracker {
 public:
  /// Sets rank_mode0 … (mode-wise matrices), rank_product and rank_sum (their Kronecker product and sum), or
  /// rank_full: means over layers, heads and samples (the paper's Figures 3 and 4). Warns once for a model
  /// without attention matrices.
  void add(train::Metrics& metrics, const std::vector<analysis::LayerRanks>& layers);

 private:
  bool warned_ = false;
};

/// For tasks without stable ranks: config error if a new run requests them, a warning if `file`, the config
/// of a resumed run, does.
void refuse_rank_tracking(const train::TrainConfig& train, const std::string& task, const std::string& file);

}  // namespace modewise::tasks
