#pragma once
// Standardisation of each series by its training rows, as sklearn's StandardScaler does it.

#include <ATen/core/Tensor.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/splits.h"

namespace modewise::data {

struct Scaler {
  at::Tensor mean, stddev;  // [N_1…N_j] float64; deviation has ddof 0, and is 1 where a series is constant
  std::vector<std::string> notes;  // series that are constant or never observed in the rows fitted

  /// Statistics of the observed cells of `range`.
  static Scaler fit(const Series& series, SplitRange range);
  /// Leaves every value as it is.
  static Scaler identity(const Series& series);

  /// (x − mean) / deviation as contiguous float32 [T, N_1…N_j], 0 where missing. Data error with the place of
  /// a cell that float32 cannot hold then.
  at::Tensor transform(const Series& series) const;
  /// x · deviation + mean in float64; `x` is [A…, N_1…N_j, C…] with the modes beginning at axis `mode_axis`.
  at::Tensor inverse(const at::Tensor& x, int64_t mode_axis) const;

  nlohmann::json to_json() const;
  /// Data error naming `source` when the JSON is not a scaler's.
  static Scaler from_json(const nlohmann::json& json, const std::string& source);
};

}  // namespace modewise::data
