#pragma once

#include <vector>

namespace modewise::models {

/// A forecast of H steps of one series, and the standard deviation of its errors.
struct StepForecast {
  std::vector<double> mean, stddev;
};

}  // namespace modewise::models
