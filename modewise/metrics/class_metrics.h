#pragma once
// Metrics of classification, AUC and accuracy to the last digit as MedMNIST's evaluator has them.

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "modewise/io/arrays/npy.h"

namespace modewise::metrics {

/// n samples, K classes.
struct ScoreTable {
  int64_t classes = 0;
  std::vector<double> scores;   // [n, K]
  std::vector<int64_t> labels;  // [n], 0 … K − 1

  int64_t samples() const { return static_cast<int64_t>(labels.size()); }
  double score(int64_t sample, int64_t k) const { return scores[static_cast<size_t>(sample * classes + k)]; }
};

/// SPLIT_scores and SPLIT_labels, as predictions.npz holds them.
void add_arrays(const ScoreTable& table, const std::string& split, std::map<std::string, io::Array>& arrays);
/// The reverse; data errors, which `file` opens, for arrays that are missing or no such tables.
ScoreTable table_of(const std::map<std::string, io::Array>& arrays, const std::string& split,
                    const std::string& file);

/// The area under the ROC curve: the share of pairs of a positive and a negative sample in which the positive
/// one has the higher score, ties counting one half. Counted in whole numbers. NaN when there is no pair.
double area_under_curve(std::span<const double> scores, std::span<const bool> positive);

/// MedMNIST's AUC: for two classes that of the last column; for more the unweighted mean of each class
/// against the rest. NaN when a class has no sample, or all.
double medmnist_auc(const ScoreTable& table);
/// The mean over the classes that have both; what weights are chosen by.
double defined_auc(const ScoreTable& table);
/// MedMNIST's accuracy: for two classes (last column > 0.5) against the label, for more the first largest
/// column.
double medmnist_accuracy(const ScoreTable& table);
/// The mean of −ln of the true class's score; 0 for no samples.
double log_loss(const ScoreTable& table);
/// The predicted class by that rule.
int64_t predicted_class(const ScoreTable& table, int64_t sample);

struct ClassMetrics {
  int64_t samples = 0;
  double auc = 0, accuracy = 0;
  double loss = 0;                                   // mean of −log score of the true class
  double balanced_accuracy = 0;                      // mean recall of the classes that occur
  std::vector<double> class_auc, recall, precision;  // [K], NaN where undefined
  std::vector<int64_t> counts;                       // [K]
  std::vector<int64_t> confusion;                    // [K, K]: row true, column predicted
};
ClassMetrics class_metrics(const ScoreTable& table);
nlohmann::ordered_json to_json(const ClassMetrics& metrics, const std::string& split,
                               const std::vector<std::string>& classes);

/// The points of a ROC curve, from (0, 0) to (1, 1).
struct RocCurve {
  std::vector<double> false_positive, true_positive;
};
RocCurve roc_curve(std::span<const double> scores, std::span<const bool> positive);

}  // namespace modewise::metrics
