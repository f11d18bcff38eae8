#pragma once
// Weights of classifiers whose class probabilities are averaged, chosen on validation, and how good that mean
// is on samples that chose no weights.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/metrics/class_metrics.h"

namespace modewise::metrics {

/// One validation part: the scores of M models for the same samples.
using MixedPart = std::vector<ScoreTable>;

/// How good scores are: by the figure chosen, the higher the better, and of equals by the log loss, the lower
/// the better. A figure that is not a number is below all others.
struct MixtureFigure {
  double chosen = 0, loss = 0;
  bool better_than(const MixtureFigure& other) const;
};
/// The means over tables of the figure `select` ("auc", over the classes that have both; "accuracy"; "loss")
/// and of the log loss.
MixtureFigure mixture_figure(std::span<const ScoreTable> tables, const std::string& select);

/// Greedy choice with repetition from M models (Caruana, Niculescu-Mizil, Crew, Ksikes, ICML 2004): each pick
/// is the model with which the mean of all picked is best over the parts, of equals the first. Of the first
/// 1 … `picks` picks those count whose mean is best, of equals the fewest. Returns weights [M] that sum to 1.
std::vector<double> greedy_class_weights(std::span<const MixedPart> parts, const std::string& select,
                                         int64_t picks);

/// Σ_m w_m scores_m, added in order.
ScoreTable mixed_scores(const MixedPart& part, const std::vector<double>& weights);

struct ClassMixture {
  std::vector<double> weights;     // [M]
  std::vector<ScoreTable> evaluated;  // of each part: scores by weights that its samples did not choose
};
/// Weights of M models, M ≥ 1, from one validation part or several. To judge them the samples are put into
/// folds, and each fold is scored by the weights that the others choose: the parts, or five folds of a single
/// part, each with its share of every class. Where the best model by itself is as good as that, it has weight
/// 1 and `judged` are its own scores.
ClassMixture mix_classes(std::span<const MixedPart> parts, const std::string& select, int64_t picks);

}  // namespace modewise::metrics
