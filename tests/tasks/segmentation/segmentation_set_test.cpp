// Segmentation metrics against scikit-learn, loss against PyTorch, and sliding-window inference.

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/stop_signal.h"
#include "modewise/tasks/segmentation/task.h"
#include "modewise/tasks/segmentation/tiles.h"
#include "tests/train/thread_group.h"

namespace modewise::tasks {
namespace {

using nlohmann::json;

const json& vectors() {
  static const json all =
      json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/tasks/vectors/segment_metrics.json"));
  return all;
}

TEST(SegmentLoss, IsPyTorchsCrossEntropy) {
  const json& record = vectors()["loss"];
  const auto sizes = record["sizes"].get<std::vector<int64_t>>();
  const at::Tensor labels = at::tensor(record["labels"].get<std::vector<int64_t>>(), at::kLong)
                                .view({sizes[0], sizes[1], sizes[2]});
  const at::Tensor weights = at::tensor(record["weights"].get<std::vector<double>>(), at::kDouble);
  for (const char* name : {"plain", "weighted"}) {
    const at::Tensor logits = at::tensor(record["logits"].get<std::vector<double>>(), at::kDouble)
                                  .view(sizes)
                                  .clone()
                                  .requires_grad_();
    const at::Tensor loss =
        segment_loss(logits, labels, std::string(name) == "plain" ? at::Tensor() : weights);
    EXPECT_NEAR(loss.item<double>(), record[name]["loss"].get<double>(), 1e-12);
    loss.backward();
    const auto gradient = record[name]["gradient"].get<std::vector<double>>();
    for (size_t i = 0; i < gradient.size(); ++i)
      EXPECT_NEAR(logits.grad().flatten()[static_cast<int64_t>(i)].item<double>(), gradient[i], 1e-12);
  }
}

TEST(SegmentLoss, IsNothingWhereNothingIsLabelled) {
  const at::Tensor logits = at::zeros({1, 2, 2, 3}).requires_grad_();
  const at::Tensor loss = segment_loss(logits, at::zeros({1, 2, 2}, at::kLong).sub(1), {});
  EXPECT_EQ(loss.item<double>(), 0);
  loss.backward();
  EXPECT_EQ(logits.grad().abs().max().item<double>(), 0);
}

TEST(ClassWeights, AverageToOneOverTheTrainingPixels) {
  const std::vector<int64_t> pixels = {900, 90, 0, 10};
  for (const char* rule : {"balanced", "root"}) {
    const std::vector<double> weights = class_weights(rule, pixels);
    double sum = 0;
    for (size_t c = 0; c < pixels.size(); ++c) sum += weights[c] * static_cast<double>(pixels[c]);
    EXPECT_NEAR(sum, 1000, 1e-9);
    EXPECT_EQ(weights[2], 0);
    EXPECT_NEAR(weights[3] / weights[0], std::string(rule) == "balanced" ? 90 : std::sqrt(90), 1e-9);
  }
  EXPECT_TRUE(class_weights("none", pixels).empty());
}

/// Logits that depend only on the pixel: band 0, and 1 − band 0.
class PointwiseModel : public models::Segmenter {
 public:
  explicit PointwiseModel(int64_t window) : Segmenter({1, 1, 2, window, false}) {}
  at::Tensor forward(const models::SegmentationInput& input) override {
    const at::Tensor band = checked_image(input).squeeze(1);
    largest_batch = std::max(largest_batch, band.size(0));
    return at::cat({band, 1 - band}, -1);
  }
  int64_t largest_batch = 0;
};

/// The band of the second date has weight 2.
class TwoDateModel : public models::Segmenter {
 public:
  explicit TwoDateModel(int64_t window) : Segmenter({2, 1, 2, window, true}) {}
  at::Tensor forward(const models::SegmentationInput& input) override {
    const at::Tensor image = checked_image(input).narrow(-1, 0, 1);  // followed by its validity
    const at::Tensor band = image.select(1, 0) + 2 * image.select(1, 1);
    return at::cat({band, 1 - band}, -1);
  }
};

float value_at(int64_t row, int64_t column) {
  return static_cast<float>((row * 31 + column * 17) % 101) / 101;
}

TEST(SegmentTiles, BlendWindowsOfAnAreaOfAnySize) {
  for (const auto& [height, width] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {7, 33}, {8, 8}, {9, 5}, {17, 8}, {31, 65}, {64, 63}})
    for (const double overlap : {0.0, 0.25, 0.5}) {
      PointwiseModel model(8);
      const data::PixelRect area{3, 5, height, width};
      int64_t next = 0;
      classify_area(
          model, area, {overlap, 3},
          [&, w = width, h = height](const data::PixelRect& part) {
            EXPECT_GE(part.row, 3);
            EXPECT_GE(part.column, 5);
            EXPECT_LE(part.row + part.height, 3 + h);
            EXPECT_LE(part.column + part.width, 5 + w);
            data::SceneWindow window(1, part.height, part.width, 1, false);
            for (int64_t row = 0; row < part.height; ++row)
              for (int64_t column = 0; column < part.width; ++column) {
                const auto pixel = static_cast<size_t>(row * part.width + column);
                window.image[pixel] = value_at(part.row + row, part.column + column);
                window.valid[pixel] = (part.row + row) % 5 != 2;
                if (window.valid[pixel] == 0) window.image[pixel] = 0;
              }
            return window;
          },
          [&, w = width](const FinishedRows& rows) {
            EXPECT_EQ(rows.first_row, next);
            next += rows.rows;
            ASSERT_EQ(std::ssize(rows.logits), rows.rows * w * 2);
            for (int64_t i = 0; i < rows.rows * w; ++i) {
              const int64_t row = 3 + rows.first_row + i / w, column = 5 + i % w;
              EXPECT_EQ(rows.valid[static_cast<size_t>(i)], row % 5 != 2);
              if (row % 5 == 2) continue;
              EXPECT_NEAR(rows.logits[static_cast<size_t>(2 * i)], value_at(row, column), 1e-6);
              EXPECT_NEAR(rows.logits[static_cast<size_t>(2 * i + 1)], 1 - value_at(row, column), 1e-6);
            }
          });
      EXPECT_EQ(next, height);
      EXPECT_LE(model.largest_batch, 3);
    }
}

TEST(SegmentTiles, HaveTheSameBitsForAnyNumberOfProcesses) {
  const data::PixelRect area{2, 1, 45, 37};
  const auto read = [](const data::PixelRect& part) {
    data::SceneWindow window(2, part.height, part.width, 1, false);
    for (int64_t i = 0; i < part.pixels(); ++i) {
      const int64_t row = part.row + i / part.width, column = part.column + i % part.width;
      // Whole windows without data; and a date with data where the other has none.
      const std::array valid = {row > 20 && column<25, row> 15 && column < 25 && column % 3 == 0};
      for (const int64_t date : {0, 1}) {
        const auto pixel = static_cast<size_t>(date * part.pixels() + i);
        window.valid[pixel] = valid[static_cast<size_t>(date)] ? 1 : 0;
        window.image[pixel] = window.valid[pixel] != 0 ? value_at(row, column + date) : 0;
      }
    }
    return window;
  };
  struct Taken {
    std::vector<float> logits;
    std::vector<uint8_t> valid;
    std::vector<int64_t> first;
    bool operator==(const Taken&) const = default;
  };
  const auto classified = [&](int64_t size) {
    Taken taken;
    train::ThreadGroup(size).run([&](train::Workers& workers) {
      at::set_num_threads(1);
      TwoDateModel model(8);
      const auto take = [&](const FinishedRows& rows) {
        EXPECT_TRUE(workers.is_rank_zero());
        taken.first.push_back(rows.first_row);
        taken.logits.insert(taken.logits.end(), rows.logits.begin(), rows.logits.end());
        taken.valid.insert(taken.valid.end(), rows.valid.begin(), rows.valid.end());
      };
      classify_area(model, area, {0.3, 3}, read, take, workers);
    });
    return taken;
  };
  const Taken one = classified(1);
  ASSERT_EQ(std::ssize(one.valid), area.pixels());
  for (int64_t i = 0; i < area.pixels(); ++i) {
    const int64_t row = area.row + i / area.width, column = area.column + i % area.width;
    EXPECT_EQ(one.valid[static_cast<size_t>(i)] != 0,
              column < 25 && (row > 20 || (row > 15 && column % 3 == 0)));
  }
  for (const int64_t size : {2, 4}) EXPECT_TRUE(classified(size) == one) << size;
}

TEST(SegmentTiles, EndForTheSmallestWindowsAndTheLargestOverlap) {
  for (const int64_t window : {1, 2, 3})
    for (const double overlap : {0.75, 0.99}) {
      PointwiseModel model(window);
      int64_t rows = 0;
      classify_area(
          model, {0, 0, 5, 7}, {overlap, 4},
          [](const data::PixelRect& part) {
            data::SceneWindow read(1, part.height, part.width, 1, false);
            for (int64_t i = 0; i < part.pixels(); ++i) {
              read.image[static_cast<size_t>(i)] =
                  value_at(part.row + i / part.width, part.column + i % part.width);
              read.valid[static_cast<size_t>(i)] = 1;
            }
            return read;
          },
          [&](const FinishedRows& done) {
            ASSERT_EQ(done.first_row, rows);
            for (int64_t i = 0; i < done.rows * 7; ++i)
              EXPECT_NEAR(done.logits[static_cast<size_t>(2 * i)], value_at(rows + i / 7, i % 7), 1e-6);
            rows += done.rows;
          });
      EXPECT_EQ(rows, 5);
    }
}

TEST(SegmentTiles, SayWhatAnOverlapMustBe) {
  for (const double overlap : {1.0, -0.25, std::nan("")}) {
    PointwiseModel model(8);
    try {
      classify_area(
          model, {0, 0, 8, 8}, {overlap, 1}, [](const data::PixelRect&) { return data::SceneWindow(); },
          [](const FinishedRows&) {});
      FAIL() << overlap;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::config);
      EXPECT_THAT(error.what(), testing::HasSubstr("segment.overlap must be from 0 to below 1, got"));
    }
  }
}

TEST(SegmentTiles, StopAtASignal) {
  PointwiseModel model(8);
  set_stop_signal(15);
  const auto interrupted = [&] {
    try {
      classify_area(
          model, {0, 0, 8, 8}, {0, 1},
          [](const data::PixelRect& part) { return data::SceneWindow(1, part.height, part.width, 1, false); },
          [](const FinishedRows&) {});
    } catch (const train::EvaluationInterrupted&) {
      return true;
    }
    return false;
  };
  EXPECT_TRUE(interrupted());
  set_stop_signal(0);
}

TEST(SegmentTiles, NameTheHighestClass) {
  std::vector<int16_t> out(3);
  highest_classes(std::vector<float>{1, 2, 2, -1, -3, -2, 0, 0, 5}, 3, out);
  EXPECT_EQ(out, (std::vector<int16_t>{1, 0, 2}));
}

}  // namespace
}  // namespace modewise::tasks
