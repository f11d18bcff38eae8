#include "modewise/train/checkpoint/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/version.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>

#include "modewise/core/claims.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/train/checkpoint/folder_lock.h"
#include "modewise/train/loop/metric_log.h"
#include "tests/failing_calls.h"
#include "tests/logged.h"
#include "tests/scratch_folder.h"

namespace modewise::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

template <class Work>
Error error_of(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {ErrorKind::general, ""};
}

TEST(RunFolder, KeepsConfigManifestAndMetrics) {
  const ScratchFolder scratch;
  const RunFolder made = RunFolder::create(scratch / "a/b/run");
  made.write_config("[train]\nepochs = 3\n");
  made.write_manifest({.task = "forecast",
                       .command_line = {"modewise", "train", "\xff"},
                       .seed = 7,
                       .threads = 2,
                       .data_hash = "abc"});
  made.write_metrics({{"val_mse", 0.1}});
  const RunFolder run = RunFolder::open(scratch / "a/b/run");
  EXPECT_EQ(run.read_config(), "[train]\nepochs = 3\n");
  const auto manifest = run.read_manifest();
  EXPECT_EQ(manifest.at("seed"), 7);
  EXPECT_EQ(manifest.at("threads"), 2);
  EXPECT_EQ(manifest.at("data_hash"), "abc");
  for (const char* key : {"started", "build", "torch", "machine", "command_line"})
    EXPECT_TRUE(manifest.contains(key)) << key;
  EXPECT_EQ(run.read_metrics().at("val_mse"), 0.1);
}

TEST(RunFolder, NeverOverwritesUnasked) {
  const ScratchFolder scratch;
  std::ofstream(scratch / "mine.txt") << "mine";
  const Error error = error_of([&] { RunFolder::create(scratch.path()); });
  EXPECT_EQ(error.kind(), ErrorKind::cannot_create);
  EXPECT_THAT(error.what(), HasSubstr("--resume"));
  EXPECT_THAT(error.what(), HasSubstr("--overwrite"));
}

RunManifest forecast() {
  RunManifest manifest;
  manifest.task = "forecast";
  return manifest;
}

