#pragma once
// Ensemble weights for averaged class probabilities, chosen on the validation split by greedy ensemble
// selection, with a cross-validated estimate.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/metrics/class_metrics.h"

namespace modewise::metrics {

/// One validation set: the scores of M models for the same samples.
using MixedPart = std::vector<ScoreTable>;

/// Quality of scores: the chosen metric (higher is better), then the log loss (lower is better). A NaN metric
/// is worst.
struct MixtureFigure {
  double chosen = 0, loss = 0;
  bool better_than(const MixtureFigure& other) const;
};
/// Means over tables of the metric `select` ("auc": defined_auc; "accuracy"; "loss") and of the log loss.
MixtureFigure mixture_figure(std::span<const ScoreTable> tables, const std::string& select);

/// Greedy ensemble selection with replacement from M models (Caruana, Niculescu-Mizil, Crew, Ksikes, ICML
/// 2004): each pick is the model that makes the mean of all picks best over the parts, the first of equals.
/// The result uses the first 1 … `picks` picks with the best mean, the fewest of equals. Returns weights [M]
/// that sum to 1.
std::vector<double> greedy_class_weights(std::span<const MixedPart> parts, const std::string& select,
                                         int64_t picks);

/// Σ_m w_m scores_m, summed in order.
ScoreTable mixed_scores(const MixedPart& part, const std::vector<double>& weights);

struct ClassMixture {
  std::vector<double> weights;        // [M]
  std::vector<ScoreTable> evaluated;  // per part: scores with weights chosen on other samples
};
/// Weights of M models, M ≥ 1, from one or several validation sets. Cross-validation evaluates them: each
/// fold is scored with weights chosen on the others; the folds are the parts, or five stratified folds of a
/// single part. If the best single model is as good, it gets weight 1 and `evaluated` holds its own scores.
ClassMixture mix_classes(std::span<const MixedPart> parts, const std::string& select, int64_t picks);

}  // namespace modewise::metrics
