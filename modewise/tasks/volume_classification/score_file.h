#pragma once
// Score files of MedMNIST's evaluator: one row per sample with its index and class scores, no header; the
// name describes them: adrenalmnist3d_test_[AUC]0.886_[ACC]0.838@1.csv.

#include <filesystem>
#include <string>

#include "modewise/metrics/class_metrics.h"

namespace modewise::tasks {

/// "{flag}{size_flag}_{split}_[AUC]{auc:.3f}_[ACC]{accuracy:.3f}@{run}.csv"; `split` is train, val or test.
std::string score_file_name(const std::string& flag, int64_t size, const std::string& split, double auc,
                            double accuracy, const std::string& run);
/// Parts of such a name, which may have anything else after its split; flag and split are "" for other names.
struct ScoreFileName {
  std::string flag, size_flag, split, run;
};
ScoreFileName parse_score_file_name(const std::filesystem::path& path);

std::string format_scores(const metrics::ScoreTable& table);
/// Reads the scores [n, K] of a file in the order of its indices; `labels` stay empty. Data errors name the
/// line. Warns of rows that are not probabilities.
metrics::ScoreTable read_scores(const std::filesystem::path& path);

}  // namespace modewise::tasks
