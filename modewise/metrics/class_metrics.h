#pragma once
// Classification metrics; AUC and accuracy equal those of MedMNIST's evaluator to the last digit.

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "modewise/io/arrays/npy.h"

namespace modewise::metrics {

/// Class scores and labels of n samples, K classes.
struct ScoreTable {
  int64_t classes = 0;
  std::vector<double> scores;   // [n, K]
  std::vector<int64_t> labels;  // [n], 0 … K − 1

  int64_t samples() const { return static_cast<int64_t>(labels.size()); }
  double score(int64_t sample, int64_t k) const { return scores[static_cast<size_t>(sample * classes + k)]; }
};

/// Adds SPLIT_scores and SPLIT_labels, the arrays of predictions.npz.
void add_arrays(const ScoreTable& table, const std::string& split, std::map<std::string, io::Array>& arrays);
/// The inverse of add_arrays; data errors that begin with `file` for missing or mismatching arrays.
ScoreTable table_of(const std::map<std::string, io::Array>& arrays, const std::string& split,
                    const std::string& file);

/// Area under the ROC curve: the fraction of pairs of a positive and a negative sample in which the positive
/// one has the higher score; ties count one half. Counted in integers. NaN if there is no pair.
double area_under_curve(std::span<const double> scores, std::span<const bool> positive);

/// MedMNIST's AUC: for two classes the AUC of the last column; for more the macro-averaged one-vs-rest AUC.
/// NaN if a class has no samples, or all.
double medmnist_auc(const ScoreTable& table);
/// Mean AUC over the classes with both positive and negative samples, used to choose weights.
double defined_auc(const ScoreTable& table);
/// MedMNIST's accuracy: for two classes the prediction is (last column > 0.5), for more the first argmax.
double medmnist_accuracy(const ScoreTable& table);
/// Mean of −ln(score of the true class); 0 without samples.
double log_loss(const ScoreTable& table);
/// The predicted class by that rule.
int64_t predicted_class(const ScoreTable& table, int64_t sample);

struct ClassMetrics {
  int64_t samples = 0;
  double auc = 0, accuracy = 0;
  double loss = 0;               // mean of −log score of the true class
  double balanced_accuracy = 0;  // mean recall of the classes present
  double majority_accuracy = 0;  // of always predicting the most frequent class of these samples
  double macro_f1 = 0;           // mean F1 of the classes present or predicted
  std::vector<double> class_auc, recall, precision, f1;  // [K], NaN where undefined
  std::vector<int64_t> counts;                           // [K]
  std::vector<int64_t> confusion;                        // [K, K]: row true, column predicted
};
ClassMetrics class_metrics(const ScoreTable& table);
nlohmann::ordered_json to_json(const ClassMetrics& metrics, const std::string& split,
                               const std::vector<std::string>& classes);

/// Points of a ROC curve, from (0, 0) to (1, 1).
struct RocCurve {
  std::vector<double> false_positive, true_positive;
};
RocCurve roc_curve(std::span<const double> scores, std::span<const bool> positive);

}  // namespace modewise::metrics