/// A run in `path` with the files that training adds.
void make_run(const fs::path& path) {
  const RunFolder run = RunFolder::create(path, true);
  run.begin(forecast(), "[train]\nepochs = 3\n", {{"source", "a.csv"}});
  std::ofstream(run.file("metrics.jsonl")) << "{}\n";
  fs::create_directories(run.checkpoints() / "step_1");
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

TEST(RunFolder, StartsFromScratchWhereItsManifestSaysWhatWasARun) {
  const ScratchFolder scratch;
  std::ofstream(scratch / "mine.txt") << "mine";
  fs::create_directories(scratch / "x.tmp-5");
  make_run(scratch.path());
  RunFolder::create(scratch.path(), true);
  EXPECT_EQ(names_in(scratch.path()), (std::set<std::string>{"mine.txt", "x.tmp-5", "manifest.json"}));
  make_run(scratch.path());  // also after an interrupted start
  EXPECT_EQ(RunFolder::open(scratch.path()).read_config(), "[train]\nepochs = 3\n");
}

TEST(RunFolder, RemovesNothingThatNoManifestLists) {
  for (const std::string manifest :
       {"", "{}", "[]", "nonsense", R"({"name": "a page", "files": ["config.toml", "model"]})",
        R"({"task": "forecast", "files": ["metrics.jsonl"]})",
        R"({"task": "forecast", "files": "config.toml"})"}) {
    const ScratchFolder scratch;
    std::ofstream(scratch / "config.toml") << "mine";
    fs::create_directories(scratch / "model");
    std::ofstream(scratch / "model/w.bin") << "mine";
    if (!manifest.empty()) std::ofstream(scratch / "manifest.json") << manifest;
    const std::set<std::string> before = names_in(scratch.path());
    const Error error = error_of([&] { RunFolder::create(scratch.path(), true); });
    EXPECT_EQ(error.kind(), ErrorKind::cannot_create) << manifest;
    EXPECT_THAT(error.what(), HasSubstr("which no run manifest lists"));
    EXPECT_EQ(names_in(scratch.path()), before) << manifest;
    EXPECT_TRUE(fs::exists(scratch / "model/w.bin"));
  }
}

TEST(RunFolder, RemovesNoNamesButARunsOwn) {
  const ScratchFolder scratch;
  std::ofstream(scratch / "thesis.tex") << "mine";
  std::ofstream(scratch / "manifest.json")
      << R"({"task": "forecast", "files": ["thesis.tex", "../elsewhere", "manifest.json", "config.toml"]})";
  RunFolder::create(scratch.path(), true);
  EXPECT_TRUE(fs::exists(scratch / "thesis.tex"));
}

TEST(RunFolder, KeepsDataThatWereWrittenForIt) {
  const ScratchFolder scratch;
  fs::create_directories(scratch / "run/data");
  std::ofstream(scratch / "run/data/x.csv") << "1";
  EXPECT_EQ(error_of([&] { RunFolder::create(scratch / "run"); }).kind(), ErrorKind::cannot_create);
  EXPECT_EQ(error_of([&] { RunFolder::create(scratch / "run", false, "data2"); }).kind(),
            ErrorKind::cannot_create);
  RunManifest manifest = forecast();
  manifest.inputs = "data";
  RunFolder::create(scratch / "run", false, "data").begin(manifest, "x = 1\n", {});
  EXPECT_EQ(read_file(scratch / "run/data/x.csv"), "1");
  EXPECT_EQ(RunFolder::open(scratch / "run").read_manifest().at("files").back(), "data");
}

TEST(RunFolder, RemovesDataOfTheEarlierRunAndNoOther) {
  const ScratchFolder scratch;
  RunManifest manifest = forecast();
  manifest.inputs = "data";
  RunFolder::create(scratch.path()).begin(manifest, "x = 1\n", {});
  for (const char* name : {"data", "data2", "data3", "database"}) fs::create_directories(scratch / name);
  manifest.inputs = "data2";
  RunFolder::create(scratch.path(), true, "data2").begin(manifest, "x = 2\n", {});
  const std::set<std::string> kept = {"config.toml", "data.json", "data2",
                                      "data3",       "database",  "manifest.json"};
  EXPECT_EQ(names_in(scratch.path()), kept);
}

TEST(RunFolder, DoesNotReplaceWhatTheNewRunReads) {
  const ScratchFolder scratch;
  RunManifest manifest = forecast();
  manifest.inputs = "data";
  const std::string needed = scratch.write("data/x.csv", "1");
  RunFolder::create(scratch.path(), false, "data").begin(manifest, "x = 1\n", {});
  fs::create_directories(scratch / "data2");
  const std::set<std::string> before = names_in(scratch.path());
  const Error error = error_of([&] {
    RunFolder::create(scratch.path(), true, "data2", {"/elsewhere", needed});
  });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.what(),
            needed + " belongs to the run in " + scratch.path().string() +
                ", which the new run would replace: copy it elsewhere, or choose another folder");
  EXPECT_EQ(names_in(scratch.path()), before);
  RunFolder::create(scratch.path(), true, "data2", {scratch.path("data2/x.csv"), scratch.path("database")});
  EXPECT_FALSE(fs::exists(scratch / "data"));
}

TEST(RunFolder, DataForARunHaveOneNameInIt) {
  const ScratchFolder scratch;
  for (const char* name : {"datum", "data/..", "../data", "data.json", "data 2", "x"}) {
    const Error error = error_of([&] { RunFolder::create(scratch / "run", true, name); });
    EXPECT_EQ(error.kind(), ErrorKind::usage) << name;
    EXPECT_FALSE(fs::exists(scratch / "run"));
  }
}

