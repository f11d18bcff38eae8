#include "modewise/data/segmentation/blocks.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "modewise/core/error.h"
#include "modewise/core/random.h"

namespace modewise::data {
namespace {

constexpr uint64_t kTrials = 256;

/// Number of blocks of a split, at least one for a fraction above 0.
int64_t count_of(double share, int64_t blocks) {
  if (share == 0) return 0;
  return std::max<int64_t>(1, std::llround(share * static_cast<double>(blocks)));
}

std::vector<SceneSplit> random_assignment(int64_t blocks, int64_t validation, int64_t test,
                                          const RandomStream& stream) {
  const std::vector<int64_t> order = random_permutation(blocks, stream);
  std::vector<SceneSplit> assignment(static_cast<size_t>(blocks), SceneSplit::train);
  for (int64_t i = 0; i < validation + test; ++i)
    assignment[static_cast<size_t>(order[static_cast<size_t>(i)])] =
        i < test ? SceneSplit::test : SceneSplit::validation;
  return assignment;
}

/// Adds the pixels by class of a block to `counts`.
void add_pixels(const std::vector<int64_t>& histogram, std::vector<double>& counts) {
  for (size_t c = 0; c < counts.size(); ++c) counts[c] += static_cast<double>(histogram[c]);
}

/// Square root of the fraction of each class, which gives rare classes weight.
std::vector<double> root_fractions(std::vector<double> counts) {
  const double total = std::max(std::accumulate(counts.begin(), counts.end(), 0.0), 1.0);
  for (double& count : counts) count = std::sqrt(count / total);
  return counts;
}

/// Class imbalance of a split: Σ over splits and classes of |√fraction − √fraction in the scene|; `scene` has
/// the latter.
double unevenness(const std::vector<SceneSplit>& assignment,
                  const std::vector<std::vector<int64_t>>& histograms, const std::vector<double>& scene) {
  std::array<std::vector<double>, 3> counts;
  counts.fill(std::vector<double>(scene.size(), 0));
  for (size_t block = 0; block < assignment.size(); ++block)
    add_pixels(histograms[block], counts[static_cast<size_t>(assignment[block])]);
  double result = 0;
  for (const std::vector<double>& split : counts) {
    const std::vector<double> own = root_fractions(split);
    for (size_t c = 0; c < scene.size(); ++c) result += std::abs(own[c] - scene[c]);
  }
  return result;
}

int64_t border(int64_t length, int64_t parts, int64_t index) {
  return index * length / parts;
}

}  // namespace

std::pair<int64_t, int64_t> chosen_grid(const BlockRequest& request) {
  const double even = std::sqrt(static_cast<double>(request.height * request.width) / 36);
  const double side = std::max(static_cast<double>(request.window + 2 * request.guard),
                               std::min(even, 4.0 * static_cast<double>(request.window)));
  const auto parts = [&](int64_t length) {
    return std::clamp<int64_t>(static_cast<int64_t>(static_cast<double>(length) / side), 1, 1000);
  };
  std::pair<int64_t, int64_t> grid = {parts(request.height), parts(request.width)};
  while (grid.first * grid.second < 4) {  // at least four blocks, also for small scenes
    if (request.height / grid.first >= request.width / grid.second)
      ++grid.first;
    else
      ++grid.second;
  }
  return grid;
}

PixelRect block_area(const BlockRequest& request, int64_t row, int64_t column) {
  const int64_t top = border(request.height, request.rows, row),
                left = border(request.width, request.columns, column);
  return {top, left, border(request.height, request.rows, row + 1) - top,
          border(request.width, request.columns, column + 1) - left};
}

BlockSplit split_blocks(const BlockRequest& request, const std::vector<std::vector<int64_t>>& histograms) {
  const int64_t blocks = request.rows * request.columns;
  const int64_t test = count_of(request.test, blocks), validation = count_of(request.validation, blocks);
  require(test + validation < blocks, ErrorKind::data,
          "{}: {} × {} blocks are too few for training, {} validation and {} test blocks", request.source,
          request.rows, request.columns, validation, test);
  BlockSplit result;
  result.rows = request.rows;
  result.columns = request.columns;
  std::vector<double> scene(histograms.empty() ? 0 : histograms.front().size(), 0);
  for (const std::vector<int64_t>& histogram : histograms) add_pixels(histogram, scene);
  scene = root_fractions(std::move(scene));
  double best = 0;
  for (uint64_t trial = 0; trial < (histograms.empty() ? 1 : kTrials); ++trial) {
    auto assignment = random_assignment(blocks, validation, test, {request.seed, RandomSite::splits, trial});
    const double value = histograms.empty() ? 0 : unevenness(assignment, histograms, scene);
    if (trial == 0 || value < best) {
      best = value;
      result.assignment = std::move(assignment);
    }
  }
  for (int64_t row = 0; row < request.rows; ++row)
    for (int64_t column = 0; column < request.columns; ++column) {
      const SceneSplit own = result.assignment[static_cast<size_t>(row * request.columns + column)];
      // Whether the neighbour belongs to a later split, which needs a guard.
      const auto keeps_off = [&](int64_t r, int64_t c) {
        return r >= 0 && c >= 0 && r < request.rows &&
               c<request.columns&& static_cast<int>(
                   result.assignment[static_cast<size_t>(r * request.columns + c)])> static_cast<int>(own);
      };
      bool top = keeps_off(row - 1, column), bottom = keeps_off(row + 1, column);
      const bool left = keeps_off(row, column - 1), right = keeps_off(row, column + 1);
      // Diagonal neighbours, unless a side already has a guard.
      top = top || (keeps_off(row - 1, column - 1) && !left) || (keeps_off(row - 1, column + 1) && !right);
      bottom =
          bottom || (keeps_off(row + 1, column - 1) && !left) || (keeps_off(row + 1, column + 1) && !right);
      PixelRect area = block_area(request, row, column);
      const int64_t guard = request.guard;
      area.row += top ? guard : 0;
      area.height -= (top ? guard : 0) + (bottom ? guard : 0);
      area.column += left ? guard : 0;
      area.width -= (left ? guard : 0) + (right ? guard : 0);
      require(
          area.height > 0 && area.width > 0, ErrorKind::data,
          "{}: a guard of {} pixels leaves no pixel of the block at row {}, column {} of the {} × {} grid",
          request.source, guard, row, column, request.rows, request.columns);
      result.areas[static_cast<size_t>(own)].push_back(area);
    }
  return result;
}

}  // namespace modewise::data
