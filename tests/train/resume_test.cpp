// An interrupted and resumed run ends with the same bytes as an uninterrupted one: model, optimizer, EMA,
// best weights, state and metric lines, for every optimizer and schedule and any number of threads.

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/core/stop_signal.h"
#include "modewise/train/checkpoint/checkpoint.h"
#include "modewise/train/loop/trainer.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"
#include "toy_task.h"

namespace modewise::train {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

/// The bytes of all records of a finished run.
Files files_of(const RunFolder& run) {
  Files files;
  for (const char* name : {"metrics.jsonl", "metrics.json"}) files[name] = read_file(run.file(name));
  const auto checkpoint = CheckpointStore(run.checkpoints()).newest();
  for (const auto& entry : fs::directory_iterator(checkpoint->folder))
    files[entry.path().filename()] = read_file(entry.path());
  return files;
}

void expect_same(const Files& got, const Files& wanted, const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (const auto& [name, bytes] : wanted)
    EXPECT_TRUE(got.at(name) == bytes) << what << ": " << name << " differs";
}

/// Trains to the end, stopped by a signal after each step of `stops`, with new objects after each resume, as
/// in a new process.
Files train_with_stops(const TrainConfig& config, const std::vector<int64_t>& stops) {
  const ScratchFolder scratch;
  RunFolder run = RunFolder::create(scratch / "run");
  for (size_t part = 0; part <= stops.size(); ++part) {
    ToyTask task(50);
    const uint64_t last =
        part < stops.size() ? static_cast<uint64_t>(stops[part] * config.accumulate) - 1 : ~uint64_t{0};
    task.on_loss = [&](uint64_t step) {
      if (step == last) set_stop_signal(15);
    };
    const TrainResult result = train(task, config, run, part > 0);
    EXPECT_EQ(result.stopped_by_signal(), part < stops.size());
    if (part < stops.size()) {
      EXPECT_EQ(result.steps, stops[part]);
    }
    set_stop_signal(0);
  }
  return files_of(run);
}

TrainConfig config_of(const std::string& optimizer, const std::string& schedule) {
  TrainConfig config;
  config.epochs = 4;
  config.batch_size = 10;  // 5 steps an epoch
  config.patience = 0;
  config.optimizer.name = optimizer;
  config.optimizer.learning_rate = 0.003;
  config.schedule.name = schedule;
  return config;
}

class Resume : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Resume, EndsWithTheSameBits) {
  const auto& [optimizer, schedule] = GetParam();
  TrainConfig config = config_of(optimizer, schedule);
  expect_same(train_with_stops(config, {10}), train_with_stops(config, {}), "stopped in the middle");

  config.schedule.warmup_steps = 3;
  config.schedule.cycle_momentum = true;
  config.ema_decay = 0.95;
  config.evaluations_per_epoch = 2;
  config.log_every_steps = 3;
  config.checkpoint_every_steps = 4;
  config.clip_norm = 0.05;
  const Files wanted = train_with_stops(config, {});
  expect_same(train_with_stops(config, {1, 7, 10, 19}), wanted, "stopped four times");
  config.prefetch = 1;
  config.checkpoint_every_steps = 0;
  const Files other = train_with_stops(config, {5, 6});
  EXPECT_EQ(other.at("model.safetensors"), wanted.at("model.safetensors"));
  EXPECT_EQ(other.at("metrics.jsonl"), wanted.at("metrics.jsonl"));
}

INSTANTIATE_TEST_SUITE_P(
    Every, Resume,
    testing::Combine(testing::Values("adamw", "adam"),
                     testing::Values("constant", "cosine", "step", "type1", "one_cycle")),
    [](const auto& one) { return std::get<0>(one.param) + "_" + std::get<1>(one.param); });

TEST(ResumeMore, AccumulatedStepsAndDroppedBatches) {
  TrainConfig config = config_of("adamw", "cosine");
  config.batch_size = 7;
  config.accumulate = 3;  // 8 batches, 3 steps an epoch, the last one of 2 batches
  config.drop_last = true;
  config.max_steps = 11;
  const ScratchFolder scratch;
  const Files wanted = train_with_stops(config, {});
  for (const int64_t stop : {1, 2}) expect_same(train_with_stops(config, {stop}), wanted, "accumulated");
}

TEST(ResumeMore, EveryStepOfARun) {
  TrainConfig config = config_of("adamw", "one_cycle");
  config.epochs = 2;
  const Files wanted = train_with_stops(config, {});
  std::vector<int64_t> stops;
  for (int64_t step = 1; step < 10; ++step) {
    expect_same(train_with_stops(config, {step}), wanted, "stopped at " + std::to_string(step));
    stops.push_back(step);
  }
  expect_same(train_with_stops(config, stops), wanted, "stopped at each");
}

TEST(ResumeMore, AnyNumberOfThreads) {
  TrainConfig config = config_of("adamw", "cosine");
  config.epochs = 2;
  config.ema_decay = 0.9;
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const Files wanted = train_with_stops(config, {});
  for (const int threads : {2, 3, 4}) {
    at::set_num_threads(threads);
    expect_same(train_with_stops(config, {7}), wanted, std::to_string(threads) + " threads");
  }
  at::set_num_threads(before);
}

