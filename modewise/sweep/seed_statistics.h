#pragma once
// Mean and standard deviation over the seeds of a run.

#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace modewise::sweep {

inline double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Sample standard deviation (n − 1); nullopt for fewer than two values.
inline std::optional<double> stddev_of(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const double mean = mean_of(values);
  double sum = 0;
  for (const double one : values) sum += (one - mean) * (one - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

}  // namespace modewise::sweep
