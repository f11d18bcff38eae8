#pragma once
// JSON numbers: null for NaN and infinity, which JSON does not have.

#include <cmath>
#include <nlohmann/json.hpp>

namespace modewise::metrics {

inline nlohmann::ordered_json finite_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace modewise::metrics
