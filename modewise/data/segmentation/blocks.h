#pragma once
// One scene cut into blocks for training, validation and test, with a strip that nobody uses between blocks
// of different splits: what a model saw in training is never within `guard` pixels of what it is judged on.

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
  std::vector<SceneSplit> assignment;           // of each block, row-major
  std::array<std::vector<PixelRect>, 3> areas;  // by split, with the guard taken off
};

struct BlockRequest {
  int64_t height = 0, width = 0;
  int64_t rows = 0, columns = 0;  // of the grid; 0: chosen from `window`
  int64_t window = 64;
  double validation = 0.15, test = 0.15;
  int64_t guard = 4;
  uint64_t seed = 0;
  std::string source;
};

/// The grid that is chosen where none is asked for: blocks of a window and its guards to four windows a side.
std::pair<int64_t, int64_t> chosen_grid(const BlockRequest& request);
/// Block (row, column) of the grid, guard included.
PixelRect block_area(const BlockRequest& request, int64_t row, int64_t column);

/// Splits the grid of request.rows × request.columns blocks at random, at least one block a split (none for a
/// share of 0). Of 256 random splits it takes the one whose splits have the classes most evenly; `histograms`
/// holds pixels by class of each block ([blocks][classes]; empty: the first split is taken). The guard is
/// taken off the training blocks, and off the validation blocks where they meet test blocks. Errors (data):
/// fewer blocks than splits, or a block that the guard eats up.
BlockSplit split_blocks(const BlockRequest& request, const std::vector<std::vector<int64_t>>& histograms);

}  // namespace modewise::data
