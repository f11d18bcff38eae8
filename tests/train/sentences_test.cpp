// Error messages of run folders, checkpoints and the trainer, word by word; all numbers and names in them are
// distinct.

#include <ATen/ops/empty.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/hash.h"
#include "modewise/train/checkpoint/checkpoint.h"
#include "modewise/train/checkpoint/folder_lock.h"
#include "modewise/train/checkpoint/run_weights.h"
#include "modewise/train/checkpoint/tensor_file.h"
#include "modewise/train/loop/metric_log.h"
#include "modewise/train/loop/optimizer.h"
#include "modewise/train/loop/schedule.h"
#include "modewise/train/loop/trainer.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"
#include "toy_task.h"

namespace modewise::train {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(Sentences, OfRunFolders) {
  const ScratchFolder scratch;
  const std::string here = scratch.path().string();
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { RunFolder::open(scratch / "none"); }),
            "no such run folder: " + here + "/none");
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { RunFolder::open(scratch.path()); }),
            here + " is not a run folder: it has no config.toml");
  const RunFolder cut = RunFolder::create(scratch / "cut");
  RunManifest manifest;
  manifest.task = "forecast";
  cut.write_manifest(manifest);
  EXPECT_EQ(
      error_of(ErrorKind::no_input, [&] { RunFolder::open(scratch / "cut"); }),
      here +
          "/cut is not a run folder yet: its start was interrupted before config.toml was written; start it "
          "again with --overwrite");
  EXPECT_EQ(error_of(ErrorKind::cannot_create, [&] { RunFolder::create(scratch / "cut"); }),
            "another process is training in " + here + "/cut");
  scratch.write("held/mine.txt", "mine");
  EXPECT_EQ(error_of(ErrorKind::cannot_create, [&] { RunFolder::create(scratch / "held"); }),
            here + "/held is not empty: resume that run with --resume " + here +
                "/held, replace it with --overwrite, or choose another folder");
  scratch.write("mine/model/w.bin", "mine");
  EXPECT_EQ(
      error_of(ErrorKind::cannot_create, [&] { RunFolder::create(scratch / "mine", true); }),
      here + "/mine contains model, which no run manifest lists: move it away, or choose another folder");
  EXPECT_EQ(error_of(ErrorKind::cannot_create, [&] { RunFolder::create_numbered(scratch.path(), "a/b"); }),
            "cannot create " + here + "/a/b: No such file or directory");
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { const FolderLock lock(scratch / "none"); }),
            "cannot open folder " + here + "/none: No such file or directory");
  EXPECT_EQ(error_of(ErrorKind::io, [&] { const MetricLog log(scratch / "none/metrics.jsonl", 0); }),
            "cannot open " + here + "/none/metrics.jsonl: No such file or directory");
  EXPECT_EQ(error_of(ErrorKind::io, [&] { const MetricLog log(scratch / "held/mine.txt", -1); }),
            "cannot truncate to its recorded length " + here + "/held/mine.txt: Invalid argument");
}

TEST(Sentences, OfARunsJson) {
  const ScratchFolder scratch;
  const RunFolder run = RunFolder::create(scratch.path());
  const std::string here = scratch.path().string();
  for (const char* name : {"manifest.json", "metrics.json"}) write(scratch / name, "[1]");
  write(scratch / "metrics.jsonl", "{}\n{}\n7\n");
  EXPECT_EQ(error_of(ErrorKind::data, [&] { run.read_manifest(); }),
            here + "/manifest.json is not a JSON object");
  EXPECT_EQ(error_of(ErrorKind::data, [&] { run.read_metrics(); }),
            here + "/metrics.json is not a JSON object");
  EXPECT_EQ(error_of(ErrorKind::data, [&] { run.read_metric_lines(); }),
            here + "/metrics.jsonl:3 is not a JSON object");
}

