#pragma once
// Metrics of the GLUE benchmark (Matthews correlation, F1, Pearson, Spearman), as in scikit-learn and SciPy.

#include <cstdint>
#include <span>
#include <vector>

namespace modewise::metrics {

/// Matthews' correlation of K classes, from confusion [K, K] (row true, column predicted), −1 … 1: (c s − Σ
/// p_k t_k) / √(s² − Σ p_k²) / √(s² − Σ t_k²), c correct of s samples, p_k predicted and t_k true ones of
/// class k. 0 if all samples are of one class, or all are predicted as one (as in scikit-learn).
double matthews(std::span<const int64_t> confusion, int64_t classes);

/// 2 TP / (2 TP + FP + FN) of one class against the rest, from confusion [K, K]. 0 if the class is neither
/// present nor predicted (as in scikit-learn).
double f1(std::span<const int64_t> confusion, int64_t classes, int64_t positive);

/// Pearson correlation. NaN for fewer than two values or a constant side, as in SciPy: the correlation is
/// undefined, and 0 would claim that there is none.
double pearson(std::span<const double> x, std::span<const double> y);

/// Spearman correlation: Pearson correlation of the ranks; ties get their mean rank. NaN as for Pearson.
double spearman(std::span<const double> x, std::span<const double> y);

/// Ranks from 1; ties get their mean rank.
std::vector<double> average_ranks(std::span<const double> values);

}  // namespace modewise::metrics
