#pragma once
// Sums and Gram matrix over all sliding windows of a series, computed without materializing the windows.

#include <cstdint>
#include <span>
#include <vector>

namespace modewise::models {

/// For n windows of W rows z: n, Σ z [W] and Σ z zᵀ [W, W].
struct WindowSums {
  explicit WindowSums(int64_t size);

  /// Adds the windows of `rows` that begin at `starts` (ascending). For consecutive windows, neighbouring
  /// entries on a diagonal of Σ z zᵀ (and of Σ z) differ only in the entering and the leaving row: n·W + W²
  /// operations instead of n·W².
  void add(std::span<const float> rows, std::span<const int64_t> starts);
  void add(const WindowSums& other);
  /// Subtracts from each window its weighted mean wᵀz; weights [W] sum to 1.
  void centre(std::span<const double> weights);

  double product(int64_t i, int64_t j) const { return products[static_cast<size_t>(i * size + j)]; }

  int64_t size;
  double count = 0;
  std::vector<double> sums, products;
};

}  // namespace modewise::models