/// A store with one checkpoint, of step 4, with the file "model".
class CheckpointSentences : public testing::Test {
 protected:
  void SetUp() override { store.save(4, {{"step", 4}}, {text_file("model", "weights")}, 2); }
  std::string damage() const { return checkpoint_damage(step); }
  /// Applies `change` to the manifest and updates its hash.
  void rewrite_manifest(const std::function<void(nlohmann::ordered_json&)>& change) const {
    auto manifest = nlohmann::ordered_json::parse(read_file(step / "manifest.json"));
    manifest.erase("hash");
    change(manifest);
    manifest["hash"] = content_hash(as_bytes(manifest.dump()));
    write(step / "manifest.json", manifest.dump(1) + "\n");
  }

  ScratchFolder scratch;
  fs::path folder = scratch / "checkpoints", step = folder / "step_4";
  CheckpointStore store{folder};
};

TEST_F(CheckpointSentences, SayWhatIsDamaged) {
  const std::string here = step.string();
  EXPECT_EQ(damage(), "");
  write(step / "model", "weight");
  EXPECT_EQ(damage(), here + "/model has 6 bytes, expected 7");
  write(step / "model", "weightz");
  EXPECT_EQ(damage(), "the content of " + here + "/model does not match its hash");
  EXPECT_EQ(error_of(ErrorKind::data, [&] { store.newest(); }), "no checkpoint in " + folder.string() +
                                                                    " is intact: the content of " + here +
                                                                    "/model does not match its hash");
  fs::remove(step / "model");
  EXPECT_EQ(damage(), here + "/model is missing");
  rewrite_manifest([](auto& manifest) { manifest["format"] = 2; });
  EXPECT_EQ(damage(), here + "/manifest.json has format 2, this program reads format 1");
  rewrite_manifest([](auto& manifest) { manifest.erase("format"); });
  EXPECT_EQ(damage(), here + "/manifest.json is not a manifest");
  write(step / "manifest.json", "{\"format\":1}");
  EXPECT_EQ(damage(), here + "/manifest.json does not match its own hash");
}

TEST_F(CheckpointSentences, AFileThatCannotBeReadIsAnErrorOfReading) {
  const fs::path manifest = step / "manifest.json";
  fs::remove(manifest);
  EXPECT_THAT(error_of(ErrorKind::data, [&] { store.newest(); }), testing::HasSubstr(manifest.string()));
  fs::create_symlink("manifest.json", manifest);  // opening it fails, as on a failing disk
  const std::string sentence = "cannot open " + manifest.string() + ": Too many levels of symbolic links";
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { store.newest(); }), sentence);
  store.save(2, {{"step", 2}}, {}, 2);
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { store.newest(); }),
            sentence + "; move " + step.string() + " elsewhere to use an older checkpoint");
  fs::rename(step, scratch / "elsewhere");
  EXPECT_EQ(store.newest()->step, 2);
}

TEST_F(CheckpointSentences, AStateThatIsNoJsonIsDamageToo) {
  const std::string text = "nonsense";
  write(step / "state.json", text);
  rewrite_manifest([&](auto& manifest) {
    manifest["files"]["state.json"] = {{"size", text.size()}, {"hash", content_hash(as_bytes(text))}};
  });
  EXPECT_EQ(damage(), "");
  store.save(2, {{"step", 2}}, {}, 2);  // an older one, saved later
  EXPECT_EQ(store.newest()->step, 2);
}

TEST_F(CheckpointSentences, SayThatNoneIsLeft) {
  fs::remove_all(step);
  EXPECT_EQ(error_of(ErrorKind::data, [&] { store.newest(); }),
            folder.string() + "/latest names a checkpoint, but " + folder.string() + " contains none");
  fs::remove(folder / "latest");
  EXPECT_FALSE(store.newest().has_value());
}

