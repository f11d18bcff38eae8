// im2col windows of a convolution kernel.

#include "modewise/ops/cpu/windows.h"

#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include <vector>

namespace modewise::ops {
namespace {

at::Tensor counted(std::vector<int64_t> sizes) {
  int64_t all = 1;
  for (const int64_t n : sizes) all *= n;
  return at::arange(1, all + 1, at::kFloat).view(sizes);
}

/// Element (row, column) of the matrix, computed from x by the definition in the header, and whether a tap of
/// an outer mode is outside the tensor.
struct Seen {
  float value;
  bool outside;
};
Seen seen(const at::Tensor& x, const std::vector<ModeWindows>& modes, int64_t row, int64_t column) {
  const int64_t channels = x.size(-1);
  int64_t tap = column / channels;
  at::Tensor cell = x;
  std::vector<int64_t> cells(modes.size());
  bool inside = true, outside = false;
  for (size_t i = modes.size(); i-- > 0;) {
    const ModeWindows& mode = modes[i];
    cells[i] = mode.first + row % mode.positions * mode.step + tap % mode.taps * mode.tap_step;
    const bool here = cells[i] >= 0 && cells[i] < x.sizes()[i + 1];
    inside = inside && here;
    outside = outside || (!here && i + 1 < modes.size());
    row /= mode.positions;
    tap /= mode.taps;
  }
  if (!inside) return {0, outside};
  cell = cell[row];
  for (const int64_t at : cells) cell = cell[at];
  return {cell[column % channels].item<float>(), outside};
}

void expect_seen(const at::Tensor& x, const std::vector<ModeWindows>& modes) {
  std::vector<Padding> padding;
  int64_t rows = x.size(0), depth = x.size(-1);
  for (size_t i = 0; i < modes.size(); ++i) {
    padding.push_back(Padding::of(modes[i], x.sizes()[i + 1]));
    rows *= modes[i].positions;
    depth *= modes[i].taps;
  }
  const PaddedCells padded(x, padding);
  const Windows windows(padded, modes);
  const LinedMatrix& matrix = windows.matrix();
  ASSERT_EQ(windows.depth(), depth);
  const auto* at = static_cast<const float*>(matrix.at);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < depth; ++column) {
      const Seen wanted = seen(x, modes, row, column);
      ASSERT_EQ(at[matrix.row_at(row) + matrix.column_at(column)], wanted.value) << row << " " << column;
      const int64_t run = column / matrix.run;
      if (run < 64) {
        ASSERT_EQ((matrix.zero_runs[row / matrix.line] >> run & 1) != 0, wanted.outside) << row << " " << run;
      }
    }
}

TEST(Windows, SeeTheCellsOfTheTapsAndZerosBeyondTheEdge) {
  for (const int64_t channels : {1, 3, 20}) {
    const at::Tensor x = counted({2, 4, 3, 5, channels});
    const ModeWindows whole{4, 3, -1, 1, 1}, second{2, 2, -1, 2, 2}, far{2, 1, 2, 1, 1};
    expect_seen(x, {whole, {3, 3, -1, 1, 1}, {5, 3, -1, 1, 1}});
    expect_seen(x, {second, far, {3, 2, 0, 2, 1}});               // last mode without leading padding
    expect_seen(x, {second, {1, 1, 1, 1, 1}, {2, 3, -2, 3, 2}});  // every other cell of the last mode
    expect_seen(x, {{5, 1, -1, 1, 1}, {4, 2, -2, 2, 1}, {1, 5, 0, 1, 1}});
  }
  expect_seen(counted({3, 7, 2}), {{7, 5, -2, 1, 1}});
}

// Runs beyond the 64 bits of a word are not flagged as zero.
TEST(Windows, OfManyTaps) {
  expect_seen(counted({1, 3, 3, 2, 1}), {{3, 9, -4, 1, 1}, {3, 9, -4, 1, 1}, {2, 3, -1, 1, 1}});
  expect_seen(counted({1, 3, 4, 1}), {{3, 9, -4, 1, 1}, {4, 9, -8, 1, 2}});
}

TEST(Windows, ThatSeeTheCellOfTheSamePlaceAreDense) {
  const at::Tensor x = counted({2, 3, 4, 5});
  const PaddedCells cells(x, {{}, {}});
  const ModeWindows three{3, 1, 0, 1, 1}, four{4, 1, 0, 1, 1};
  const Windows same(cells, {three, four});
  ASSERT_TRUE(same.dense().defined());
  EXPECT_EQ(same.dense().sizes(), (std::vector<int64_t>{24, 5}));
  EXPECT_EQ(same.dense().const_data_ptr(), x.const_data_ptr());
  EXPECT_FALSE(Windows(cells, {three, {2, 1, 0, 2, 1}}).dense().defined());  // every other cell
  EXPECT_FALSE(Windows(cells, {three, {3, 1, 0, 1, 1}}).dense().defined());  // the last cell is not read
  EXPECT_FALSE(Windows(cells, {three, {3, 1, 1, 1, 1}}).dense().defined());  // the first cell is not read
  EXPECT_FALSE(Windows(cells, {{2, 2, 0, 1, 1}, four}).dense().defined());   // two taps
}

TEST(Windows, ThatSeeNothingBeyondTheEdgeCopyNothing) {
  const at::Tensor x = counted({2, 4, 5, 3});
  const PaddedCells plain(x, {Padding::of({2, 1, 0, 2, 1}, 4), Padding::of({3, 3, 0, 1, 1}, 5)});
  EXPECT_EQ(plain.cells().const_data_ptr(), x.const_data_ptr());
  const PaddedCells padded(x, {Padding::of({2, 1, 0, 2, 1}, 4), Padding::of({3, 3, -1, 1, 1}, 5)});
  EXPECT_EQ(padded.cells().sizes(), (std::vector<int64_t>{2, 4, 6, 3}));
  EXPECT_EQ(padded.padding(1).before, 1);
  EXPECT_EQ(padded.padding(1).behind, 0);
}

}  // namespace
}  // namespace modewise::ops