TEST(RunFolder, IsARunWhenItsConfigIsThere) {
  const ScratchFolder scratch;
  const RunFolder run = RunFolder::create(scratch / "run");
  run.write_manifest(forecast());
  run.write_data({{"source", "a.csv"}});
  Error error = error_of([&] { RunFolder::open(scratch / "run"); });
  EXPECT_EQ(error.kind(), ErrorKind::no_input);
  EXPECT_THAT(error.what(), HasSubstr("its start was interrupted"));
  run.write_config("# now\n");
  EXPECT_EQ(RunFolder::open(scratch / "run").task(), "forecasting");
}

TEST(RunFolder, IsLockedFromTheStartOn) {
  const ScratchFolder scratch;
  {
    const RunFolder first = RunFolder::create(scratch / "run");
    const Error error = error_of([&] { RunFolder::create(scratch / "run", true); });
    EXPECT_EQ(error.kind(), ErrorKind::cannot_create);
    EXPECT_THAT(error.what(), HasSubstr("another process is training"));
    first.begin(forecast(), "", {});
    RunFolder second = RunFolder::open(scratch / "run");  // reading needs no lock
    EXPECT_EQ(error_of([&] { second.lock(); }).kind(), ErrorKind::cannot_create);
  }
  RunFolder second = RunFolder::open(scratch / "run");
  second.lock();
  second.lock();
}

TEST(RunFolder, UsesAnEmptyFolderAndRefusesAFile) {
  const ScratchFolder scratch;
  RunFolder::create(scratch.path());
  std::ofstream(scratch / "file") << "";
  EXPECT_EQ(error_of([&] { RunFolder::create(scratch / "file"); }).kind(), ErrorKind::cannot_create);
  EXPECT_EQ(error_of([&] { RunFolder::create(scratch / "file/run"); }).kind(), ErrorKind::cannot_create);
}

TEST(RunFolder, IsNumberedWhenItsNameWasNotGiven) {
  const ScratchFolder scratch;
  EXPECT_EQ(RunFolder::create_numbered(scratch / "runs", "hot").path(), scratch / "runs/hot");
  EXPECT_EQ(RunFolder::create_numbered(scratch / "runs", "hot").path(), scratch / "runs/hot2");
  EXPECT_EQ(RunFolder::create_numbered(scratch / "runs", "hot").path(), scratch / "runs/hot3");
}

TEST(RunFolder, OpensOnlyRuns) {
  const ScratchFolder scratch;
  EXPECT_EQ(error_of([&] { RunFolder::open(scratch / "none"); }).kind(), ErrorKind::no_input);
  const Error error = error_of([&] { RunFolder::open(scratch.path()); });
  EXPECT_EQ(error.kind(), ErrorKind::no_input);
  EXPECT_THAT(error.what(), HasSubstr("config.toml"));
}

TEST(RunFolder, DeepJsonIsADataError) {
  const ScratchFolder scratch;
  const RunFolder run = RunFolder::create(scratch.path());
  const std::string deep = "{\"task\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}";
  for (const char* name : {"manifest.json", "metrics.json", "metrics.jsonl"})
    scratch.write(name, deep + "\n");
  for (const std::function<void()>& read : {std::function<void()>([&] { run.read_manifest(); }),
                                            std::function<void()>([&] { run.read_metrics(); }),
                                            std::function<void()>([&] { run.read_metric_lines(); })}) {
    const Error error = error_of(read);
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_THAT(error.what(), HasSubstr("nested deeper than 100 levels"));
  }
}

TEST(RunFolder, DamagedJsonIsADataError) {
  const ScratchFolder scratch;
  const RunFolder run = RunFolder::create(scratch.path());
  EXPECT_EQ(error_of([&] { run.read_metrics(); }).kind(), ErrorKind::no_input);
  for (const char* text : {"", "{", "[1]", "\xff\xfe"}) {
    std::ofstream(scratch / "metrics.json") << text;
    std::ofstream(scratch / "manifest.json") << text;
    EXPECT_EQ(error_of([&] { run.read_metrics(); }).kind(), ErrorKind::data);
    EXPECT_EQ(error_of([&] { run.read_manifest(); }).kind(), ErrorKind::data);
  }
  std::ofstream(scratch / "metrics.jsonl") << "{}\nnonsense\n";
  EXPECT_THAT(error_of([&] { run.read_metric_lines(); }).what(), HasSubstr("metrics.jsonl:2"));
}

