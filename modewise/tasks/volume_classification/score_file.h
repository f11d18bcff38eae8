#pragma once
// Files of scores as MedMNIST's evaluator writes and reads them: a row a sample, its number and the scores of
// the classes, no header; the name says what they are of: adrenalmnist3d_test_[AUC]0.886_[ACC]0.838@1.csv.

#include <filesystem>
#include <string>

#include "modewise/metrics/class_metrics.h"

namespace modewise::tasks {

/// "{flag}{size_flag}_{split}_[AUC]{auc:.3f}_[ACC]{accuracy:.3f}@{run}.csv"; `split` is train, val or test.
std::string score_file_name(const std::string& flag, int64_t size, const std::string& split, double auc,
                            double accuracy, const std::string& run);
/// What such a name says; flag and split are "" for other names.
struct ScoreFileName {
  std::string flag, size_flag, split, run;
};
ScoreFileName parse_score_file_name(const std::filesystem::path& path);

std::string format_scores(const metrics::ScoreTable& table);
/// The scores [n, K] of a file; `labels` are left empty. Data errors name the line.
metrics::ScoreTable read_scores(const std::filesystem::path& path);

}  // namespace modewise::tasks
