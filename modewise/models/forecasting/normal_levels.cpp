#include "modewise/models/forecasting/normal_levels.h"

#include <ATen/ops/special_ndtri.h>
#include <ATen/ops/tensor.h>

namespace modewise::models {

std::vector<double> levels_of(const ForecastShape& shape) {
  if (!shape.levels.empty() || shape.quantiles == 0) return shape.levels;
  std::vector<double> levels;
  for (int64_t i = 1; i <= shape.quantiles; ++i)
    levels.push_back(static_cast<double>(i) / static_cast<double>(shape.quantiles + 1));
  return levels;
}

std::vector<double> normal_quantiles(const std::vector<double>& levels) {
  if (levels.empty()) return {};
  const at::Tensor normal = at::special_ndtri(at::tensor(levels, at::kDouble));
  return {normal.const_data_ptr<double>(), normal.const_data_ptr<double>() + normal.numel()};
}

}  // namespace modewise::models
