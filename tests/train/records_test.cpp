// Records of a run: checkpoints and their state, metric lines, metrics, and the calls that the task received.

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "modewise/core/file.h"
#include "modewise/core/random.h"
#include "modewise/train/checkpoint/checkpoint.h"
#include "modewise/train/checkpoint/train_state.h"
#include "modewise/train/distributed/thread_check.h"
#include "modewise/train/loop/sample_order.h"
#include "modewise/train/loop/trainer.h"
#include "tests/scratch_folder.h"
#include "toy_task.h"

namespace modewise::train {
namespace {

using testing::ElementsAre;

class Records : public testing::Test {
 protected:
  std::set<std::string> checkpoints() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(run.checkpoints()))
      names.insert(entry.path().filename());
    return names;
  }

  ScratchFolder scratch;
  RunFolder run = RunFolder::create(scratch / "run");
  ToyTask task;
  TrainConfig config = [] {
    TrainConfig c;
    c.epochs = 2;
    c.batch_size = 50;  // 3 steps an epoch
    c.keep_checkpoints = 100;
    return c;
  }();
};

TEST_F(Records, TheStateOfACheckpoint) {
  config.seed = 77;
  int count = 0;
  task.on_evaluate = [&](Metrics& metrics) {
    metrics = {{"val_mse", count == 0 ? 0.25 : 0.5}, {"val_mae", count == 0 ? 1.5 : 2.5}};
    ++count;
  };
  const TrainResult result = train(task, config, run, false);
  const auto state = CheckpointStore(run.checkpoints()).newest()->state;
  EXPECT_EQ(state.at("format"), 1);
  EXPECT_EQ(state.at("seed"), 77);
  EXPECT_EQ(state.at("training_samples"), 150);
  EXPECT_EQ(state.at("data_hash"), "toy");
  EXPECT_EQ(state.at("config").at("batch_size"), "50");
  EXPECT_EQ(state.at("task"), (nlohmann::ordered_json{{"evaluations", 2}}));
  EXPECT_EQ(state.at("step"), 6);
  EXPECT_EQ(state.at("evaluated_step"), 6);
  EXPECT_EQ(state.at("best_step"), 3);
  EXPECT_EQ(state.at("without_improvement"), 1);
  EXPECT_EQ(state.at("metrics_bytes"), read_file(run.file("metrics.jsonl")).size());
  EXPECT_EQ(result.best_step, 3);
  EXPECT_EQ(result.epochs, 2);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.last, (Metrics{{"val_mse", 0.5}, {"val_mae", 2.5}}));
  EXPECT_EQ(run.read_metrics().dump(),
            R"({"steps":6,"epochs":2.0,"stopped":"finished","criterion":"val_mse","best_step":3,)"
            R"("best":{"val_mse":0.25,"val_mae":1.5},"last":{"val_mse":0.5,"val_mae":2.5}})");
  const auto lines = run.read_metric_lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].at("best"), true);
  EXPECT_EQ(lines[1].at("best"), false);
  EXPECT_EQ(lines[0].at("epoch"), 1.0);
}

TEST_F(Records, LinesHaveTheMeanLossSinceTheLineBefore) {
  train(task, config, run, false);
  ToyTask again;
  config.log_every_steps = 1;
  const RunFolder other = RunFolder::create(scratch / "other");
  RunFolder each = other;
  train(again, config, each, false);
  const auto means = run.read_metric_lines(), losses = each.read_metric_lines();
  ASSERT_EQ(means.size(), 2U);
  ASSERT_EQ(losses.size(), 6U);
  const auto loss = [](const auto& line) { return line.at("train_loss").template get<double>(); };
  for (size_t epoch = 0; epoch < 2; ++epoch)
    EXPECT_DOUBLE_EQ(
        loss(means[epoch]),
        (loss(losses[3 * epoch]) + loss(losses[3 * epoch + 1]) + loss(losses[3 * epoch + 2])) / 3);
  EXPECT_FALSE(losses[0].contains("best"));
}

TEST_F(Records, CheckpointsStandAtEvaluationsAndAtTheStepsAskedFor) {
  config.checkpoint_every_steps = 2;
  train(task, config, run, false);
  EXPECT_THAT(checkpoints(), ElementsAre("latest", "step_2", "step_3", "step_4", "step_6"));
  const auto has_best = [&](const char* name) {
    return std::filesystem::exists(run.checkpoints() / name / "best.safetensors");
  };
  EXPECT_FALSE(has_best("step_2"));
  EXPECT_TRUE(has_best("step_3"));
  train(task, config, run, true);
  EXPECT_THAT(checkpoints(), ElementsAre("latest", "step_2", "step_3", "step_4", "step_6"));
}

TEST_F(Records, CheckpointsStandWhereTheirTimeHasCome) {
  config.checkpoint_every_minutes = 1e-9;
  train(task, config, run, false);
  EXPECT_THAT(checkpoints(),
              ElementsAre("latest", "step_1", "step_2", "step_3", "step_4", "step_5", "step_6"));
  // Steps take 0.01 s, so no half minute has passed.
  config.checkpoint_every_minutes = 0.5;
  task.on_loss = [](uint64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(10)); };
  run = RunFolder::create(scratch / "later");
  train(task, config, run, false);
  EXPECT_THAT(checkpoints(), ElementsAre("latest", "step_3", "step_6"));
}

