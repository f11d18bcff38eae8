#include "modewise/train/checkpoint/run_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/hash.h"
#include "modewise/train/loop/trainer.h"
#include "tests/scratch_folder.h"
#include "toy_task.h"

namespace modewise::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The message of the data error that `call` must throw.
template <class Call>
std::string data_error(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Rewrites a file of a checkpoint and updates the manifest.
void rewrite(const fs::path& checkpoint, const std::string& name, const std::string& text) {
  write(checkpoint / name, text);
  auto manifest = Json::parse(read_file(checkpoint / "manifest.json"));
  manifest.erase("hash");
  manifest["files"][name] = {{"size", text.size()}, {"hash", content_hash(as_bytes(text))}};
  manifest["hash"] = content_hash(as_bytes(manifest.dump()));
  write(checkpoint / "manifest.json", manifest.dump(1) + "\n");
}

/// A run of one epoch, five steps, started with `config`.
RunFolder trained(const fs::path& path, const std::string& config) {
  RunFolder run = RunFolder::create(path);
  run.begin({"forecast", {"modewise"}, 1, 1, "toy"}, config, {{"source", "toy.csv"}});
  ToyTask task;
  TrainConfig options;
  options.epochs = 1;
  options.batch_size = 30;
  train(task, options, run, false);
  return run;
}

class RunWeightsTest : public testing::Test {
 protected:
  ScratchFolder scratch;
  RunFolder run = trained(scratch / "run", "x = 1\n");
  fs::path checkpoint = run.checkpoints() / "step_5";
};

TEST_F(RunWeightsTest, ACheckpointCarriesTheIdentityOfItsRun) {
  const std::string own = run.identity();
  EXPECT_EQ(own.size(), 32U);
  EXPECT_EQ(run.read_manifest().at("run_id"), own);
  EXPECT_EQ(newest_checkpoint(run)->state.at("run_id"), own);
  EXPECT_EQ(trained(scratch / "same", "x = 1\n").identity(), own);  // trains to the same bits
  EXPECT_NE(trained(scratch / "other", "x = 2\n").identity(), own);
}

TEST_F(RunWeightsTest, ACheckpointOfAnotherRunIsRefused) {
  RunFolder other = trained(scratch / "other", "x = 2\n");
  const std::string sentence = checkpoint.string() +
                               " is a checkpoint of another run: its state.json names run " +
                               other.identity() + ", but " + run.file("manifest.json").string() +
                               " names run " + run.identity() + "; move it back to the run that wrote it";
  fs::remove_all(checkpoint);
  fs::rename(other.checkpoints() / "step_5", checkpoint);
  ToyTask task;
  EXPECT_EQ(data_error([&] { load_weights(*task.net, run); }), sentence);
  EXPECT_EQ(data_error([&] { newest_checkpoint(run); }), sentence);
  TrainConfig options;
  options.epochs = 1;
  options.batch_size = 30;
  EXPECT_EQ(data_error([&] { train(task, options, run, true, true); }), sentence);
}

TEST_F(RunWeightsTest, CheckpointsAndRunsWithoutAnIdentityAreAccepted) {
  Json state = Json::parse(read_file(checkpoint / "state.json"));
  state.erase("run_id");
  rewrite(checkpoint, "state.json", state.dump());
  EXPECT_EQ(run_weights(run).step, 5);
  state["run_id"] = "another";
  rewrite(checkpoint, "state.json", state.dump());
  Json manifest = Json::parse(read_file(run.file("manifest.json")));
  manifest.erase("run_id");
  write(run.file("manifest.json"), manifest.dump());
  EXPECT_EQ(run_weights(run).step, 5);
  fs::remove(run.file("manifest.json"));
  EXPECT_EQ(run_weights(run).step, 5);
}

TEST_F(RunWeightsTest, AFileThatTheManifestDoesNotListIsNotTaken) {
  auto manifest = Json::parse(read_file(checkpoint / "manifest.json"));
  manifest.erase("hash");
  manifest["files"].erase("best.safetensors");
  manifest["hash"] = content_hash(as_bytes(manifest.dump()));
  write(checkpoint / "manifest.json", manifest.dump(1) + "\n");
  EXPECT_EQ(run_weights(run).file, checkpoint / "model.safetensors");
}

TEST_F(RunWeightsTest, AStateOfAnotherFormIsASentence) {
  for (const char* text : {"[]", "7", "null"}) {
    rewrite(checkpoint, "state.json", text);
    EXPECT_EQ(data_error([&] { run_weights(run); }),
              "no checkpoint in " + run.checkpoints().string() +
                  " is intact: " + (checkpoint / "state.json").string() + " is not a JSON object");
  }
  const std::string begin = (checkpoint / "state.json").string() + ": [json.exception.type_error.302]";
  for (const char* text : {R"({"run_id": 7})", R"({"best_step": "x"})"}) {
    rewrite(checkpoint, "state.json", text);
    EXPECT_THAT(data_error([&] { run_weights(run); }), testing::StartsWith(begin));
  }
  rewrite(checkpoint, "state.json", R"({"metrics_bytes": "x"})");
  ToyTask task;
  TrainConfig options;
  options.batch_size = 30;
  EXPECT_THAT(data_error([&] { train(task, options, run, true); }), testing::HasSubstr(begin));
}

}  // namespace
}  // namespace modewise::train
