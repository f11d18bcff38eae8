// What the lead does, what the others leave alone, and what all do alike.

#include "modewise/train/workers.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "modewise/core/stop_signal.h"
#include "modewise/train/trainer.h"
#include "tests/scratch_folder.h"
#include "toy_task.h"

namespace modewise::train {
namespace {

/// One of two, of which the other trains the same model; it saw the signal `theirs`.
class Pair final : public Workers {
 public:
  Pair(int64_t rank, ToyTask& task) : rank_(rank), task_(task) {}
  int64_t rank() const override { return rank_; }
  int64_t size() const override { return 2; }
  void add(at::Tensor& values) override {
    const at::Tensor others = task_.sums({1 - rank_, 2});
    values = rank_ == 0 ? values + others : others + values;
  }
  int64_t largest(int64_t value) override { return std::max(value, theirs); }

  int64_t theirs = 0;

 private:
  int64_t rank_;
  ToyTask& task_;
};

TrainConfig two_epochs() {
  TrainConfig config;
  config.epochs = 2;
  config.batch_size = 30;  // 5 steps an epoch
  config.patience = 0;
  return config;
}

class WorkersTest : public testing::Test {
 protected:
  void SetUp() override { at::set_num_threads(1); }

  std::vector<std::string> written() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(run.path()))
      names.push_back(entry.path().filename().string());
    return names;
  }

  ScratchFolder scratch;
  RunFolder run = RunFolder::create(scratch / "run");
  ToyTask task;
};

TEST_F(WorkersTest, OthersTrainLikeTheLeadAndWriteNothing) {
  const std::vector<std::string> before = written();
  Pair other(1, task);
  const TrainResult result = train(task, two_epochs(), run, false, false, other);
  EXPECT_EQ(written(), before);
  EXPECT_EQ(result.reason, StopReason::finished);
  EXPECT_EQ(result.steps, 10);
  ToyTask led;
  RunFolder folder = RunFolder::create(scratch / "lead");
  Pair lead(0, led);
  const TrainResult same = train(led, two_epochs(), folder, false, false, lead);
  EXPECT_TRUE(result.last == same.last);
  ToyTask single;
  RunFolder third = RunFolder::create(scratch / "alone");
  const TrainResult alone = train(single, two_epochs(), third, false);
  for (const auto& [name, value] : alone.last) EXPECT_NEAR(same.last.at(name), value, 1e-6 * value) << name;
  EXPECT_TRUE(task.net->first_weight.equal(led.net->first_weight));
  EXPECT_TRUE(std::filesystem::exists(folder.file("metrics.json")));
  EXPECT_EQ(folder.read_metric_lines().size(), 2U);
}

TEST_F(WorkersTest, ASignalThatOneSawStopsAll) {
  Pair lead(0, task);
  task.on_loss = [&](uint64_t step) {
    if (step == 3) lead.theirs = 15;
  };
  const TrainResult result = train(task, two_epochs(), run, false, false, lead);
  EXPECT_EQ(result.reason, StopReason::signal);
  EXPECT_EQ(result.signal, 15);
  EXPECT_EQ(result.steps, 4);
  EXPECT_EQ(stop_signal(), 0);
  EXPECT_TRUE(std::filesystem::exists(run.checkpoints() / "step_4"));
}

TEST(Alone, IsTheLeadAndAgreesWithItself) {
  EXPECT_TRUE(alone().leads());
  EXPECT_EQ(alone().size(), 1);
  EXPECT_EQ(alone().largest(-7), -7);
}

}  // namespace
}  // namespace modewise::train
