// Trainer errors: invalid options, and failures during training.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "modewise/core/claims.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/train/checkpoint/checkpoint.h"
#include "modewise/train/checkpoint/folder_lock.h"
#include "modewise/train/checkpoint/run_weights.h"
#include "modewise/train/loop/trainer.h"
#include "tests/error_of.h"
#include "tests/logged.h"
#include "toy_task.h"
#include "trainer_fixture.h"

namespace modewise::train {
namespace {

using testing::HasSubstr;

TEST_F(TrainerTest, WantsSamplesWhereItTrains) {
  TrainConfig config = small_config();
  config.batch_size = 151;
  config.drop_last = true;
  EXPECT_THAT(error_of(config).what(), HasSubstr("150 training samples do not fill one batch of 151"));
  class Nothing final : public ToyTask {
    int64_t training_samples() const override { return 0; }
  };
  Nothing nothing;
  config.drop_last = false;
  EXPECT_EQ(modewise::error_of(ErrorKind::data, [&] { train::train(nothing, config, run, false); }),
            "there are no training samples");
  config.epochs = 0;
  config.drop_last = true;
  EXPECT_EQ(train::train(nothing, config, run, false).steps, 0);
}

TEST_F(TrainerTest, OpenEpochsAreForTheTaskToChoose) {
  TrainConfig config = small_config();
  config.epochs = TrainConfig::kOpenEpochs;
  const Error error = error_of(config);
  EXPECT_EQ(error.exit_code(), 78);
  EXPECT_STREQ(error.what(), "train.epochs = -1: this task does not choose a number of epochs, set one");
}

TEST_F(TrainerTest, NanInAGradientNamesTheStepAndTheParameter) {
  TrainConfig config = small_config();
  config.checkpoint_every_steps = 2;
  task.on_loss = [&](uint64_t step) {
    if (step == 7)
      task.net->norm_weight.register_hook([](const at::Tensor& gradient) { return gradient * kNan; });
  };
  const Error error = error_of(config);
  EXPECT_EQ(error.exit_code(), 1);
  EXPECT_THAT(error.what(), HasSubstr("diverged at step 8"));
  EXPECT_THAT(error.what(), HasSubstr("gradient of parameter 'norm_weight' is not finite"));
  EXPECT_THAT(error.what(), HasSubstr("checkpoint of step 6 is intact"));
  EXPECT_EQ(load_weights(*task.net, run, false), 6);
  for (const at::Tensor& parameter : task.net->parameters())
    EXPECT_TRUE(std::isfinite(parameter.detach().abs().max().item<float>()));
}

TEST_F(TrainerTest, WeightsOfARunThatWasNeverEvaluatedAreLoadedWithAWarning) {
  TrainConfig config = small_config();
  config.checkpoint_every_steps = 2;
  task.on_loss = [&](uint64_t step) {
    if (step == 3) task.net->second_bias.mutable_data_ptr<float>()[4] = kNan;
  };
  error_of(config);
  Logged logged;
  EXPECT_EQ(load_weights(*task.net, run, false), 2);
  EXPECT_EQ(logged.text(), "");
  EXPECT_EQ(load_weights(*task.net, run, true), 2);
  EXPECT_EQ(logged.text(),
            "warning: " + run.path().string() + " was not evaluated yet: using the weights of step 2\n");
}

TEST_F(TrainerTest, WeightsOfAnEvaluatedRunAreLoadedWithoutAWord) {
  train(small_config());
  Logged logged;
  load_weights(*task.net, run, true);
  load_weights(*task.net, run, false);
  EXPECT_EQ(logged.text(), "");
}

TEST_F(TrainerTest, NanInTheLossNamesTheStepAndTheParameterBehindIt) {
  task.on_loss = [&](uint64_t step) {
    if (step == 3) task.net->second_bias.mutable_data_ptr<float>()[4] = kNan;
  };
  const Error error = error_of(small_config());
  EXPECT_EQ(error.exit_code(), 1);
  EXPECT_THAT(error.what(), HasSubstr("diverged at step 4: the loss is nan and parameter 'second_bias'"));
  EXPECT_THAT(error.what(), HasSubstr("no checkpoint was saved yet"));
}

TEST_F(TrainerTest, NanInTheCriterionIsAnErrorBeforeAnythingIsSaved) {
  task.on_evaluate = [&](Metrics& metrics) {
    if (task.evaluations == 2) metrics.set("val_mse", kNan);
  };
  EXPECT_THAT(error_of(small_config()).what(), HasSubstr("val_mse is nan at the evaluation of step 10"));
  EXPECT_EQ(run.read_metric_lines().size(), 1U);
  EXPECT_EQ(load_weights(*task.net, run, false), 5);
}

TEST_F(TrainerTest, LoaderErrorsReachTheCaller) {
  int count = 0;
  task.on_load = [&](std::span<const int64_t>) {
    if (++count == 4) fail(ErrorKind::data, "sample is damaged");
  };
  const Error error = error_of(small_config());
  EXPECT_EQ(error.kind(), ErrorKind::data);
  EXPECT_STREQ(error.what(), "sample is damaged");
}

TEST_F(TrainerTest, RefusesAFolderWithCheckpointsUnlessResuming) {
  train(small_config());
  const Error error = error_of(small_config());
  EXPECT_EQ(error.kind(), ErrorKind::cannot_create);
  EXPECT_THAT(error.what(), HasSubstr("--resume"));
}

TEST_F(TrainerTest, RefusesAFolderInUse) {
  run.write_config("");
  const RunFolder other = run;  // holds the lock
  run = RunFolder::open(other.path());
  EXPECT_THAT(error_of(small_config()).what(), HasSubstr("another process is training"));
}

TEST_F(TrainerTest, WritesNothingOnceItsClaimIsLost) {
  Claims claims(scratch / "claims", std::chrono::milliseconds(60'000));
  const auto claim = claims.take("toy");
  ASSERT_EQ(::setenv(kClaimVariable, claim->ticket().c_str(), 1), 0);
  TrainConfig config = small_config();
  config.log_every_steps = 1;
  config.tensorboard = true;
  std::map<std::string, std::string> before;
  const auto files = [&] {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(run.path()))
      if (entry.is_regular_file()) found[entry.path().string()] = read_file(entry.path());
    return found;
  };
  task.on_loss = [&](uint64_t step) {
    if (step != 7) return;
    write_file_atomically(scratch / "claims/toy.json", R"({"token": "theirs"})");
    before = files();
  };
  const Error error = error_of(config);
  ::unsetenv(kClaimVariable);
  EXPECT_EQ(error.kind(), ErrorKind::cannot_create);
  EXPECT_THAT(error.what(), HasSubstr("this work was taken over by another process"));
  EXPECT_EQ(files(), before);
  EXPECT_EQ(run.read_metric_lines().size(), 7U);
}

TEST_F(TrainerTest, ResumeNeedsTheLinesThatTheCheckpointKnows) {
  train(small_config());
  const std::filesystem::path path = run.file("metrics.jsonl");
  const std::string lines = read_file(path);
  std::filesystem::resize_file(path, lines.size() - 1);  // shorter than recorded at step 15, not at step 10
  ToyTask other;
  EXPECT_EQ(train::train(other, small_config(), run, true).steps, 15);
  EXPECT_EQ(other.evaluations, 3);
  EXPECT_EQ(read_file(path), lines);
  std::filesystem::remove(path);
  const Error error = error_of(small_config(), true);
  EXPECT_EQ(error.kind(), ErrorKind::data);
  EXPECT_THAT(error.what(), HasSubstr("metrics.jsonl is shorter than recorded in the checkpoint of step 15"));
}

TEST_F(TrainerTest, ResumeWithOtherSettingsNamesThem) {
  TrainConfig config = small_config();
  train(config);
  config.optimizer.learning_rate = 0.5;
  config.keep_checkpoints = 7;  // does not affect results
  const Error error = error_of(config, true);
  EXPECT_EQ(error.kind(), ErrorKind::config);
  EXPECT_THAT(error.what(), HasSubstr("optimizer.learning_rate was 0.001, is 0.5"));
  EXPECT_THAT(error.what(), testing::Not(HasSubstr("keep_checkpoints")));
  config.epochs = 4;
  EXPECT_EQ(train(config, true, true).steps, 20);
}

TEST_F(TrainerTest, ResumeWithOtherDataOrAnotherModelIsADataError) {
  train(small_config());
  ToyTask fewer(149, 1);
  EXPECT_EQ(modewise::error_of(ErrorKind::data, [&] { train::train(fewer, small_config(), run, true); }),
            "the training data differs from that of " + (run.checkpoints() / "step_15").string() +
                " (150 samples, hash toy; now 149 samples, hash toy)");
  class Wider : public ToyTask {
   public:
    Wider() { net->register_parameter("more", net->first_bias.detach().clone()); }
  } wider;
  try {
    train::train(wider, small_config(), run, true);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_THAT(error.what(), HasSubstr("has no tensor 'more'"));
  }
}

TEST_F(TrainerTest, BadSettingsAreConfigErrors) {
  TrainConfig config = small_config();
  config.batch_size = 0;
  EXPECT_EQ(error_of(config).kind(), ErrorKind::config);
  config = small_config();
  config.optimizer.betas = {0.9};
  EXPECT_THAT(error_of(config).what(), HasSubstr("optimizer.betas must be two numbers"));
  config.optimizer.betas = {0.9, 1.0};
  EXPECT_THAT(error_of(config).what(), HasSubstr("below 1"));
  config = small_config();
  config.drop_last = true;
  config.batch_size = 151;
  EXPECT_EQ(error_of(config).kind(), ErrorKind::data);
}

}  // namespace
}  // namespace modewise::train
