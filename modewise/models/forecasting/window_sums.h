#pragma once
// Sums and products over all windows of a series, whose rows are shared by so many of them that no window is
// ever cut.

#include <cstdint>
#include <span>
#include <vector>

namespace modewise::models {

/// Of n windows of W rows z: n, Σ z [W] and Σ z zᵀ [W, W].
struct WindowSums {
  explicit WindowSums(int64_t size);

  /// Adds the windows of `rows` that begin at `starts` (ascending). From one entry of a diagonal of Σ z zᵀ to
  /// the next, and from one of Σ z, only the row that leaves and the row that comes differ while windows
  /// follow each other: n·W + W² operations in place of n·W².
  void add(std::span<const float> rows, std::span<const int64_t> starts);
  void add(const WindowSums& other);
  /// Each window less its own weighted mean wᵀz, weights [W] with a sum of 1.
  void centre(std::span<const double> weights);

  double product(int64_t i, int64_t j) const { return products[static_cast<size_t>(i * size + j)]; }

  int64_t size;
  double count = 0;
  std::vector<double> sums, products;
};

}  // namespace modewise::models
