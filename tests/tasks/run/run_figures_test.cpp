// Attention maps of reports: weights as they are, and downsampled above 160 positions.

#include "modewise/tasks/run/run_figures.h"

#include <ATen/ops/arange.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <variant>

namespace modewise::tasks {
namespace {

/// Two samples and three heads of n × n weights that all differ.
at::Tensor weights(int64_t n) {
  return at::arange(2 * 3 * n * n, at::kFloat).mul_(0x1p-20).view({2, 3, n, n});
}

TEST(AttentionFigure, IsDrawnWithEveryWeightUpTo160Positions) {
  const at::Tensor factor = weights(160);
  const report::Panels figure = attention_figure(factor, "Layer 1, time", {});
  EXPECT_EQ(figure.title, "Layer 1, time");
  ASSERT_EQ(figure.panels.size(), 3U);
  const auto& map = std::get<report::HeatMap>(figure.panels[2]);
  EXPECT_EQ(map.rows, 160);
  EXPECT_EQ(map.columns, 160);
  EXPECT_EQ(map.x_label, "attended");
  EXPECT_EQ(map.value_label, "weight");
  EXPECT_EQ(map.values[160 * 7 + 31], factor[0][2][7][31].item<double>());
}

TEST(AttentionFigure, HasMeansOverBlocksAbove160Positions) {
  for (const auto& [n, block, rows] : {std::array<int64_t, 3>{161, 2, 81}, {321, 3, 107}, {400, 3, 134}}) {
    const at::Tensor factor = weights(n);
    const report::Panels figure = attention_figure(factor, "Layer 1, variables", {"a", "b"});
    EXPECT_EQ(figure.title,
              fmt::format(
                  "Layer 1, variables, downsampled: means over blocks of {0} × {0} of its {1} × {1} weights",
                  block, n));
    for (int64_t head = 0; head < 3; ++head) {
      const auto& map = std::get<report::HeatMap>(figure.panels[static_cast<size_t>(head)]);
      EXPECT_EQ(map.rows, rows);
      EXPECT_EQ(map.columns, rows);
      EXPECT_EQ(map.x_label, fmt::format("attended, block of {}", block));
      EXPECT_EQ(map.value_label, "mean weight");
      EXPECT_TRUE(map.row_labels.empty());
      ASSERT_EQ(std::ssize(map.values), rows * rows);
      const at::Tensor wide = factor[0][head].to(at::kDouble);
      for (const int64_t row : {int64_t{0}, int64_t{17}, rows - 1})
        for (const int64_t column : {int64_t{0}, int64_t{33}, rows - 1}) {
          const auto part = [&](int64_t i) { return std::min((i + 1) * block, n) - i * block; };
          const double wanted = wide.narrow(0, row * block, part(row))
                                    .narrow(1, column * block, part(column))
                                    .mean()
                                    .item<double>();
          EXPECT_NEAR(map.values[static_cast<size_t>(row * rows + column)], wanted, 1e-12)
              << row << " " << column;
        }
    }
  }
}

}  // namespace
}  // namespace modewise::tasks