TEST_F(CheckpointSentences, SayWhyNothingWasSaved) {
  const auto full = [](const ByteSink&) { fail(ErrorKind::io, "the disk is full"); };
  EXPECT_EQ(error_of(ErrorKind::io,
                     [&] {
                       store.save(9, {}, {{"model", full}}, 2);
                     }),
            "checkpoint of step 9 not saved: the disk is full");
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"latest", "step_4"}));
  store.save(7, {}, {}, 2);
  fs::create_symlink("nowhere", folder / "step_7.damaged");
  EXPECT_EQ(error_of(ErrorKind::io,
                     [&] {
                       store.resume_from({4, step, {}, {}});
                     }),
            "cannot rename " + folder.string() + "/step_7: Not a directory");
}

TEST(Sentences, OfTensorFiles) {
  const ScratchFolder scratch;
  const fs::path path = scratch / "model";
  const at::Tensor a = at::zeros({2, 3}), b = at::zeros({5}, at::kDouble);
  io::write_safetensors(path, writer_of(std::vector<NamedTensor>{{"a", a}, {"b", b}}));
  const auto refused = [&](ErrorKind kind, const std::vector<NamedTensor>& into) {
    return error_of(kind, [&] { load_tensors(path, into); });
  };
  EXPECT_EQ(refused(ErrorKind::data, {{"a", a}, {"c", b}}),
            path.string() + " has no tensor 'c': it belongs to another model");
  EXPECT_EQ(refused(ErrorKind::data, {{"a", at::zeros({3, 2})}, {"b", b}}),
            path.string() + ": tensor 'a' is F32 [2, 3], the model expects F32 [3, 2]");
  EXPECT_EQ(refused(ErrorKind::data, {{"a", a}, {"b", at::zeros({5}, at::kLong)}}),
            path.string() + ": tensor 'b' is F64 [5], the model expects I64 [5]");
  EXPECT_EQ(refused(ErrorKind::data, {{"a", a}}),
            path.string() + " has 2 tensors, the model has 1: it belongs to another model");
  EXPECT_EQ(refused(ErrorKind::internal, {{"b", b}, {"a", at::zeros({3, 2}).t()}}),
            "tensor 'a' must be contiguous to be loaded");
  const std::vector<NamedTensor> complex = {{"z", at::empty({1}, at::kComplexFloat)}};
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { writer_of(complex); }),
            "tensors of type ComplexFloat cannot be saved");
}

TEST(Sentences, OfParametersSchedulesAndMetrics) {
  const auto refused = [](const at::Tensor& tensor) {
    return error_of(ErrorKind::internal, [&] { Optimizer({{"weight", tensor}}, {}); });
  };
  EXPECT_EQ(refused(at::zeros({3, 2}).t()),
            "parameter 'weight' must be a contiguous tensor of float32 master weights, got CPUFloatType");
  EXPECT_EQ(refused(at::zeros({3}, at::kHalf)),
            "parameter 'weight' must be a contiguous tensor of float32 master weights, got CPUHalfType");
  EXPECT_NO_THROW(Optimizer({{"a", at::zeros({3}, at::kDouble)}, {"b", at::zeros({3})}}, {}));
  ScheduleConfig config;
  config.name = "sawtooth";
  EXPECT_EQ(error_of(ErrorKind::config, [&] { Schedule(config, {}, 3, 5).at(0); }),
            "unknown schedule 'sawtooth'");
  const Metrics metrics = {{"mse", 1.0}, {"mae", 2.0}};
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { metrics.at("rmse"); }),
            "unknown metric 'rmse'; known: mse, mae");
  TrainConfig settings;
  settings.optimizer.betas = {0.5, 1};
  EXPECT_EQ(error_of(ErrorKind::config, [&] { settings.validate(); }),
            "train: optimizer.betas must be below 1, got 0.5 and 1");
}

/// The toy task with one part replaced.
class OddTask : public ToyTask {
 public:
  std::function<at::Tensor(const at::Tensor&)> changed_loss = [](const at::Tensor& loss) { return loss; };
  bool loads_nothing = false;
  int64_t samples = 150;
  std::string hash = "toy";