TEST(RunFolder, ReadsMetricLinesAndLeavesOutACutOne) {
  const ScratchFolder scratch;
  const RunFolder run = RunFolder::create(scratch.path());
  EXPECT_TRUE(run.read_metric_lines().empty());
  std::ofstream(scratch / "metrics.jsonl") << "{\"step\":1}\n{\"step\":2}\n{\"st";
  ASSERT_EQ(run.read_metric_lines().size(), 2U);
  EXPECT_EQ(run.read_metric_lines()[1].at("step"), 2);
}

TEST(MetricLog, ContinuesAtTheRecordedLength) {
  const ScratchFolder scratch;
  {
    MetricLog log(scratch / "metrics.jsonl", 0);
    log.append({{"step", 1}});
    log.append({{"step", 2}});
    EXPECT_EQ(log.length(), 22);
  }
  MetricLog log(scratch / "metrics.jsonl", 11);
  log.append({{"step", 7}});
  log.sync();
  const RunFolder run = RunFolder::create_numbered(scratch.path(), "run");
  fs::copy(scratch / "metrics.jsonl", run.file("metrics.jsonl"));
  ASSERT_EQ(run.read_metric_lines().size(), 2U);
  EXPECT_EQ(run.read_metric_lines()[1].at("step"), 7);
}

TEST(FolderLock, LetsOneInAtATime) {
  const ScratchFolder scratch;
  {
    const FolderLock first(scratch.path());
    EXPECT_EQ(error_of([&] { const FolderLock second(scratch.path()); }).kind(), ErrorKind::cannot_create);
  }
  const FolderLock again(scratch.path());
}

TEST(FolderLock, WarnsWhereTheFileSystemHasNone) {
  const ScratchFolder scratch;
  const FailingCalls failing("flock", ENOLCK, 1, 2);
  const Logged logged;
  const FolderLock first(scratch.path()), second(scratch.path());
  const std::string warning = "warning: the file system of " + scratch.path().string() +
                              " has no locks (No locks available): start no second training in this folder\n";
  EXPECT_EQ(logged.text(), warning + warning);
}

TEST(RunFolder, KeepsTimings) {
  const ScratchFolder scratch;
  const RunFolder run = RunFolder::create_numbered(scratch.path(), "run");
  run.write_timing({{"test", 1.5}});
  EXPECT_EQ(run.read_timing(), (nlohmann::ordered_json{{"test", 1.5}}));
  EXPECT_EQ(error_of([&] { run.read_metrics(); }).kind(), ErrorKind::no_input);
}

