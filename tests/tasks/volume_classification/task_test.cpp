// Classification loss against libtorch, and the task's batches.

#include "modewise/tasks/classification/class_task.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include "modewise/tasks/classification/class_loss.h"
#include "modewise/tasks/volume_classification/run.h"
#include "modewise/train/distributed/thread_check.h"

namespace modewise::tasks {
namespace {

TEST(CrossEntropy, AgreesWithLibtorchWithWeightsAndSmoothing) {
  const at::Tensor logits = at::arange(35, at::kDouble).mul(1.7).sin().mul(3).view({7, 5});
  const at::Tensor labels = at::tensor(std::vector<int64_t>{0, 4, 2, 2, 1, 3, 4}, at::kLong);
  const at::Tensor weights = at::tensor(std::vector<double>{0.5, 2, 1, 3, 0.25}, at::kDouble);
  for (const double smoothing : {0.0, 0.1, 0.7})
    for (const at::Tensor& w : {at::Tensor(), weights}) {
      const std::optional<at::Tensor> given = w.defined() ? std::optional(w) : std::nullopt;
      const at::Tensor wanted = at::cross_entropy_loss(logits, labels, given, 1, -100, smoothing);
      EXPECT_NEAR(cross_entropy(logits, labels, w, smoothing).item<double>(), wanted.item<double>(), 1e-14)
          << smoothing;
    }
}

TEST(BalancedWeights, GiveEachClassTheSameWeightInAll) {
  EXPECT_THAT(balanced_weights({30, 10, 0}),
              testing::ElementsAre(testing::DoubleEq(40.0 / 90), testing::DoubleEq(40.0 / 30), 0));
}

/// 12 volumes of 8³ bytes in two classes.
data::VolumeSet small_set() {
  data::VolumeSet set;
  for (int64_t i = 0; i < 12; ++i) {
    set.volumes.push_back(
        at::arange(512, at::kLong).mul(i + 1).remainder(251).to(at::kByte).view({8, 8, 8, 1}));
    set.labels.push_back(i % 2);
    set.names.push_back(std::to_string(i));
    (i < 8 ? set.train : set.validation).push_back(i);
  }
  set.classes = {"a", "b"};
  set.valid.resize(12);
  set.scales.assign(12, {at::zeros({1}), at::zeros({1}).add(255), false});
  return set;
}

VolumeClassificationRun noisy_run(const std::string& precision = "float32") {
  VolumeClassificationRun run;
  VolumeClassificationConfig& config = run.config;
  config.model.width = config.model.hidden = 16;
  config.model.heads = 2;
  config.augment.flips = {0, 1};
  config.augment.noise = 0.1;
  config.classify.mixup = 0.4;
  config.classify.class_weights = "balanced";
  config.model.precision = precision;
  run.take(small_set());
  return run;
}

TEST(ClassifyTask, TrainsWithTheSameBitsForAnyNumberOfThreads) {
  for (const char* precision : {"float32", "bf16"}) {
    VolumeClassificationRun run = noisy_run(precision);
    run.make_model(Purpose::train);
    ClassTask task(run);
    const std::vector<int64_t> samples = {0, 3, 5, 6, 7};
    EXPECT_EQ(train::thread_dependence(task, samples, 3), "") << precision;
  }
}

TEST(ClassifyTask, AugmentsABatchByItsNumberAndEvaluatesWithoutAugmentation) {
  VolumeClassificationRun run = noisy_run();
  run.make_model(Purpose::train);
  ClassTask task(run);
  const std::vector<int64_t> samples = {0, 1, 2};
  const auto loss = [&](int64_t number) {
    return task.loss(*task.load_batch(samples, number), 1, 0).item<double>();
  };
  EXPECT_EQ(loss(4), loss(4));
  EXPECT_NE(loss(4), loss(5));
  task.module().eval();
  const train::Metrics first = train::evaluate(task);
  EXPECT_TRUE(first == train::evaluate(task));
  EXPECT_TRUE(first.find("val_auc").has_value());
  EXPECT_EQ(task.criterion().metric, "val_auc");
  EXPECT_FALSE(task.criterion().lower_is_better);
}

}  // namespace
}  // namespace modewise::tasks