  at::Tensor loss(const Batch& batch, uint64_t seed, uint64_t step) override {
    return changed_loss(ToyTask::loss(batch, seed, step));
  }
  std::unique_ptr<Batch> load(std::span<const int64_t> indices) const override {
    return loads_nothing ? nullptr : ToyTask::load(indices);
  }
  int64_t training_samples() const override { return samples; }
  std::string data_hash() const override { return hash; }
};

class TrainingSentences : public testing::Test {
 protected:
  std::string ends_with(ErrorKind kind, bool resume = false) {
    return error_of(kind, [&] { train(task, config, run, resume); });
  }

  ScratchFolder scratch;
  RunFolder run = RunFolder::create(scratch / "run");
  const std::string here = run.path().string();
  OddTask task;
  TrainConfig config = [] {
    TrainConfig c;
    c.epochs = 2;
    c.batch_size = 50;  // 3 steps an epoch
    return c;
  }();
};

constexpr const char* kMayHelp = ". A smaller learning rate or clip_norm may help";

TEST_F(TrainingSentences, OfSamplesAndFolders) {
  task.samples = 0;
  EXPECT_EQ(ends_with(ErrorKind::data), "there are no training samples");
  task.samples = 49;
  config.drop_last = true;
  EXPECT_EQ(ends_with(ErrorKind::data),
            "49 training samples do not fill one batch of 50, and drop_last drops incomplete batches");
  task.samples = 50;
  EXPECT_EQ(train(task, config, run, false).steps, 2);
  EXPECT_EQ(ends_with(ErrorKind::cannot_create),
            here + " already contains checkpoints: resume that run with --resume " + here);
  EXPECT_EQ(
      error_of(ErrorKind::no_input, [&] { load_weights(*task.net, RunFolder::create(scratch / "new")); }),
      (scratch / "new").string() + " has no checkpoint yet");
}

TEST_F(TrainingSentences, OfTasksThatGiveNothing) {
  task.loads_nothing = true;
  EXPECT_EQ(ends_with(ErrorKind::internal), "the task loaded no batch 0");
  task.loads_nothing = false;
  const std::string wanted = "the task's loss must be a scalar with a gradient";
  task.changed_loss = [](const at::Tensor& loss) { return loss.detach(); };
  EXPECT_EQ(ends_with(ErrorKind::internal), wanted);
  task.changed_loss = [](const at::Tensor& loss) { return loss.expand({2}); };
  EXPECT_EQ(ends_with(ErrorKind::internal), wanted);
  task.changed_loss = [](const at::Tensor&) { return at::Tensor(); };
  EXPECT_EQ(ends_with(ErrorKind::internal), wanted);
  task.changed_loss = [](const at::Tensor& loss) { return loss; };
  task.on_evaluate = [](Metrics&) { throw EvaluationInterrupted(); };
  EXPECT_EQ(ends_with(ErrorKind::internal), "an evaluation was interrupted without a signal");
}

TEST_F(TrainingSentences, OfLossesAndGradientsThatAreNotFinite) {
  task.changed_loss = [](const at::Tensor& loss) { return loss * HUGE_VAL; };
  EXPECT_EQ(
      ends_with(ErrorKind::general),
      std::string("training diverged at step 1: the loss is inf; no checkpoint was saved yet") + kMayHelp);
  int64_t steps = 0;
  task.changed_loss = [&](const at::Tensor& loss) {
    if (++steps == 5) task.net->second_bias.mutable_data_ptr<float>()[4] = std::nanf("");
    return steps == 5 ? loss * std::nanf("") : loss;
  };
  EXPECT_EQ(
      ends_with(ErrorKind::general),
      std::string("training diverged at step 5: the loss is nan and parameter 'second_bias' is not finite; "
                  "the checkpoint of step 3 is intact") +
          kMayHelp);
}