TEST(MetricLog, UnderALostClaimNothingIsCutOrAppended) {
  const ScratchFolder scratch;
  Claims claims(scratch / "claims", std::chrono::milliseconds(60'000));
  const auto claim = claims.take("run");
  MetricLog log(scratch / "metrics.jsonl", 0);
  log.append({{"step", 1}});
  ASSERT_EQ(::setenv(kClaimVariable, claim->ticket().c_str(), 1), 0);
  log.append({{"step", 2}});
  scratch.write("claims/run.json", R"({"token": "theirs"})");
  const Error appended = error_of([&] { log.append({{"step", 3}}); });
  const Error opened = error_of([&] { MetricLog(scratch / "metrics.jsonl", 0); });
  const Error locked = error_of([&] { RunFolder::create(scratch / "run"); });
  ::unsetenv(kClaimVariable);
  EXPECT_EQ(appended.kind(), ErrorKind::cannot_create);
  EXPECT_EQ(opened.kind(), ErrorKind::cannot_create);
  EXPECT_EQ(locked.kind(), ErrorKind::cannot_create);
  EXPECT_EQ(read_file(scratch / "metrics.jsonl"), "{\"step\":1}\n{\"step\":2}\n");
}

TEST(RunFolder, OfAStartThatWasCutOffIsEmpty) {
  const ScratchFolder scratch;
  scratch.write(".lock", "");                                       // of a killed process
  scratch.write("auto.tmp-0123456789abcdef/request.json", "{\"t");  // of a search that never started
  const RunFolder run = RunFolder::create(scratch.path());
  EXPECT_FALSE(fs::exists(scratch / "auto.tmp-0123456789abcdef"));
  EXPECT_TRUE(fs::exists(scratch / ".lock"));  // held
}

TEST(RunFolder, ARefusalLeavesAFolderAsItWas) {
  const ScratchFolder scratch;
  scratch.write("mine.txt", "mine");
  error_of([&] { RunFolder::create(scratch.path()); });
  EXPECT_FALSE(fs::exists(scratch / ".lock"));
}

TEST(RunFolder, WritesTheseFilesAndNoOthers) {
  const ScratchFolder scratch;
  const RunFolder run = RunFolder::create(scratch.path());
  RunManifest manifest = forecast();
  manifest.command_line = {"modewise", "ä"};
  run.begin(manifest, "x = 1\n", {{"a", 2}});
  EXPECT_EQ(run.read_manifest().at("files"),
            (nlohmann::json{"config.toml", "manifest.json", "data.json", "metrics.jsonl", "metrics.json",
                            "log.txt", "checkpoints", "calibration.npz", "report.html", "predictions.npz",
                            "test_series.npz", "trained_series.npz", "tokenizer", "model", "captions.json",
                            "timing.json", "training_samples.npy", "events.out.tfevents.*"}));
  EXPECT_EQ(run.read_manifest().at("torch"), TORCH_VERSION);
  EXPECT_THAT(read_file(scratch / "manifest.json"), HasSubstr("\n  \"ä\"\n"));
  EXPECT_EQ(read_file(scratch / "data.json"), "{\n \"a\": 2\n}\n");
  run.write_metrics({{"b", 3}});
  EXPECT_EQ(read_file(scratch / "metrics.json"), "{\n \"b\": 3\n}\n");
  scratch.write("manifest.json", "{}");
  EXPECT_EQ(run.task(), "forecasting");
}

TEST(RunFolder, TheEventFilesOfARunAreItsOwn) {
  const ScratchFolder scratch;
  const std::string event_file = scratch.write("events.out.tfevents.1700000000.host", "");
  EXPECT_STREQ(error_of([&] { RunFolder::create(scratch.path(), true); }).what(),
               (scratch.path().string() + " contains events.out.tfevents.1700000000.host, which no run "
                                          "manifest lists: move it away, or choose another folder")
                   .c_str());
  fs::remove(event_file);
  {
    const RunFolder run = RunFolder::create(scratch.path(), true);
    run.begin(forecast(), "x = 1\n", {});
  }
  scratch.write("events.out.tfevents.1700000000.host", "");
  scratch.write("events.out.tfevents.1700000001.host", "");
  scratch.write("events.out.other", "mine");
  RunFolder::create(scratch.path(), true);
  EXPECT_FALSE(fs::exists(scratch / "events.out.tfevents.1700000000.host"));
  EXPECT_FALSE(fs::exists(scratch / "events.out.tfevents.1700000001.host"));
  EXPECT_TRUE(fs::exists(scratch / "events.out.other"));
}

TEST(RunFolder, AManifestThatCannotBeReadIsNoManifestOfAnother) {
  const ScratchFolder scratch;
  fs::create_directories(scratch / "manifest.json");
  EXPECT_EQ(error_of([&] { RunFolder::create(scratch.path(), true); }).kind(), ErrorKind::no_input);
}

TEST(RunFolder, ANumberedOneIsLockedToo) {
  const ScratchFolder scratch;
  const RunFolder run = RunFolder::create_numbered(scratch / "runs", "hot");
  EXPECT_EQ(error_of([&] { const FolderLock second(run.path()); }).kind(), ErrorKind::cannot_create);
}

}  // namespace
}  // namespace modewise::train
