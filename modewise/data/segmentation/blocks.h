#pragma once
// Spatial block split of one scene into training, validation and test, with an unused strip between blocks of
// different splits: training pixels are at least `guard` pixels from evaluated ones.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "modewise/data/segmentation/raster.h"

namespace modewise::data {

enum class SceneSplit { train = 0, validation = 1, test = 2 };

struct BlockSplit {
  int64_t rows = 0, columns = 0;
  std::vector<SceneSplit> assignment;           // split of each block, row-major
  std::array<std::vector<PixelRect>, 3> areas;  // by split, without the guard
};

struct BlockRequest {
  int64_t height = 0, width = 0;
  int64_t rows = 0, columns = 0;  // of the grid; 0: from `window`
  int64_t window = 64;
  double validation = 0.15, test = 0.15;
  int64_t guard = 4;
  uint64_t seed = 0;
  std::string source;
};

/// The default grid: block sides from one window with its guards to four windows.
std::pair<int64_t, int64_t> chosen_grid(const BlockRequest& request);
/// Block (row, column) of the grid, including the guard.
PixelRect block_area(const BlockRequest& request, int64_t row, int64_t column);

/// Splits request.rows × request.columns blocks at random, at least one block per split (none for a fraction
/// of 0). The most class-balanced of 256 random splits is used; `histograms` has the pixels by class of each
/// block ([blocks][classes]; empty: the first random split is used). The guard is removed from training
/// blocks, and from validation blocks next to test blocks. Errors (data): fewer blocks than splits, or a
/// block without pixels outside the guard.
BlockSplit split_blocks(const BlockRequest& request, const std::vector<std::vector<int64_t>>& histograms);

}  // namespace modewise::data
