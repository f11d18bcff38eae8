#include "modewise/metrics/class_mixture.h"

#include <cmath>
#include <limits>

namespace modewise::metrics {
namespace {

constexpr int64_t kFolds = 5;

double figure_of(const ScoreTable& table, const std::string& select) {
  if (select == "auc") return defined_auc(table);
  if (select == "accuracy") return medmnist_accuracy(table);
  return -log_loss(table);
}

size_t models_of(std::span<const MixedPart> parts) {
  return parts.front().size();
}

/// A table of zero scores for the samples of a part.
ScoreTable empty_like(const MixedPart& part) {
  ScoreTable table = part.front();
  table.scores.assign(table.scores.size(), 0);
  return table;
}

/// The tables of one model in all parts.
std::vector<ScoreTable> tables_of(std::span<const MixedPart> parts, size_t model) {
  std::vector<ScoreTable> tables;
  for (const MixedPart& part : parts) tables.push_back(part[model]);
  return tables;
}

/// The fold of each sample, stratified: the samples of a class go to folds 0, 1, … in turn.
std::vector<int64_t> folds_of(const ScoreTable& table) {
  std::vector<int64_t> seen(static_cast<size_t>(table.classes)), folds;
  for (const int64_t label : table.labels) folds.push_back(seen[static_cast<size_t>(label)]++ % kFolds);
  return folds;
}

/// The samples whose fold is, or is not, `fold`.
MixedPart samples_of(const MixedPart& part, const std::vector<int64_t>& folds, int64_t fold, bool within) {
  MixedPart out;
  for (const ScoreTable& table : part) {
    ScoreTable kept;
    kept.classes = table.classes;
    for (size_t i = 0; i < folds.size(); ++i) {
      if ((folds[i] == fold) != within) continue;
      const auto first = table.scores.begin() + static_cast<std::ptrdiff_t>(i) * table.classes;
      kept.scores.insert(kept.scores.end(), first, first + table.classes);
      kept.labels.push_back(table.labels[i]);
    }
    out.push_back(std::move(kept));
  }
  return out;
}

/// Scores each part with weights chosen on the others.
std::vector<ScoreTable> evaluated_by_other_parts(std::span<const MixedPart> parts, const std::string& select,
                                                 int64_t picks) {
  std::vector<ScoreTable> evaluated;
  for (size_t p = 0; p < parts.size(); ++p) {
    std::vector<MixedPart> others(parts.begin(), parts.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(p));
    evaluated.push_back(mixed_scores(parts[p], greedy_class_weights(others, select, picks)));
  }
  return evaluated;
}

/// Scores each fold of a part with weights chosen on the other folds.
ScoreTable evaluated_by_other_folds(const MixedPart& part, const std::string& select, int64_t picks) {
  ScoreTable evaluated = empty_like(part);
  const std::vector<int64_t> folds = folds_of(evaluated);
  for (int64_t fold = 0; fold < kFolds; ++fold) {
    const MixedPart others = samples_of(part, folds, fold, false);
    const ScoreTable own = mixed_scores(samples_of(part, folds, fold, true),
                                        greedy_class_weights(std::span(&others, 1), select, picks));
    auto from = own.scores.begin();
    for (size_t i = 0; i < folds.size(); ++i) {
      if (folds[i] != fold) continue;
      std::copy(from, from + own.classes,
                evaluated.scores.begin() + static_cast<std::ptrdiff_t>(i) * own.classes);
      from += own.classes;
    }
  }
  return evaluated;
}

}  // namespace

bool MixtureFigure::better_than(const MixtureFigure& other) const {
  if (std::isnan(chosen) || std::isnan(other.chosen)) {
    if (std::isnan(chosen) != std::isnan(other.chosen)) return std::isnan(other.chosen);
  } else if (chosen != other.chosen) {
    return chosen > other.chosen;
  }
  return loss < other.loss;
}

MixtureFigure mixture_figure(std::span<const ScoreTable> tables, const std::string& select) {
  MixtureFigure sum;
  for (const ScoreTable& table : tables) {
    sum.chosen += figure_of(table, select);
    sum.loss += log_loss(table);
  }
  const auto count = static_cast<double>(tables.size());
  return {sum.chosen / count, sum.loss / count};
}

std::vector<double> greedy_class_weights(std::span<const MixedPart> parts, const std::string& select,
                                         int64_t picks) {
  const size_t models = models_of(parts);
  std::vector<ScoreTable> sums, tried;
  for (const MixedPart& part : parts) sums.push_back(empty_like(part));
  tried = sums;
  std::vector<double> picked(models), best;
  MixtureFigure maximum;
  for (int64_t pick = 1; pick <= picks; ++pick) {
    const auto count = static_cast<double>(pick);
    size_t chosen = models;
    MixtureFigure highest;
    for (size_t m = 0; m < models; ++m) {
      for (size_t p = 0; p < parts.size(); ++p)
        for (size_t i = 0; i < sums[p].scores.size(); ++i)
          tried[p].scores[i] = (sums[p].scores[i] + parts[p][m].scores[i]) / count;
      const MixtureFigure figure = mixture_figure(tried, select);
      if (chosen != models && !figure.better_than(highest)) continue;
      chosen = m;
      highest = figure;
    }
    picked[chosen] += 1;
    for (size_t p = 0; p < parts.size(); ++p)
      for (size_t i = 0; i < sums[p].scores.size(); ++i) sums[p].scores[i] += parts[p][chosen].scores[i];
    if (!best.empty() && !highest.better_than(maximum)) continue;
    maximum = highest;
    best = picked;
    for (double& weight : best) weight /= count;
  }
  return best;
}

ScoreTable mixed_scores(const MixedPart& part, const std::vector<double>& weights) {
  ScoreTable sum = empty_like(part);
  for (size_t m = 0; m < part.size(); ++m)
    for (size_t i = 0; i < sum.scores.size(); ++i) sum.scores[i] += weights[m] * part[m].scores[i];
  return sum;
}

ClassMixture mix_classes(std::span<const MixedPart> parts, const std::string& select, int64_t picks) {
  size_t best = 0;
  std::vector<ScoreTable> alone = tables_of(parts, best);
  for (size_t m = 1; m < models_of(parts); ++m) {
    std::vector<ScoreTable> tables = tables_of(parts, m);
    if (!mixture_figure(tables, select).better_than(mixture_figure(alone, select))) continue;
    best = m;
    alone = std::move(tables);
  }
  std::vector<ScoreTable> evaluated =
      parts.size() > 1 ? evaluated_by_other_parts(parts, select, picks)
                       : std::vector{evaluated_by_other_folds(parts.front(), select, picks)};
  if (mixture_figure(evaluated, select).better_than(mixture_figure(alone, select)))
    return {greedy_class_weights(parts, select, picks), std::move(evaluated)};
  std::vector<double> one(models_of(parts));
  one[best] = 1;
  return {std::move(one), std::move(alone)};
}

}  // namespace modewise::metrics