TEST_F(TrainingSentences, OfGradientsWhoseNormAloneIsNotFinite) {
  // Squares of 1.44e308 each: their sum overflows float64.
  const at::Tensor a = task.net->register_parameter("a", at::zeros({1}, at::kDouble)),
                   b = task.net->register_parameter("b", at::zeros({1}, at::kDouble));
  for (const at::Tensor& one : {a, b})
    one.register_hook([](const at::Tensor& gradient) { return at::full_like(gradient, 1.2e154); });
  task.changed_loss = [&](const at::Tensor& loss) { return loss + (a + b).sum(); };
  EXPECT_EQ(ends_with(ErrorKind::general),
            std::string("training diverged at step 1: the gradient norm is not finite; no checkpoint was "
                        "saved yet") +
                kMayHelp);
  b.register_hook([](const at::Tensor& gradient) { return at::full_like(gradient, HUGE_VAL); });
  EXPECT_EQ(
      ends_with(ErrorKind::general),
      std::string("training diverged at step 1: the gradient of parameter 'b' is not finite; no checkpoint "
                  "was saved yet") +
          kMayHelp);
}

TEST_F(TrainingSentences, OfWeightsThatAreNotFiniteAtAnEvaluation) {
  int64_t steps = 0;
  task.changed_loss = [&](const at::Tensor& loss) {
    if (++steps == 6) task.net->second_bias.mutable_data_ptr<float>()[4] = std::nanf("");
    return loss;
  };
  task.on_evaluate = [](Metrics& metrics) { metrics.set("val_mse", 1); };
  EXPECT_EQ(
      ends_with(ErrorKind::general),
      std::string("training diverged: parameter 'second_bias' is not finite at the evaluation of step 6; "
                  "the checkpoint of step 3 is intact") +
          kMayHelp);
}

TEST_F(TrainingSentences, OfACriterionThatIsNotFinite) {
  task.on_evaluate = [](Metrics& metrics) { metrics.set("val_mse", -HUGE_VAL); };
  EXPECT_EQ(ends_with(ErrorKind::general),
            std::string("training diverged: val_mse is -inf at the evaluation of step 3") + kMayHelp);
}

TEST_F(TrainingSentences, OfRunsThatCannotGoOnLikeThis) {
  train(task, config, run, false);
  const std::string name = here + "/checkpoints/step_6";
  config.batch_size = 75;
  config.optimizer.learning_rate = 0.5;
  EXPECT_EQ(ends_with(ErrorKind::config, true),
            "this run was started with other settings (batch_size was 50, is 75; optimizer.learning_rate was "
            "0.001, is 0.5): resume with the same, or accept the change with --allow-config-changes");
  config.batch_size = 50;
  config.optimizer.learning_rate = 0.001;
  task.samples = 149;
  const std::string other =
      "the training data differs from that of " + name + " (150 samples, hash toy; now ";
  EXPECT_EQ(ends_with(ErrorKind::data, true), other + "149 samples, hash toy)");
  task.samples = 150;
  task.hash = "doll";
  EXPECT_EQ(ends_with(ErrorKind::data, true), other + "150 samples, hash doll)");
  EXPECT_EQ(train(task, config, run, true, true).steps, 6);
  task.hash = "toy";
  fs::remove(run.file("metrics.jsonl"));
  fs::remove_all(run.checkpoints() / "step_3");
  EXPECT_EQ(ends_with(ErrorKind::data, true),
            "no checkpoint in " + here + "/checkpoints is intact: " + here +
                "/metrics.jsonl is shorter than recorded in the checkpoint of step 6");
  fs::remove_all(run.checkpoints());
  write(run.file("metrics.jsonl"), "");
  CheckpointStore(run.checkpoints()).save(8, {{"step", 8}}, {}, 1);
  EXPECT_EQ(
      ends_with(ErrorKind::data, true),
      here + "/checkpoints/step_8/state.json: [json.exception.out_of_range.403] key 'config' not found");
}

}  // namespace
}  // namespace modewise::train
