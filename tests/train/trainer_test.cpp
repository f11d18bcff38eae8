#include "modewise/train/loop/trainer.h"

#include <ATen/Parallel.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full_like.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/train/checkpoint/checkpoint.h"
#include "modewise/train/checkpoint/run_weights.h"
#include "modewise/train/checkpoint/tensor_file.h"
#include "modewise/train/distributed/thread_check.h"
#include "modewise/train/loop/sample_order.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"
#include "toy_task.h"
#include "trainer_fixture.h"

namespace modewise::train {
namespace {

/// One thread by default: the machine may be busy.
class OneThread : public testing::Environment {
  void SetUp() override { at::set_num_threads(1); }
};
[[maybe_unused]] const auto* const one_thread = testing::AddGlobalTestEnvironment(new OneThread);

TEST_F(TrainerTest, LearnsAndWritesALineAnEvaluation) {
  TrainConfig config = small_config();
  config.epochs = 10;
  const TrainResult result = train(config);
  EXPECT_EQ(result.reason, StopReason::finished);
  EXPECT_EQ(result.steps, 50);
  EXPECT_EQ(result.epochs, 10);
  const auto lines = run.read_metric_lines();
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_EQ(lines[0].at("step"), 5);
  EXPECT_EQ(lines[9].at("epoch"), 10.0);
  EXPECT_LT(lines[9].at("val_mse"), 0.7 * lines[0].at("val_mse").get<double>());
  EXPECT_LT(lines[9].at("train_loss"), lines[0].at("train_loss"));
  std::vector<std::string> keys;
  for (const auto& item : lines[0].items()) keys.push_back(item.key());
  EXPECT_THAT(keys, testing::ElementsAre("step", "epoch", "train_loss", "learning_rate", "val_mse", "val_mae",
                                         "best"));
  const auto metrics = run.read_metrics();
  EXPECT_EQ(metrics.at("stopped"), "finished");
  EXPECT_EQ(metrics.at("best").at("val_mse"), result.best.at("val_mse"));
  EXPECT_FALSE(task.net->is_training());
}

TEST_F(TrainerTest, EvaluatesSeveralTimesAnEpochEvenlySpaced) {
  TrainConfig config = small_config();
  config.epochs = 2;
  config.evaluations_per_epoch = 2;
  config.log_every_steps = 2;
  train(config);
  std::vector<int> evaluations, losses;
  for (const auto& line : run.read_metric_lines())
    (line.contains("val_mse") ? evaluations : losses).push_back(line.at("step"));
  EXPECT_THAT(evaluations, testing::ElementsAre(3, 5, 8, 10));
  EXPECT_THAT(losses,
              testing::ElementsAre(2, 4, 6));  // 8 and 10 are evaluations, whose lines contain the loss too
}

TEST_F(TrainerTest, MoreEvaluationsThanStepsIsOneAStep) {
  TrainConfig config = small_config();
  config.epochs = 1;
  config.evaluations_per_epoch = 100;
  train(config);
  EXPECT_EQ(task.evaluations, 5);
}

TEST_F(TrainerTest, StopsEarlyAndKeepsTheBestWeights) {
  TrainConfig config = small_config();
  config.epochs = 20;
  config.patience = 3;
  at::Tensor best;
  int count = 0;
  task.on_evaluate = [&](Metrics& metrics) {
    const double values[] = {1.0, 0.5, 0.7, 0.6, 0.5, 0.1};
    metrics.set("val_mse", values[count]);
    if (++count == 2) best = task.net->second_weight.detach().clone();
  };
  const TrainResult result = train(config);
  EXPECT_EQ(result.reason, StopReason::early_stopping);
  EXPECT_EQ(result.steps, 25);  // an equal 0.5 does not improve
  EXPECT_EQ(result.best_step, 10);
  EXPECT_EQ(result.best.at("val_mse"), 0.5);
  EXPECT_TRUE(at::equal(task.net->second_weight.detach(), best));
  EXPECT_EQ(run.read_metrics().at("stopped"), "early_stopping");
  ToyTask loaded(150, 99);
  EXPECT_EQ(load_weights(*loaded.net, run), 10);
  EXPECT_TRUE(at::equal(loaded.net->second_weight, best));
  EXPECT_EQ(load_weights(*loaded.net, run, false), 25);
  EXPECT_FALSE(at::equal(loaded.net->second_weight, best));
}

TEST_F(TrainerTest, ResumingAFinishedRunChangesNothing) {
  TrainConfig config = small_config();
  const TrainResult first = train(config);
  const std::string lines = read_file(run.file("metrics.jsonl"));
  std::filesystem::remove(run.file("metrics.json"));
  ToyTask other(150, 1);
  const TrainResult second = train::train(other, config, run, true);
  EXPECT_EQ(second.steps, first.steps);
  EXPECT_EQ(second.best, first.best);
  EXPECT_EQ(other.evaluations, 3);
  EXPECT_EQ(read_file(run.file("metrics.jsonl")), lines);
  EXPECT_EQ(run.read_metrics().at("steps"), 15);
  EXPECT_TRUE(at::equal(other.net->second_weight, task.net->second_weight));
}

TEST_F(TrainerTest, ResumedWithOtherBatchesItTrainsTheRemainingEpochs) {
  TrainConfig config = small_config();  // 15 steps
  train(config);
  config.epochs = 5;
  config.batch_size = 75;
  ToyTask other(150, 1);
  std::vector<std::vector<int64_t>> loaded;
  other.on_load = [&](std::span<const int64_t> samples) {
    loaded.emplace_back(samples.begin(), samples.end());
  };
  const TrainResult result = train::train(other, config, run, true, true);
  EXPECT_EQ(result.steps, 15 + 2 * 2);
  EXPECT_EQ(result.epochs, 5.0);
  std::vector<double> epochs;
  for (const auto& line : run.read_metric_lines()) epochs.push_back(line.at("epoch"));
  EXPECT_EQ(epochs, (std::vector<double>{1, 2, 3, 4, 5}));
  SampleOrder order(150, 75, false, 1, 0);
  ASSERT_EQ(loaded.size(), 4);
  for (int64_t i = 0; i < 4; ++i) {
    const auto wanted = order.samples_of(3 * 2 + i);
    EXPECT_EQ(loaded[static_cast<size_t>(i)], std::vector<int64_t>(wanted.begin(), wanted.end()));
  }
  EXPECT_EQ(train::train(other, config, run, true, true).steps, 19);  // the offset is saved
}

TEST_F(TrainerTest, ResumedWithOtherBatchesWithinAnEpochItStaysInItsPart) {
  TrainConfig config = small_config();
  config.max_steps = 8;  // 1.6 epochs
  train(config);
  config.max_steps = 0;
  config.accumulate = 2;  // 3 steps an epoch: 1.6 epochs are 4 steps and a part
  const TrainResult result = train::train(task, config, run, true, true);
  EXPECT_EQ(result.steps, 8 + 3 * 3 - 4);
  EXPECT_EQ(result.epochs, 3.0);
}

TEST_F(TrainerTest, WithoutAStepLeftOtherBatchesChangeNoFile) {
  TrainConfig config = small_config();
  config.max_steps = 8;
  train(config);
  const std::string metrics = read_file(run.file("metrics.json")),
                    timing = read_file(run.file("timing.json"));
  config.accumulate = 4;
  EXPECT_EQ(train::train(task, config, run, true, true).steps, 8);
  EXPECT_EQ(read_file(run.file("metrics.json")), metrics);
  EXPECT_EQ(read_file(run.file("timing.json")), timing);
}

TEST_F(TrainerTest, TimesOfAllItsProcessesAreAdded) {
  TrainConfig config = small_config();
  config.max_steps = 8;
  train(config);
  EXPECT_EQ(run.read_timing().at("steps").at("count"), 8);
  const double before = run.read_timing().at("steps").at("seconds");
  config.max_steps = 0;
  train::train(task, config, run, true, true);
  EXPECT_EQ(run.read_timing().at("steps").at("count"), 15);
  EXPECT_EQ(run.read_timing().at("evaluations").at("count"), 4);
  EXPECT_GT(run.read_timing().at("steps").at("seconds"), before);
}

TEST_F(TrainerTest, MinDeltaAsksForRealImprovement) {
  TrainConfig config = small_config();
  config.epochs = 20;
  config.patience = 2;
  config.min_delta = 0.1;
  double value = 1.0;
  task.on_evaluate = [&](Metrics& metrics) { metrics.set("val_mse", value -= 0.06); };
  EXPECT_EQ(train(config).steps, 20 * 5);  // every second evaluation is 0.12 better
  EXPECT_NEAR(run.read_metrics().at("best").at("val_mse").get<double>(), 1.0 - 0.06 * 19, 1e-13);
}

TEST_F(TrainerTest, BetweenEqualsAnotherMetricChoosesAndPatienceGoesOn) {
  class Ranked : public ToyTask {
    Criterion criterion() const override { return {"auc", false, "loss"}; }
  } ranked;
  const double aucs[] = {0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0}, losses[] = {0.1, 0.9, 0.4, 0.6, 0.3, 0.4, 0.2};
  int count = 0;
  ranked.on_evaluate = [&](Metrics& metrics) {
    metrics.set("auc", aucs[count]);
    metrics.set("loss", losses[count++]);
  };
  TrainConfig config = small_config();
  config.epochs = 7;
  config.patience = 4;
  const TrainResult result = train::train(ranked, config, run, false);
  EXPECT_EQ(count, 6);  // four without a higher AUC
  EXPECT_EQ(result.best_step, 25);
  EXPECT_EQ(result.best.at("auc"), 1.0);
  EXPECT_EQ(result.best.at("loss"), 0.3);
}

TEST_F(TrainerTest, AnUndefinedMetricMayCountAsAValueAndIsNull) {
  class Correlated : public ToyTask {
    Criterion criterion() const override { return {"pearson", false, "loss", 0}; }
  } correlated;
  const double pearsons[] = {kNan, kNan, -0.5, 0.2, kNan}, losses[] = {0.9, 0.4, 0.1, 0.8, 0.1};
  int count = 0;
  correlated.on_evaluate = [&](Metrics& metrics) {
    metrics.set("pearson", pearsons[count]);
    metrics.set("loss", losses[count++]);
  };
  TrainConfig config = small_config();
  config.epochs = 3;
  EXPECT_EQ(train::train(correlated, config, run, false).best_step, 10);  // equal, with a lower loss
  EXPECT_TRUE(run.read_metrics().at("best").at("pearson").is_null());
  EXPECT_TRUE(run.read_metric_lines()[0].at("pearson").is_null());
  config.epochs = 5;
  EXPECT_EQ(train::train(correlated, config, run, true, true).best_step, 20);
  EXPECT_TRUE(run.read_metrics().at("last").at("pearson").is_null());
  count = 0;
  correlated.on_evaluate = [&](Metrics& metrics) {
    metrics.set("pearson", kNan);
    metrics.set("loss", kNan);
  };
  config.epochs = 6;
  EXPECT_THAT(
      modewise::error_of(ErrorKind::general, [&] { train::train(correlated, config, run, true, true); }),
      testing::HasSubstr("diverged: pearson is nan"));
}

TEST_F(TrainerTest, HigherMayBeBetter) {
  class Accuracy : public ToyTask {
    Criterion criterion() const override { return {"accuracy", false}; }
  } accuracy;
  int count = 0;
  accuracy.on_evaluate = [&](Metrics& metrics) {
    const double values[] = {0.3, 0.6, 0.4};
    metrics.set("accuracy", values[count++]);
  };
  const TrainResult result = train::train(accuracy, small_config(), run, false);
  EXPECT_EQ(result.best_step, 10);
  EXPECT_EQ(result.best.at("accuracy"), 0.6);
}

TEST_F(TrainerTest, MaxStepsCutsAndEvaluates) {
  TrainConfig config = small_config();
  config.max_steps = 7;
  EXPECT_EQ(train(config).steps, 7);
  EXPECT_EQ(run.read_metric_lines().back().at("step"), 7);
}

TEST_F(TrainerTest, NoEpochsOnlyEvaluates) {
  TrainConfig config = small_config();
  config.epochs = 0;
  const at::Tensor before = task.net->second_weight.detach().clone();
  const TrainResult result = train(config);
  EXPECT_EQ(result.steps, 0);
  EXPECT_EQ(task.evaluations, 1);
  EXPECT_TRUE(at::equal(before, task.net->second_weight.detach()));
  EXPECT_EQ(load_weights(*task.net, run), 0);
}

TEST_F(TrainerTest, AModelWithoutParametersIsEvaluatedOnce) {
  for (at::Tensor& parameter : task.net->parameters()) parameter.requires_grad_(false);
  EXPECT_EQ(train(small_config()).steps, 0);
  EXPECT_EQ(run.read_metric_lines().size(), 1U);
}

TEST_F(TrainerTest, AccumulationEqualsALargeBatch) {
  // Gradient accumulation: without dropout, batches of 20 and 10 give the gradient of a batch of 30. Adam's
  // first step is rate · g / (|g| + ε): with ε far above the gradients it is proportional to them.
  TrainConfig large = small_config();
  large.max_steps = 1;
  large.optimizer.name = "adam";
  large.optimizer.weight_decay = 0;
  large.optimizer.learning_rate = 100;
  large.optimizer.epsilon = 100;
  large.clip_norm = 0.5;  // of the global gradient, not per tensor
  TrainConfig parts = large;
  parts.batch_size = 20;
  parts.accumulate = 2;
  ToyTask first(30), second(30);
  first.dropout = second.dropout = 0;
  const at::Tensor start = first.net->second_weight.detach().clone();
  train::train(first, large, run, false);
  RunFolder other = RunFolder::create(scratch / "second");
  EXPECT_EQ(train::train(second, parts, other, false).steps, 1);
  EXPECT_EQ(first.seen.item<int64_t>(), 1);
  EXPECT_EQ(second.seen.item<int64_t>(), 2);
  const auto loss_of = [](const RunFolder& folder) {
    return folder.read_metric_lines().back().at("train_loss").get<double>();
  };
  EXPECT_NEAR(loss_of(other), loss_of(run), 1e-6 * loss_of(run));
  const at::Tensor moved = first.net->second_weight.detach() - start;
  EXPECT_GT(moved.abs().max().item<double>(), 1e-3);
  EXPECT_LT((second.net->second_weight.detach() - start - moved).abs().max().item<double>(), 1e-6);
}

// torch's clip_grad_norm_ scales by clip / (norm + 1e-6). Adam's first step is rate · g / (|g| + ε).
TEST_F(TrainerTest, ClippingScalesByTheNormAndAMillionth) {
  TrainConfig config = small_config();
  config.max_steps = 1;
  config.schedule.name = "constant";
  config.optimizer.name = "adam";
  config.optimizer.weight_decay = 0;
  config.optimizer.learning_rate = 1000;
  config.optimizer.epsilon = 1;
  config.clip_norm = 1e-6;
  const int64_t entries = task.net->second_bias.numel();
  const double each = 1e-6 / std::sqrt(static_cast<double>(entries));  // a global norm of 1e-6
  for (at::Tensor& parameter : task.net->parameters()) {
    const double value = parameter.is_same(task.net->second_bias) ? each : 0.0;
    parameter.register_hook([value](const at::Tensor& gradient) { return at::full_like(gradient, value); });
  }
  const at::Tensor before = task.net->second_bias.detach().clone();
  train(config);
  const at::Tensor moved = before.to(at::kDouble) - task.net->second_bias.detach().to(at::kDouble);
  for (int64_t i = 0; i < entries; ++i) EXPECT_NEAR(moved[i].item<double>(), 1000 * each / 2, 1e-9);
}

TEST_F(TrainerTest, LinesHaveTheRateOfTheStepThatEndsThere) {
  TrainConfig config = small_config();
  config.epochs = 2;
  config.schedule.name = "constant";
  config.schedule.warmup_steps = 10;
  config.optimizer.learning_rate = 0.01;
  train(config);
  const auto lines = run.read_metric_lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_DOUBLE_EQ(lines[0].at("learning_rate").get<double>(), 0.005);  // the fifth of ten
  EXPECT_DOUBLE_EQ(lines[1].at("learning_rate").get<double>(), 0.01);
}

TEST_F(TrainerTest, AveragedWeightsAreEvaluatedAndKept) {
  TrainConfig config = small_config();
  config.ema_decay = 0.6;
  config.schedule.name = "constant";
  config.optimizer.learning_rate = 0.01;
  at::Tensor evaluated;
  std::vector<at::Tensor> trained;  // weights before each step
  task.on_evaluate = [&](Metrics&) { evaluated = task.net->second_weight.detach().clone(); };
  task.on_loss = [&](uint64_t) { trained.push_back(task.net->second_weight.detach().to(at::kDouble)); };
  train(config);
  ASSERT_EQ(trained.size(), 15U);
  EXPECT_TRUE(at::equal(task.net->second_weight.detach(), evaluated));
  ToyTask loaded, last;
  load_weights(*loaded.net, run);
  EXPECT_TRUE(at::equal(loaded.net->second_weight.detach(), evaluated));
  load_weights(*last.net, run, false);
  trained.push_back(last.net->second_weight.detach().to(at::kDouble));
  // By hand: the decay is (1 + t) / (10 + t) after step t, limited to 0.6.
  at::Tensor average = trained[0];
  for (size_t t = 1; t < trained.size(); ++t) {
    const double stays = t < 13 ? static_cast<double>(1 + t) / static_cast<double>(10 + t) : 0.6;
    average = average * stays + trained[t] * (1 - stays);
  }
  EXPECT_LT((evaluated.to(at::kDouble) - average).abs().max().item<double>(), 1e-6);
  EXPECT_GT((evaluated.to(at::kDouble) - trained.back()).abs().max().item<double>(), 1e-4);
}

TEST_F(TrainerTest, AnAverageIsSavedOnlyWhereOneIsKept) {
  const auto kept = [&] {
    return CheckpointStore(run.checkpoints()).newest().value().has("ema.safetensors");
  };
  train(small_config());
  EXPECT_FALSE(kept());
  TrainConfig config = small_config();
  config.ema_decay = 0.6;
  config.epochs += 1;
  train(config, true, true);
  EXPECT_TRUE(kept());
}

TEST_F(TrainerTest, AveragedWeightsAreEvaluatedWithAveragedStatistics) {
  TrainConfig config = small_config();
  config.ema_decay = 0.6;
  config.evaluations_per_epoch = 2;
  std::vector<double> average(static_cast<size_t>(task.net->hidden_mean.numel()), 0.0);
  int64_t evaluations = 0, steps = 0;
  // Statistics after a step are read when the next one starts; those of the last step are in the checkpoint.
  const auto follow = [&](const at::Tensor& statistics) {
    ++steps;
    const double t = static_cast<double>(steps), decay = std::min(0.6, (1 + t) / (10 + t));
    for (size_t i = 0; i < average.size(); ++i)
      average[i] =
          decay * average[i] + (1 - decay) * static_cast<double>(statistics.const_data_ptr<float>()[i]);
  };
  task.on_loss = [&](uint64_t step) {
    if (static_cast<int64_t>(step) > steps) follow(task.net->hidden_mean);
  };
  at::Tensor evaluated;
  task.on_evaluate = [&](Metrics&) {
    ++evaluations;
    evaluated = task.net->hidden_mean.clone();
  };
  train(config);
  ToyTask raw;
  const int64_t last = load_weights(*raw.net, run, false);
  follow(raw.net->hidden_mean);
  ASSERT_EQ(steps, last);
  ASSERT_GT(evaluations, 2);
  for (size_t i = 0; i < average.size(); ++i)
    ASSERT_NEAR(evaluated.const_data_ptr<float>()[i], average[i], 1e-6) << i;
  EXPECT_FALSE(at::equal(raw.net->hidden_mean, evaluated));
}

TEST_F(TrainerTest, AnotherMetricThatIsNotFiniteIsNull) {
  task.on_evaluate = [&](Metrics& metrics) { metrics.set("val_mae", kNan); };
  const TrainResult result = train(small_config());
  EXPECT_TRUE(run.read_metric_lines()[0].at("val_mae").is_null());
  EXPECT_TRUE(std::isnan(result.last.at("val_mae")));
}

TEST_F(TrainerTest, EverySampleIsSeenOnceAnEpoch) {
  std::multiset<int64_t> seen;
  task.on_load = [&](std::span<const int64_t> samples) { seen.insert(samples.begin(), samples.end()); };
  TrainConfig config = small_config();
  config.batch_size = 40;
  config.epochs = 2;
  EXPECT_EQ(train(config).steps, 8);
  EXPECT_EQ(seen.size(), 300U);
  for (int64_t sample = 0; sample < 150; ++sample) EXPECT_EQ(seen.count(sample), 2U);
  RunFolder second = RunFolder::create(scratch / "second");
  ToyTask other;
  config.drop_last = true;
  EXPECT_EQ(train::train(other, config, second, false).steps, 6);
}

TEST(ThreadCheck, NamesWhatDependsOnThreads) {
  ToyTask task;
  std::vector<int64_t> samples(40);
  std::iota(samples.begin(), samples.end(), 0);
  EXPECT_EQ(thread_dependence(task, samples, 5), "");
  task.on_loss = [&](uint64_t) {
    if (at::get_num_threads() == 3)
      task.net->norm_weight.register_hook([](const at::Tensor& gradient) { return gradient * 1.5; });
  };
  EXPECT_EQ(thread_dependence(task, samples, 5),
            "the gradient of parameter 'norm_weight' differs between 1 and 3 threads");
  EXPECT_EQ(at::get_num_threads(), 1);
  EXPECT_FALSE(task.net->norm_weight.grad().defined());
}

TEST(TensorFile, TiedParametersAreKeptOnceUnderTheFirstName) {
  ToyNet net(1);
  net.register_parameter("tied", net.first_weight);
  EXPECT_EQ(trainable_parameters(net).size(), 5U);
  EXPECT_EQ(module_tensors(net).size(), 7U);  // including two buffers
}

TEST(TensorFile, LoadsNothingUnlessEverythingFits) {
  const ScratchFolder scratch;
  const ToyNet saved(1);
  ToyNet other(2);
  io::write_safetensors(scratch / "model", writer_of(module_tensors(saved)));
  const auto tensors = module_tensors(other);
  std::vector<NamedTensor> wrong(tensors.begin(), tensors.end() - 1);
  const at::Tensor before = other.first_weight.detach().clone();
  EXPECT_EQ(modewise::error_of(ErrorKind::data, [&] { load_tensors(scratch / "model", wrong); }),
            scratch.path("model") + " has 7 tensors, the model has 6: it belongs to another model");
  wrong = tensors;
  wrong[4].tensor = wrong[4].tensor.detach().reshape({1, -1});
  EXPECT_EQ(modewise::error_of(ErrorKind::data, [&] { load_tensors(scratch / "model", wrong); }),
            scratch.path("model") + ": tensor 'second_bias' is F32 [120], the model expects F32 [1, 120]");
  EXPECT_TRUE(at::equal(before, other.first_weight.detach()));
  load_tensors(scratch / "model", tensors);
  EXPECT_TRUE(at::equal(saved.first_weight.detach(), other.first_weight.detach()));
}

TEST(MetricsType, KeepsTheOrderAndReplacesInPlace) {
  Metrics metrics = {{"b", 1.0}, {"a", 2.0}};
  metrics.set("b", 3.0);
  EXPECT_EQ(to_json(metrics).dump(), R"({"b":3.0,"a":2.0})");
  EXPECT_EQ(metrics_from_json(to_json(metrics)), metrics);
  EXPECT_FALSE(metrics.find("c").has_value());
  EXPECT_EQ(modewise::error_of(ErrorKind::internal, [&] { metrics.at("c"); }),
            "unknown metric 'c'; known: b, a");
}

}  // namespace
}  // namespace modewise::train