TEST_F(Records, NoEpochsAtAllLeaveTheFirstWeightsAsTheBest) {
  config.epochs = 0;
  config.max_steps = 5;
  train(task, config, run, false);
  EXPECT_THAT(checkpoints(), ElementsAre("latest", "step_0"));
  EXPECT_TRUE(CheckpointStore(run.checkpoints()).newest()->has("best.safetensors"));
}

TEST_F(Records, MoreStepsThanThereAreChangeNothing) {
  config.max_steps = 7;
  EXPECT_EQ(train(task, config, run, false).steps, 6);
}

TEST_F(Records, AnEvaluationChangesNothingOfTraining) {
  int64_t evaluations = 0;
  task.on_evaluate = [&](Metrics&) {
    ++evaluations;
    EXPECT_FALSE(task.net->is_training());
    EXPECT_FALSE(at::GradMode::is_enabled());
  };
  task.on_loss = [&](uint64_t) {
    EXPECT_TRUE(task.net->is_training());
    EXPECT_TRUE(at::GradMode::is_enabled());
  };
  task.net->eval();
  train(task, config, run, false);
  EXPECT_EQ(evaluations, 2);
  EXPECT_FALSE(task.net->is_training());
}

TEST_F(Records, NoClippingIsThatOfAHugeNorm) {
  config.clip_norm = 0;
  train(task, config, run, false);
  ToyTask other;
  config.clip_norm = 1e9;
  RunFolder second = RunFolder::create(scratch / "second");
  train(other, config, second, false);
  EXPECT_TRUE(task.net->second_weight.equal(other.net->second_weight));
  EXPECT_FALSE(task.net->second_weight.equal(ToyTask().net->second_weight));
}

TEST(TrainStateType, KeepsEveryMemberInJson) {
  TrainState state;
  state.step = 1;
  state.evaluated_step = 2;
  state.best_step = 3;
  state.best = {{"a", 4.5}};
  state.last = {{"a", 5.5}};
  state.without_improvement = 6;
  state.loss_sum = 7.5;
  state.loss_steps = 8;
  state.metrics_bytes = 9;
  state.epoch_offset = -10;
  const std::string text = R"({"step":1,"evaluated_step":2,"best_step":3,"best":{"a":4.5},"last":{"a":5.5},)"
                           R"("without_improvement":6,"loss_sum":7.5,"loss_steps":8,"metrics_bytes":9,)"
                           R"("epoch_offset":-10})";
  EXPECT_EQ(state.to_json().dump(), text);
  EXPECT_EQ(TrainState::from_json(nlohmann::ordered_json::parse(text)).to_json().dump(), text);
}

TEST(TrainStateType, ASettingThatWasNotSavedHadItsDefault) {
  TrainConfig config;
  auto saved = config_to_json(config);
  saved.erase("accumulate");
  saved.erase("seed");
  config.accumulate = 3;
  EXPECT_THAT(config_differences(config, saved), ElementsAre("accumulate was 1, is 3"));
}

TEST(MetricsType, ReadsNumbersAndNullsAlone) {
  const Metrics metrics = metrics_from_json(nlohmann::ordered_json::parse(R"({"a":null,"b":"x","c":2})"));
  EXPECT_EQ(metrics.size(), 2U);
  EXPECT_TRUE(std::isnan(metrics.at("a")));
  EXPECT_EQ(metrics.at("c"), 2);
}

TEST(SampleOrder, IsThePermutationOfItsSeedAndEpoch) {
  SampleOrder order(7, 7, false, 1, 5);
  for (const uint64_t epoch : {0, 3, 1}) {
    const auto samples = order.samples_of(static_cast<int64_t>(epoch));
    EXPECT_EQ(std::vector<int64_t>(samples.begin(), samples.end()),
              random_permutation(7, {.seed = 5, .site = RandomSite::shuffle, .step = epoch}));
  }
}

TEST(ThreadCheck, TrainsOnTheFirstStepOfItsSeedAndLeavesAllAsItWas) {
  class Seeded : public ToyTask {
   public:
    std::vector<std::pair<uint64_t, uint64_t>> keys;
    at::Tensor loss(const Batch& batch, uint64_t seed, uint64_t step) override {
      keys.emplace_back(seed, step);
      EXPECT_TRUE(net->is_training());
      const at::Tensor loss = ToyTask::loss(batch, seed, step);
      return at::get_num_threads() == 2 ? loss * 1.5 : loss;
    }
  } task;
  task.net->eval();
  const std::vector<int64_t> samples = {0, 1, 2};
  const at::Tensor gradient = at::full({300}, 0.5);
  task.net->norm_weight.mutable_grad() = gradient;
  at::set_num_threads(3);
  EXPECT_EQ(thread_dependence(task, samples, 9, 1), "");
  EXPECT_EQ(thread_dependence(task, samples, 9), "the loss differs between 1 and 2 threads");
  EXPECT_EQ(at::get_num_threads(), 3);
  at::set_num_threads(1);
  EXPECT_TRUE(task.net->norm_weight.grad().is_same(gradient));
  EXPECT_EQ(task.keys, (std::vector<std::pair<uint64_t, uint64_t>>(3, {9, 0})));
}

}  // namespace
}  // namespace modewise::train
