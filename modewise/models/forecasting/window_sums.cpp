#include "modewise/models/forecasting/window_sums.h"

#include <ATen/Parallel.h>

#include <numeric>

namespace modewise::models {
namespace {

/// A run of consecutive windows that start at `first`, first + 1, ….
struct Run {
  int64_t first, count;
};

std::vector<Run> runs_of(std::span<const int64_t> starts) {
  std::vector<Run> runs;
  for (const int64_t start : starts) {
    if (!runs.empty() && start == runs.back().first + runs.back().count)
      ++runs.back().count;
    else
      runs.push_back({start, 1});
  }
  return runs;
}

}  // namespace

WindowSums::WindowSums(int64_t rows)
    : size(rows), sums(static_cast<size_t>(rows)), products(static_cast<size_t>(rows * rows)) {}

void WindowSums::add(std::span<const float> rows, std::span<const int64_t> starts) {
  const std::vector<Run> runs = runs_of(starts);
  const float* x = rows.data();
  count += static_cast<double>(starts.size());
  for (const Run& run : runs) {
    double sum = std::accumulate(x + run.first, x + run.first + run.count, 0.0);
    for (int64_t i = 0; i < size; ++i) {
      sums[static_cast<size_t>(i)] += sum;
      if (i + 1 < size)
        sum += static_cast<double>(x[run.first + i + run.count]) - static_cast<double>(x[run.first + i]);
    }
  }
  // One thread writes each diagonal and its transpose.
  at::parallel_for(0, size, 1, [&](int64_t begin, int64_t end) {
    for (int64_t lag = begin; lag < end; ++lag)
      for (const Run& run : runs) {
        const float *left = x + run.first, *right = left + lag;
        const auto product = [&](int64_t t) {
          return static_cast<double>(left[t]) * static_cast<double>(right[t]);
        };
        double sum = 0;
        for (int64_t t = 0; t < run.count; ++t) sum += product(t);
        for (int64_t i = 0; i + lag < size; ++i) {
          const int64_t j = i + lag;
          products[static_cast<size_t>(i * size + j)] += sum;
          if (lag > 0) products[static_cast<size_t>(j * size + i)] += sum;
          if (j + 1 < size) sum += product(i + run.count) - product(i);
        }
      }
  });
}

void WindowSums::add(const WindowSums& other) {
  count += other.count;
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += other.sums[i];
  for (size_t i = 0; i < products.size(); ++i) products[i] += other.products[i];
}

void WindowSums::centre(std::span<const double> weights) {
  const auto n = static_cast<size_t>(size);
  std::vector<double> weighted(n);  // Σ z (wᵀz)
  for (size_t i = 0; i < n; ++i)
    weighted[i] = std::inner_product(weights.begin(), weights.end(), products.data() + i * n, 0.0);
  const double square = std::inner_product(weights.begin(), weights.end(), weighted.begin(), 0.0);
  const double sum = std::inner_product(weights.begin(), weights.end(), sums.begin(), 0.0);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) products[i * n + j] += square - weighted[i] - weighted[j];
  for (double& one : sums) one -= sum;
}

}  // namespace modewise::models
