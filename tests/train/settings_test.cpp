// Training options: names and ranges, rules between them, and which of them affect results.

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <cmath>

#include "modewise/core/error.h"
#include "modewise/core/integer_bounds.h"
#include "modewise/train/checkpoint/run_folder.h"
#include "modewise/train/loop/train_config.h"
#include "tests/scratch_folder.h"

namespace modewise::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refused(const std::function<void()>& action, ErrorKind kind = ErrorKind::config) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "";
}

TEST(TrainConfig, HoldsTheseFieldsAndRanges) {
  TrainConfig config;
  const Fields fields = fields_of(config);
  std::vector<std::string> found;
  for (const Field& field : fields.list()) {
    std::string text = field.path;
    if (std::isfinite(field.rule.min)) text += fmt::format(" {}…", field.rule.min);
    if (std::isfinite(field.rule.max))
      text += field.rule.max == kAnyInteger ? "2^63" : fmt::format("{}", field.rule.max);
    if (!field.rule.one_of.empty()) text += fmt::format(" {}", fmt::join(field.rule.one_of, "|"));
    found.push_back(text);
  }
  EXPECT_THAT(found, testing::ElementsAreArray({"epochs -1…",
                                                "max_steps 0…",
                                                "batch_size 1…",
                                                "seed 0…2^63",
                                                "drop_last",
                                                "accumulate 1…",
                                                "shards 1…1024",
                                                "clip_norm 0…",
                                                "ema_decay 0…0.9999999",
                                                "patience -1…",
                                                "min_delta 0…",
                                                "evaluations_per_epoch 1…",
                                                "log_every_steps 0…",
                                                "prefetch 1…1024",
                                                "device",
                                                "recompute",
                                                "checkpoint_every_steps 0…",
                                                "checkpoint_every_minutes 0…",
                                                "test",
                                                "track stable_rank",
                                                "keep_checkpoints 1…",
                                                "timeout 0.05…10000",
                                                "optimizer.name adamw|adam",
                                                "optimizer.learning_rate 0…",
                                                "optimizer.weight_decay 0…",
                                                "optimizer.betas 0…1",
                                                "optimizer.epsilon 0…",
                                                "optimizer.decay_norms",
                                                "schedule.name constant|cosine|step|type1|one_cycle",
                                                "schedule.warmup_steps 0…",
                                                "schedule.min_ratio 0…1",
                                                "schedule.step_epochs 1…",
                                                "schedule.step_at 1…",
                                                "schedule.step_factor 0…1",
                                                "schedule.peak_at 0…1",
                                                "schedule.start_divisor 1…",
                                                "schedule.end_divisor 1…",
                                                "schedule.cycle_momentum"}));
}

TEST(TrainConfig, MustFitTogether) {
  TrainConfig config;
  const auto why = [&] { return refused([&] { config.validate(); }); };
  EXPECT_EQ(why(), "");
  for (const auto& betas : {std::vector<double>{0.9}, {0.9, 0.9, 0.9}}) {
    config.optimizer.betas = betas;
    EXPECT_EQ(why(), fmt::format("train: optimizer.betas must be two numbers, got {}", betas.size()));
  }
  for (const auto& betas : {std::vector<double>{1, 0.9}, {0.9, 1}}) {
    config.optimizer.betas = betas;
    EXPECT_THAT(why(), HasSubstr("train: optimizer.betas must be below 1"));
  }
  config.optimizer.betas = {0.9, 0.99};
  config.schedule.step_at = {2, 2};
  EXPECT_EQ(why(), "train: schedule.step_at must be ascending, got [2, 2]");
  config.schedule.step_at = {2, 3};
  EXPECT_EQ(why(), "");
  config.schedule.step_epochs = 2;
  EXPECT_EQ(why(), "train: schedule.step_epochs = 2 has no effect with schedule.step_at = [2, 3]");
  config.schedule.step_at = {};
  EXPECT_EQ(why(), "");
  config.epochs = -2;
  EXPECT_THAT(why(), HasSubstr("epochs"));
}

TEST(OptimizerConfig, AdamHasNoWeightDecayUnlessItIsSet) {
  OptimizerConfig config;
  Fields fields = fields_of(config);
  fields.set("name=adamw");
  EXPECT_EQ(config.weight_decay, 0.01);
  fields.set("name=adam");
  EXPECT_EQ(config.weight_decay, 0);
  for (const char* file : {"weight_decay = 0.2\nname = 'adam'\n", "name = 'adam'\nweight_decay = 0.2\n"}) {
    config = {};
    fields.load_toml(file, "x.toml");
    EXPECT_EQ(config.weight_decay, 0.2) << file;
  }
}

TEST(TrainConfig, KnowsWhatChangesNumbers) {
  for (const char* name : {"prefetch", "recompute", "checkpoint_every_steps", "checkpoint_every_minutes",
                           "keep_checkpoints", "timeout", "test"})
    EXPECT_FALSE(changes_numbers(name)) << name;
  for (const char* name : {"seed", "epochs", "optimizer.name", ""})
    EXPECT_TRUE(changes_numbers(name)) << name;
}

TEST(RunFolder, ManifestSaysWhatWasRun) {
  const ScratchFolder scratch;
  const RunFolder run = RunFolder::create(scratch / "run");
  EXPECT_EQ(run.task(), "forecasting");  // without a manifest
  RunManifest written;
  written.task = "volume_classification";
  written.command_line = {"modewise", "\xff"};
  written.test_read = true;
  run.begin(written, "x = 1\n", {{"a", 2}});
  const nlohmann::json manifest = run.read_manifest();
  EXPECT_EQ(manifest.at("task"), "volume_classification");
  EXPECT_EQ(manifest.at("test_read"), true);
  EXPECT_EQ(manifest.at("command_line"), (nlohmann::json{"modewise", "\ufffd"}));
  EXPECT_EQ(manifest.at("files").front(), "config.toml");
  EXPECT_EQ(manifest.at("started").get<std::string>().size(), 24U);  // 2026-01-31T12:00:00+0100
  EXPECT_EQ(run.read_config(), "x = 1\n");
  EXPECT_EQ(run.task(), "volume_classification");
  EXPECT_NO_THROW(run.require_task("volume_classification"));
  EXPECT_EQ(
      refused([&] { run.require_task("forecasting"); }, ErrorKind::usage),
      (scratch / "run").string() + " is a run of the task 'volume_classification', not of 'forecasting'");
}

}  // namespace
}  // namespace modewise::train
