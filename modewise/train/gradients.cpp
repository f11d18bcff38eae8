#include "modewise/train/gradients.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace modewise::train {
namespace {

constexpr int64_t kBlock = 4096;
constexpr int64_t kLanes = 8;

template <class T>
double block_sum(const T* x, int64_t n) {
  std::array<double, kLanes> lanes{};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const double v = static_cast<double>(x[i + lane]);
      lanes[static_cast<size_t>(lane)] += v * v;
    }
  for (; i < n; ++i)
    lanes[static_cast<size_t>(i % kLanes)] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  for (size_t half = kLanes / 2; half > 0; half /= 2)
    for (size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

double pairwise_sum(std::span<const double> values) {
  if (values.empty()) return 0;
  if (values.size() == 1) return values[0];
  const size_t half = values.size() / 2;
  return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
}

}  // namespace

double sum_of_squares(const at::Tensor& x) {
  const at::Tensor flat = x.contiguous();
  const int64_t n = flat.numel(), blocks = (n + kBlock - 1) / kBlock;
  std::vector<double> sums(static_cast<size_t>(blocks));
  AT_DISPATCH_FLOATING_TYPES(flat.scalar_type(), "sum_of_squares", [&] {
    const scalar_t* data = flat.const_data_ptr<scalar_t>();
    at::parallel_for(0, blocks, 8, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        sums[static_cast<size_t>(b)] = block_sum(data + b * kBlock, std::min(kBlock, n - b * kBlock));
    });
  });
  return pairwise_sum(sums);
}

double gradient_norm(std::span<const NamedTensor> parameters) {
  std::vector<double> sums;
  for (const NamedTensor& parameter : parameters)
    if (parameter.tensor.grad().defined()) sums.push_back(sum_of_squares(parameter.tensor.grad()));
  return std::sqrt(pairwise_sum(sums));
}

std::string first_not_finite(std::span<const NamedTensor> parameters, bool values) {
  for (const NamedTensor& parameter : parameters) {
    const at::Tensor& tensor = values ? parameter.tensor : parameter.tensor.grad();
    // Σ x² of float32 values in float64 cannot overflow, so it is finite exactly when every element is; a
    // float64 tensor with elements above 1e150 counts as diverged, too.
    if (tensor.defined() && !std::isfinite(sum_of_squares(tensor.detach()))) return parameter.name;
  }
  return "";
}

}  // namespace modewise::train
