// Training of series classifiers: bit-exact for any number of threads, augmentation by batch.

#include <gmock/gmock.h>

#include "modewise/tasks/classification/class_task.h"
#include "modewise/tasks/series_classification/run.h"
#include "modewise/train/distributed/thread_check.h"

namespace modewise::tasks {
namespace {

/// 8 training samples of motifs in 4 classes; some are truncated if `padded`.
data::SeriesCollection small_collection(bool padded) {
  data::CollectionConfig config;
  config.path = "motifs";
  config.motifs.samples = 16;
  config.motifs.steps = 67;
  config.motifs.variables = 3;
  data::SeriesCollection set = data::load_collection(config);
  if (!padded) return set;
  data::SeriesSamples samples;
  for (size_t i = 0; i < set.samples.size(); ++i) {
    const int64_t steps = i % 3 == 0 ? 31 + static_cast<int64_t>(i) : set.samples.steps(i);
    samples.push_back(set.samples[i].narrow(1, 0, steps).contiguous());
  }
  set.samples = samples;
  return set;
}

SeriesClassificationRun noisy(std::vector<std::string> settings, bool padded) {
  settings.insert(settings.end(),
                  {"augment.noise=0.1", "augment.shift=3", "augment.erase=0.3", "classify.mixup=0.4",
                   "classify.class_weights=balanced", "classify.label_smoothing=0.1"});
  SeriesClassificationRun run(load_config<SeriesClassificationConfig>({"", settings}));
  run.take(small_collection(padded));
  return run;
}

TEST(SeriesTask, TrainsWithTheSameBitsForAnyNumberOfThreads) {
  const std::vector<std::string> patches = {"model.width=16", "model.hidden=24", "model.patch.length=4",
                                            "model.patch.stride=2"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), patches.begin(), patches.end());
    return more;
  };
  for (const std::vector<std::string>& settings :
       {patches, with({"model.precision=bf16", "model.attention.type=axial"}),
        with({"model.attention.type=axial", "model.patch.channels=independent"}),
        with({"model.attention.type=summary", "model.attention.summary_tokens=2"}),
        std::vector<std::string>{"model.name=dlinear"},
        std::vector<std::string>{"model.name=tcn", "model.convolution.width=8"},
        std::vector<std::string>{"model.name=resnet", "model.convolution.width=8"}})
    for (const bool padded : {false, true}) {
      SeriesClassificationRun run = noisy(settings, padded);
      run.make_model(Purpose::train);
      ClassTask task(run);
      const std::vector<int64_t> samples = {0, 3, 5, 6, 7};
      EXPECT_EQ(train::thread_dependence(task, samples, 2), "")
          << testing::PrintToString(settings) << (padded ? " padded" : "");
    }
}

TEST(SeriesTask, TrainsPooledAttentionWithTheSameBits) {
  SeriesClassificationRun run =
      noisy({"model.attention.type=pooled", "model.patch.length=4", "model.patch.stride=4"}, false);
  run.make_model(Purpose::train);
  ClassTask task(run);
  EXPECT_EQ(train::thread_dependence(task, std::vector<int64_t>{1, 2, 3}, 2), "");
}

TEST(SeriesTask, AugmentsABatchByItsNumberAndEvaluatesWithoutAugmentation) {
  SeriesClassificationRun run = noisy({}, true);
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
  EXPECT_EQ(task.criterion().metric, "val_loss");
  EXPECT_TRUE(task.criterion().lower_is_better);
}

TEST(SeriesTask, NearestKnowsItsTrainingSamples) {
  SeriesClassificationRun run(load_config<SeriesClassificationConfig>({"", {"model.name=nearest"}}));
  run.take(small_collection(true));
  run.make_model(Purpose::train);
  ClassTask task(run);
  const metrics::ScoreTable table = score_samples(run, run.set().train);
  EXPECT_EQ(metrics::medmnist_accuracy(table), 1);
}

}  // namespace
}  // namespace modewise::tasks
