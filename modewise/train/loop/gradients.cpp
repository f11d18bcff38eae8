#include "modewise/train/loop/gradients.h"

#include <cmath>
#include <vector>

#include "modewise/ops/pairwise_sum.h"
#include "modewise/ops/training/sum_of_squares.h"

namespace modewise::train {

double sum_of_squares(const at::Tensor& x) {
  return ops::sum_of_squares(x).item<double>();
}

double gradient_norm(std::span<const NamedTensor> parameters) {
  std::vector<double> sums;
  for (const NamedTensor& parameter : parameters)
    if (parameter.tensor.grad().defined()) sums.push_back(sum_of_squares(parameter.tensor.grad()));
  return std::sqrt(ops::pairwise_sum(sums));
}

std::string first_not_finite(std::span<const NamedTensor> parameters, bool values) {
  for (const NamedTensor& parameter : parameters) {
    const at::Tensor& tensor = values ? parameter.tensor : parameter.tensor.grad();
    // Σ x² of float32 values cannot overflow float64, so it is finite exactly if every element is; a float64
    // tensor with elements above 1e150 also counts as diverged.
    if (tensor.defined() && !std::isfinite(sum_of_squares(tensor.detach()))) return parameter.name;
  }
  return "";
}

}  // namespace modewise::train
