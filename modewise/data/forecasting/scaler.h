#pragma once
// Standardization of each series by its training rows, like sklearn's StandardScaler.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/splits.h"

namespace modewise::data {

struct Scaler {
  at::Tensor mean, stddev;         // [N_1…N_j] float64; std with ddof 0, 1 for constant series
  std::vector<std::string> notes;  // constant or never observed series
  std::vector<int64_t> left_out;   // series observed only after the training rows, which have no scale

  /// Fits mean and std to the observed cells of `range`.
  static Scaler fit(const Series& series, SplitRange range);
  /// The identity: mean 0, std 1.
  static Scaler identity(const Series& series);

  /// (x − mean) / std as contiguous float32 [T, N_1…N_j], 0 where missing. Data error with the location of a
  /// cell that overflows float32.
  at::Tensor transform(const Series& series) const;
  /// x · std + mean in float64; `x` is [A…, N_1…N_j, C…] with the modes beginning at axis `mode_axis`.
  at::Tensor inverse(const at::Tensor& x, int64_t mode_axis) const;

  nlohmann::json to_json() const;
  /// Data error naming `source` if the JSON is not a scaler.
  static Scaler from_json(const nlohmann::json& json, const std::string& source);
};

/// Masks all cells of the series `left_out`. Returns a sentence for each.
std::vector<std::string> leave_out(Series& series, const std::vector<int64_t>& left_out);

}  // namespace modewise::data
