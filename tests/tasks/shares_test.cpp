// Distributed results equal those of a single process: for each task the evaluation from shares of the
// samples, and the loss from shards of a batch.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>

#include "modewise/tasks/classification/class_task.h"
#include "modewise/tasks/forecasting/run.h"
#include "modewise/tasks/language_modeling/run.h"
#include "modewise/tasks/segmentation/run.h"
#include "modewise/tasks/volume_classification/run.h"
#include "tests/data/segmentation/scene_files.h"
#include "tests/scratch_folder.h"

namespace modewise::tasks {
namespace {

void expect_evaluations_add_up(train::Task& task) {
  const at::NoGradGuard no_grad;
  task.set_training(false);
  const train::Metrics whole = train::evaluate(task), parts = train::evaluate(task, 4);
  ASSERT_EQ(parts.size(), whole.size());
  for (const auto& [name, value] : whole) {
    EXPECT_TRUE(std::isfinite(value)) << name;
    EXPECT_NEAR(parts.at(name), value, 1e-12 * std::abs(value)) << name;
  }
  for (const int64_t rank : {0, 1}) EXPECT_GT(task.sums({rank, 3}).abs().sum().item<double>(), 0);
}

/// In evaluation mode, without dropout.
void expect_losses_add_up(train::Task& task) {
  task.set_training(false);
  std::vector<int64_t> samples;
  for (int64_t i = 0; i < std::min<int64_t>(task.training_samples(), 6); ++i) samples.push_back(i);
  const double whole = task.loss(*task.load(samples), 1, 0).item<double>();
  const std::vector<double> counts = task.loss_counts(*task.load(samples));
  std::vector<double> counted(counts.size());
  double sum = 0;
  const size_t cut = samples.size() / 3 + 1;
  for (const auto part : {std::span(samples).first(cut), std::span(samples).subspan(cut)}) {
    const auto batch = task.load(part);
    const std::vector<double> own = task.loss_counts(*batch);
    for (size_t i = 0; i < own.size(); ++i) counted[i] += own[i];
    sum += task.loss_share(*batch, 1, 0, counts).item<double>();
  }
  EXPECT_EQ(counted, counts);
  EXPECT_NEAR(sum, whole, 2e-6 * std::abs(whole));
}

void expect_shares_add_up(train::Task& task) {
  expect_evaluations_add_up(task);
  expect_losses_add_up(task);
}

TEST(Shares, CoverAllSamplesOnce) {
  for (const int64_t n : {0, 1, 2, 5, 12})
    for (const int64_t size : {1, 2, 3, 7}) {
      int64_t next = 0;
      for (int64_t rank = 0; rank < size; ++rank) {
        const train::Share share{rank, size};
        EXPECT_EQ(share.first(n), next);
        next = share.last(n);
        EXPECT_LE(next - share.first(n), (n + size - 1) / size);
      }
      EXPECT_EQ(next, n);
    }
}

TEST(Shares, OfForecasts) {
  ForecastConfig config;
  config.data.simulate = "seasonal";
  config.data.simulate_rows = 400;
  config.model.use_model("dlinear");
  config.forecast.lookback = 24;
  config.forecast.horizons = {3, 7};
  config.forecast.loss = "quantile";
  config.forecast.evaluation_batch = 16;
  ForecastRun run(config);
  run.load({.training = true});
  run.make_model(Purpose::train);
  expect_shares_add_up(*run.task());
}

TEST(Shares, OfClasses) {
  data::VolumeSet set;
  for (int64_t i = 0; i < 17; ++i) {
    set.volumes.push_back(
        at::arange(512, at::kLong).mul(i + 1).remainder(251).to(at::kByte).view({8, 8, 8, 1}));
    set.labels.push_back(i % 2);
    set.names.push_back(std::to_string(i));
    (i < 6 ? set.train : set.validation).push_back(i);
  }
  set.classes = {"a", "b"};
  set.valid.resize(17);
  set.scales.assign(17, {at::zeros({1}), at::zeros({1}).add(255), false});
  VolumeClassificationRun run;
  run.config.model.width = run.config.model.hidden = 16;
  run.config.model.heads = 2;
  run.config.classify.evaluation_batch = 2;
  run.take(std::move(set));
  run.make_model(Purpose::train);
  ClassTask task(run);
  expect_shares_add_up(task);
}

LanguageModelingConfig small_language() {
  LanguageModelingConfig config;
  config.model.width = config.model.hidden = 16;
  config.model.layers = 1;
  config.model.heads = config.model.kv_heads = 2;
  config.model.context = 16;
  config.language.evaluation_batch = 2;
  return config;
}

TEST(Shares, OfText) {
  const ScratchFolder folder;
  std::string text;
  for (int i = 0; i < 300; ++i) text += std::to_string(i * i) + " squares\n";
  LanguageModelingConfig config = small_language();
  config.data.path = folder.write("text.txt", text);
  for (const int64_t maximum : {0, 64}) {  // with and without the shorter window at the end
    config.language.validation_tokens = maximum;
    LanguageModelingRun run(config);
    run.load({.training = true});
    run.make_model(Purpose::train);
    expect_shares_add_up(*run.task());
  }
}

TEST(Shares, OfRecall) {
  LanguageModelingConfig config = small_language();
  config.data.path = "recall";
  config.data.recall.pairs = {3};
  config.data.recall.length = config.model.context;
  config.data.recall.held_back = 7;
  LanguageModelingRun run(config);
  run.load({.training = true});
  run.make_model(Purpose::train);
  expect_evaluations_add_up(*run.task());  // each load makes new samples
}

TEST(Shares, OfAreas) {
  const ScratchFolder folder;
  for (int i = 0; i < 10; ++i) {
    const std::string name = fmt::format("{}.npy", i);
    data::write_image(folder, "images/" + name, 32, 32, 2);
    data::write_mask(folder, "masks/" + name, 32, 32, [&](int64_t r, int64_t c) { return (r + i * c) % 2; });
  }
  SegmentationConfig config;
  config.data = data::plain(folder.path("images"), folder.path("masks"));
  config.data.validation = 0.5;
  config.data.test = 0;
  config.data.window = 32;
  config.data.augment.flips = config.data.augment.rotations =
      false;  // they depend on the position in the batch
  config.model.use_model("unet");
  SegmentationRun run(config);
  run.load({.training = true});
  run.make_model(Purpose::train);
  expect_shares_add_up(*run.task());
}

}  // namespace
}  // namespace modewise::tasks