TEST(ResumeMore, EarlyStoppingCountsOnAcrossAResume) {
  TrainConfig config = config_of("adamw", "constant");
  config.epochs = 30;
  config.patience = 2;
  config.min_delta = 0.02;
  const Files wanted = train_with_stops(config, {});
  EXPECT_THAT(wanted.at("metrics.json"), testing::HasSubstr("early_stopping"));
  expect_same(train_with_stops(config, {7, 15, 16}), wanted, "early stopping");
}

TEST(ResumeMore, AnInterruptedEvaluationIsRepeated) {
  const TrainConfig config = config_of("adam", "constant");
  const Files wanted = train_with_stops(config, {});
  const ScratchFolder scratch;
  RunFolder run = RunFolder::create(scratch / "run");
  {
    ToyTask task(50);
    task.on_evaluate = [](Metrics& metrics) {
      if (metrics.at("val_mse") > 0) {
        set_stop_signal(2);
        throw EvaluationInterrupted();
      }
    };
    const TrainResult result = train(task, config, run, false);
    EXPECT_EQ(result.signal, 2);
    EXPECT_EQ(result.steps, 5);
    EXPECT_TRUE(run.read_metric_lines().empty());
  }
  set_stop_signal(0);
  ToyTask task(50);
  const auto load_state = CheckpointStore(run.checkpoints()).newest()->state.at("task");
  EXPECT_EQ(load_state.at("evaluations"), 1);  // the toy task counts started evaluations
  train(task, config, run, true);
  const Files got = files_of(run);
  for (const char* name : {"model.safetensors", "optimizer.safetensors", "metrics.jsonl", "metrics.json"})
    EXPECT_EQ(got.at(name), wanted.at(name)) << name;
}

/// A run of 4 epochs stopped after step 12, with the checkpoints of steps 10 and 12.
class DamagedRun : public testing::Test {
 protected:
  void SetUp() override {
    wanted = train_with_stops(config, {});
    ToyTask task(50);
    task.on_loss = [](uint64_t step) {
      if (step == 11) set_stop_signal(15);
    };
    train(task, config, run, false);
    set_stop_signal(0);
  }
  void damage(const std::string& name) {
    std::ofstream(run.checkpoints() / name, std::ios::trunc) << "damage";
  }

  TrainConfig config = config_of("adamw", "cosine");
  ScratchFolder scratch;
  RunFolder run = RunFolder::create(scratch / "run");
  Files wanted;
};

TEST_F(DamagedRun, FallsBackAndStillEndsWithTheSameBits) {
  damage("step_12/optimizer.safetensors");
  testing::internal::CaptureStdout();
  ToyTask task(50);
  train(task, config, run, true);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::HasSubstr("step_12/optimizer.safetensors"));
  expect_same(files_of(run), wanted, "after falling back");
  EXPECT_TRUE(fs::exists(run.checkpoints() / "step_12.damaged"));
}

TEST_F(DamagedRun, WithBothDamagedNothingIsTouched) {
  damage("step_12/model.safetensors");
  damage("step_10/best.safetensors");
  const std::string lines = read_file(run.file("metrics.jsonl"));
  ToyTask task(50);
  try {
    train(task, config, run, true);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_THAT(error.what(), testing::HasSubstr("step_10/best.safetensors"));
  }
  EXPECT_EQ(read_file(run.file("metrics.jsonl")), lines);
  EXPECT_TRUE(fs::exists(run.checkpoints() / "step_12"));
}

TEST_F(DamagedRun, MetricLinesThatWereCutSendItFurtherBack) {
  const std::string lines = read_file(run.file("metrics.jsonl"));
  std::ofstream(run.file("metrics.jsonl"), std::ios::trunc) << lines.substr(0, lines.size() - 1);
  ToyTask task(50);
  EXPECT_EQ(modewise::error_of(ErrorKind::data, [&] { train(task, config, run, true); }),
            fmt::format("no checkpoint in {0} is intact: {1} is shorter than recorded in the checkpoint of "
                        "step 12; {1} is shorter than recorded in the checkpoint of step 10",
                        run.checkpoints().string(),
                        run.file("metrics.jsonl").string()));  // both checkpoints recorded two lines
}

TEST_F(DamagedRun, LinesWrittenAfterTheCheckpointAreCut) {
  std::ofstream(run.file("metrics.jsonl"), std::ios::app) << "{\"step\":13}\n{\"st";
  ToyTask task(50);
  train(task, config, run, true);
  expect_same(files_of(run), wanted, "with lines from after the checkpoint");
}

TEST_F(DamagedRun, LeftoversAreGoneAfterTheNextStart) {
  const fs::path folder = temporary_beside(run.checkpoints() / "step_13");
  const fs::path leftover = temporary_beside(run.file("metrics.json"));
  fs::create_directory(folder);
  std::ofstream(leftover) << "half";
  ToyTask task(50);
  train(task, config, run, true);
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_FALSE(fs::exists(leftover));
}

}  // namespace
}  // namespace modewise::train
