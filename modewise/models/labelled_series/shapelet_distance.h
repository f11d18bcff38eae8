#pragma once
// How far a short series is from the nearest stretch of a long one.

#include <span>
#include <vector>

namespace modewise::models {

/// Mean 0 and deviation 1 over all steps; zeros where the deviation is at most 1e-6 of the root mean square.
std::vector<double> standardised(std::span<const float> series);

/// The least √(mean of squared differences) between `shapelet`, standardised, and the stretches of `series`
/// as long as it, each standardised (Karlsson et al. 2016: subsequence distance). If the series is the
/// shorter one, the two change places. Both have at least one step.
double shapelet_distance(std::span<const float> shapelet, std::span<const float> series);

}  // namespace modewise::models
