#pragma once
// Stable ranks of attention matrices as metrics of evaluations (`--track stable_rank`).

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/analysis/layer_ranks.h"
#include "modewise/tasks/run/run.h"
#include "modewise/train/loop/task.h"

namespace modewise::tasks {

constexpr int64_t kTrackedSamples = 8;  // maximum samples for stable ranks

class RankTracker {
 public:
  /// Sets rank_mode0 … (mode-wise matrices), rank_product and rank_sum (their Kronecker product and sum), or
  /// rank_full: means over layers, heads and samples (the paper's Figures 3 and 4). `split` comes before the
  /// matrix: "train_" for training samples, "" for validation samples. Warns once for a model without
  /// attention matrices.
  void add(train::Metrics& metrics, const std::vector<analysis::LayerRanks>& layers,
           const std::string& split = "");

 private:
  bool warned_ = false;
};

/// For runs without stable ranks: config error if a new run requests them, a warning if a resumed one does.
/// `file`: of the settings, "" for none.
void check_rank_tracking(Run& run, const std::string& file);

}  // namespace modewise::tasks
