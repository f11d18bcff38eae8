#pragma once
// How well answers agree with what is: the figures of GLUE, as scikit-learn and scipy have them.

#include <cstdint>
#include <span>
#include <vector>

namespace modewise::metrics {

/// Matthews' correlation of K classes, from confusion [K, K] (row true, column predicted), −1 … 1:
/// (c s − Σ p_k t_k) / √(s² − Σ p_k²) / √(s² − Σ t_k²), c right of s samples, p_k predicted and t_k true ones
/// of class k. 0 where all samples are of one class, or all are called one (scikit-learn's rule).
double matthews(std::span<const int64_t> confusion, int64_t classes);

/// 2 TP / (2 TP + FP + FN) of one class against the rest, from confusion [K, K]. 0 where the class neither
/// occurs nor is called (scikit-learn's rule).
double f1(std::span<const int64_t> confusion, int64_t classes, int64_t positive);

/// Pearson's correlation. NaN for fewer than two values and where one side is constant, as scipy has it:
/// there is nothing to correlate, and 0 would claim that there is no relation.
double pearson(std::span<const double> x, std::span<const double> y);

/// Spearman's: Pearson's of the ranks, tied values sharing the mean of theirs. NaN as for Pearson's.
double spearman(std::span<const double> x, std::span<const double> y);

/// Ranks from 1; tied values get the mean of theirs.
std::vector<double> average_ranks(std::span<const double> values);

}  // namespace modewise::metrics
