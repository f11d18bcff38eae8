// Sweep runner with a shell script in place of the program.

#include "modewise/sweep/sweep_runner.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/stop_signal.h"
#include "modewise/sweep/sweep_table.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"
#include "tests/sweep/tasks.h"

namespace modewise::sweep {
namespace {

using testing::HasSubstr;

/// Stand-in for the program. Takes --out or --resume, --seed and model.heads; writes the files of a training.
/// It counts its starts in FOLDER/starts. heads=13 fails; heads=73 finds another process in its folder,
/// twice; heads=74 fails without a word; heads=88 waits for FOLDER/go; heads=99 sleeps until it is stopped,
/// the first time, and then prints whether it still has its claim.
constexpr const char* kSweepTraining = R"(#!/bin/bash
while (($#)); do
  case $1 in
    --out) folder=$2; mode=new ;;
    --resume) folder=$2; mode=resumed ;;
    --seed) seed=$2 ;;
    model.heads=*) heads=${1#*=} ;;
  esac
  shift
done
mkdir -p "$folder"
echo $mode >> "$folder/starts"
if [[ $mode = new ]]; then echo "$heads $seed" > "$folder/what"; fi
read heads seed < "$folder/what"
echo "$MODEWISE_CLAIM" > "$folder/claim"
touch "$folder/config.toml" "$folder/manifest.json"
if [[ $heads = 73 && $(wc -l < "$folder/starts") -lt 3 ]]; then echo "error: another process is here" >&2; exit 73; fi
if [[ $heads = 13 ]]; then echo "error: thirteen brings no luck" >&2; exit 78; fi
if [[ $heads = 74 ]]; then exit 74; fi
if [[ $heads = 88 ]]; then while [[ ! -e $folder/go ]]; do sleep 0.02; done; fi
if [[ $heads = 99 && $mode = new ]]; then
  trap 'echo saved >> "$folder/starts"; [[ -e ${MODEWISE_CLAIM#* } ]] && echo yes > "$folder/claimed"; exit 143' TERM
  touch "$folder/traps"
  for i in {1..600}; do sleep 0.05; done
fi
echo "{\"best\": {\"val_mse\": $heads.5, \"val_mae\": $seed}}" > "$folder/metrics.json"
)";

/// Captures log messages during its lifetime.
class Logged {
 public:
  Logged() : before_(spdlog::default_logger()) {
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(100)));
  }
  ~Logged() { spdlog::set_default_logger(before_); }
  std::string text() const {
    std::string all;
    const auto& sink = spdlog::default_logger()->sinks().front();
    for (const std::string& line : static_cast<spdlog::sinks::ringbuffer_sink_mt&>(*sink).last_formatted())
      all += line;
    return all;
  }

 private:
  std::shared_ptr<spdlog::logger> before_;
};

class Sweep : public testing::Test {
 protected:
  Sweep() {
    options.out = folder / "out";
    options.jobs = 3;
    options.program = folder.write("training", kSweepTraining);
    std::filesystem::permissions(options.program, std::filesystem::perms::owner_all);
  }
  ~Sweep() override { set_stop_signal(0); }

  SweepPlan plan(const std::string& heads, const std::string& more = "") const {
    return read_sweep_plan(
        folder.write("grid.toml",
                     "seeds = [1, 2, 4]\n" + more +
                         "\n[[axis]]\nname = \"heads\"\nkey = \"model.heads\"\nvalues = " + heads),
        kTasks);
  }
  std::string starts(const std::string& run) const {
    return read_file(options.out / "runs" / run / "starts");
  }

  ScratchFolder folder;
  SweepOptions options;
};

TEST_F(Sweep, RunsEverythingAndTablesMeanAndStd) {
  const SweepPlan grid = plan("[2, 8]");
  const SweepOutcome outcome = run_sweep(grid, options);
  for (const RunOutcome& run : outcome.runs) EXPECT_EQ(run.state, RunState::finished);
  const auto rows = sweep_rows(grid, outcome);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].values[0], (std::vector<double>{8.5, 8.5, 8.5}));
  EXPECT_EQ(rows[0].values[1], (std::vector<double>{1, 2, 4}));
  const std::string markdown = sweep_table(grid, rows).to_markdown();
  EXPECT_THAT(markdown, HasSubstr("**2.500 ± 0.000**"));
  EXPECT_THAT(markdown, HasSubstr("2.333 ± 1.528"));  // of 1, 2, 4 with n − 1
  write_sweep_results(grid, outcome, rows, options.out);
  EXPECT_THAT(read_file(options.out / "report.html"), HasSubstr("2.333 ± 1.528"));
  const auto json = nlohmann::json::parse(read_file(options.out / "sweep.json"));
  EXPECT_DOUBLE_EQ(json["rows"][0]["metrics"]["/best/val_mae"]["std"], std::sqrt(7.0 / 3));
  EXPECT_EQ(json["rows"][0]["metrics"]["/best/val_mae"]["deviation"],
            json["rows"][0]["metrics"]["/best/val_mae"]["std"]);
}

TEST_F(Sweep, SkipsWhatIsFinishedAndTakesNewCellsIn) {
  run_sweep(plan("[2]"), options);
  const SweepOutcome outcome = run_sweep(plan("[2, 4]"), options);
  EXPECT_TRUE(outcome.runs[0].earlier);
  EXPECT_FALSE(outcome.runs[3].earlier);
  EXPECT_EQ(outcome.runs[3].state, RunState::finished);
  EXPECT_EQ(starts("2_s1"), "new\n");
  const SweepOutcome looked = look_at_sweep(plan("[2, 4, 6]"), options);
  EXPECT_EQ(looked.runs[5].state, RunState::finished);
  EXPECT_EQ(looked.runs[6].state, RunState::waiting);
}

TEST_F(Sweep, CountsTheChosenRuns) {
  const Logged log;
  run_sweep(plan("[2]"), options);
  EXPECT_THAT(log.text(), HasSubstr("3 runs, 0 finished earlier"));
  options.only = {"2_s2", "4_s1"};
  run_sweep(plan("[2, 4, 6]"), options);
  EXPECT_THAT(log.text(), HasSubstr("2 of 9 runs, 1 finished earlier"));
}

TEST_F(Sweep, ReportsFailuresGoesOnAndTriesAgain) {
  const SweepPlan grid = plan("[13, 2]");
  const SweepOutcome outcome = run_sweep(grid, options);
  EXPECT_EQ(outcome.runs[0].state, RunState::failed);
  EXPECT_EQ(outcome.runs[0].exit_code, 78);
  EXPECT_EQ(outcome.runs[5].state, RunState::finished);
  EXPECT_EQ(outcome.runs[0].failure, "error: thirteen brings no luck");
  const auto rows = sweep_rows(grid, outcome);
  EXPECT_EQ(rows[0].finished, 0u);
  EXPECT_THAT(sweep_table(grid, rows).to_text(), HasSubstr("0 of 3"));
  run_sweep(grid, options);
  EXPECT_EQ(starts("13_s1"), "new\nresumed\n");
  EXPECT_EQ(starts("2_s1"), "new\n");
}

TEST_F(Sweep, PassesASignalOnWaitsAndResumes) {
  const SweepPlan grid = plan("[99]");
  std::thread stopper([&] {
    while (!std::filesystem::exists(options.out / "runs" / "99_s4" / "what"))
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    set_stop_signal(SIGTERM);
  });
  const SweepOutcome stopped = run_sweep(grid, options);
  stopper.join();
  EXPECT_EQ(stopped.signal, SIGTERM);
  for (const RunOutcome& run : stopped.runs) EXPECT_EQ(run.state, RunState::stopped);
  EXPECT_EQ(starts("99_s1"), "new\nsaved\n");
  set_stop_signal(0);
  const SweepOutcome outcome = run_sweep(grid, options);
  for (const RunOutcome& run : outcome.runs) EXPECT_EQ(run.state, RunState::finished);
  EXPECT_EQ(starts("99_s1"), "new\nsaved\nresumed\n");
}

TEST_F(Sweep, RefusesAFolderMadeWithOtherSettings) {
  run_sweep(plan("[2]"), options);
  try {
    run_sweep(plan("[2]", "[settings]\ntrain.epochs = 5"), options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    EXPECT_THAT(error.what(), HasSubstr("other settings"));
  }
}

TEST_F(Sweep, RefusesAFinishedRunWhoseDataHaveChanged) {
  const std::string data = folder.write("data.csv", "1\n2\n");
  for (const std::string& named :
       {std::string("data = \"data.csv\""), "[settings]\ndata.path = \"" + data + "\""}) {
    options.out = folder / named.substr(0, 4);
    folder.write("data.csv", "1\n2\n");
    run_sweep(plan("[2]", named), options);
    folder.write("data.csv", "1\n2\n");
    EXPECT_TRUE(run_sweep(plan("[2]", named), options).runs[0].earlier);  // the same content
    folder.write("data.csv", "1\n3\n");
    EXPECT_EQ(
        error_of(ErrorKind::config, [&] { run_sweep(plan("[2, 4]", named), options); }),
        (options.out / "runs" / "2_s1").string() +
            " was trained on other data than its files hold now, and is not mixed with runs on these: use "
            "another --out, or remove that folder");
    std::filesystem::remove(data);
    EXPECT_TRUE(look_at_sweep(plan("[2]", named), options).runs[0].earlier);  // moved since
  }
}

TEST_F(Sweep, KeepsRunsWhoseDataHaveMoved) {
  const auto named = [&](const std::string& path) { return "[settings]\ndata.path = \"" + path + "\""; };
  run_sweep(plan("[2]", named(folder.write("data.csv", "1\n2\n"))), options);
  const std::string moved = folder.write("below/data.csv", "1\n2\n");
  EXPECT_TRUE(look_at_sweep(plan("[2]", named(moved)), options).runs[0].earlier);
  const std::string other = folder.write("below/other.csv", "1\n3\n");
  EXPECT_THAT(error_of(ErrorKind::config, [&] { look_at_sweep(plan("[2]", named(other)), options); }),
              HasSubstr("other settings"));
}

TEST_F(Sweep, TrainsAgainWhatFailedAtOnceOrWasRemoved) {
  const SweepPlan grid = plan("[2]");
  run_sweep(grid, options);
  std::filesystem::remove_all(options.out / "runs" / "2_s1");
  const SweepOutcome outcome = run_sweep(grid, options);
  EXPECT_FALSE(outcome.runs[0].earlier);
  EXPECT_TRUE(outcome.runs[1].earlier);
  EXPECT_EQ(starts("2_s1"), "new\n");
  std::filesystem::remove_all(options.out / "runs" / "2_s2");  // as after a failure without a run folder
  std::filesystem::remove(options.out / "done" / "2_s2.json");
  const SweepPlan mended = plan("[2]", "[settings]\ntrain.epochs = 5");
  options.only = {"2_s2"};
  std::filesystem::remove_all(options.out / "runs" / "2_s1");
  std::filesystem::remove_all(options.out / "runs" / "2_s4");
  EXPECT_EQ(run_sweep(mended, options).runs[1].state, RunState::finished);
}

TEST_F(Sweep, CountsSeedsWithoutAValueAndDropsMetricsOfNoRun) {
  SweepPlan grid = plan("[2, 4, 8]");
  const SweepOutcome outcome = run_sweep(grid, options);
  folder.write("out/runs/2_s4/metrics.json", R"({"best": {"val_mse": null}})");
  auto rows = sweep_rows(grid, outcome);
  const std::string table = sweep_table(grid, rows).to_markdown();
  EXPECT_THAT(table, HasSubstr("2.500 ± 0.000 (2 of 3)"));
  EXPECT_THAT(table, HasSubstr("**4.500 ± 0.000**"));
  for (const SweepRun& run : grid.runs)
    folder.write("out/runs/" + run.name + "/metrics.json", R"({"best": {"val_mse": 1}})");
  rows = sweep_rows(grid, outcome);
  drop_absent_metrics(grid, rows);
  EXPECT_EQ(grid.metrics.size(), 1u);
  EXPECT_EQ(rows[0].values.size(), 1u);
  require_metrics(grid, outcome, rows);
  for (const SweepRun& run : grid.runs) folder.write("out/runs/" + run.name + "/metrics.json", R"({"a": 1})");
  rows = sweep_rows(grid, outcome);
  drop_absent_metrics(grid, rows);
  EXPECT_THAT(error_of(ErrorKind::config, [&] { require_metrics(grid, outcome, rows); }),
              HasSubstr("no run has the metric best.val_mse"));
}

TEST_F(Sweep, MarksTheBestAmongRunsOnTheSameData) {
  const SweepPlan grid = plan("[2, 4, 8, 16]");
  const SweepOutcome outcome = run_sweep(grid, options);
  for (const SweepRun& run : grid.runs)
    folder.write(
        "out/runs/" + run.name + "/data.json",
        run.labels.front().size() == 1 && run.labels.front() < "8" ? R"({"hash": "a"})" : R"({"hash": "b"})");
  const std::string table = sweep_table(grid, sweep_rows(grid, outcome)).to_markdown();
  EXPECT_THAT(table, HasSubstr("**2.500 ± 0.000**"));
  EXPECT_THAT(table, HasSubstr("**8.500 ± 0.000**"));
  EXPECT_THAT(table, testing::Not(HasSubstr("**4.500 ± 0.000**")));
}

TEST_F(Sweep, AFolderOfDataHasChangedIfAFileHas) {
  std::filesystem::create_directory(folder / "images");
  folder.write("images/a.png", "a");
  const std::string named = "data = \"images\"";
  run_sweep(plan("[2]", named), options);
  folder.write("images/.DS_Store", "x");  // not data
  EXPECT_TRUE(look_at_sweep(plan("[2]", named), options).runs[0].earlier);
  options.out = folder / "images/out";  // nor are the results
  run_sweep(plan("[2]", named), options);
  EXPECT_TRUE(look_at_sweep(plan("[2]", named), options).runs[0].earlier);
  std::filesystem::rename(folder / "images/a.png", folder / "images/b.png");
  EXPECT_THAT(error_of(ErrorKind::config, [&] { look_at_sweep(plan("[2]", named), options); }),
              HasSubstr("was trained on other data"));
}

TEST_F(Sweep, NamesTheMetricsOfRunsThatLackTheWantedOne) {
  const SweepPlan grid =
      plan("[2]", "[[metric]]\npath = \"/best/val_mae\"\n[[metric]]\npath = \"/best/val_foo\"");
  const auto check = [&](const SweepOutcome& outcome) {
    require_metrics(grid, outcome, sweep_rows(grid, outcome));
  };
  check(look_at_sweep(grid, options));  // nothing is known before the first run
  const SweepOutcome outcome = run_sweep(grid, options);
  EXPECT_EQ(error_of(ErrorKind::config, [&] { check(outcome); }),
            "no run has the metric best.val_foo (did you mean 'best.val_mse'?); the runs have best.val_mse, "
            "best.val_mae");
}

TEST_F(Sweep, MarksTheBestAmongEqualValidationData) {
  const SweepPlan grid = plan("[2, 8]");
  const SweepOutcome outcome = run_sweep(grid, options);
  for (const size_t run : {3u, 4u, 5u})
    folder.write("out/runs/" + grid.runs[run].name + "/metrics.json",
                 R"({"best": {"val_mse": 8.5, "val_mae": 1}, "validation": {"windows": 35, "horizon": 6}})");
  EXPECT_THAT(sweep_table(grid, sweep_rows(grid, outcome)).to_markdown(), testing::Not(HasSubstr("**")));
}

TEST_F(Sweep, KeepsToItsJobs) {
  options.jobs = 1;
  const SweepOutcome outcome = run_sweep(plan("[2]"), options);
  for (const RunOutcome& run : outcome.runs) EXPECT_EQ(run.state, RunState::finished);
}

/// Writes a claim of another sweep on `run`, without heartbeats.
void claim_elsewhere(const SweepOptions& options, const std::string& run) {
  std::filesystem::create_directories(options.out / "claims");
  write_file_atomically(
      options.out / "claims" / (run + ".json"),
      R"({"token": "t", "host": "far", "machine": "m", "process": 1, "start": "1", "beats": 3})");
}

TEST_F(Sweep, TwoOnOneFolderTrainEachRunOnce) {
  const SweepPlan grid = plan("[2, 3, 4, 5]");
  SweepOutcome outcomes[2];
  {
    std::jthread other([&] { outcomes[0] = run_sweep(grid, options); });
    outcomes[1] = run_sweep(grid, options);
  }
  for (const SweepOutcome& outcome : outcomes)
    for (const RunOutcome& run : outcome.runs) EXPECT_EQ(run.state, RunState::finished);
  for (const SweepRun& run : grid.runs) EXPECT_EQ(starts(run.name), "new\n") << run.name;
  // Each child worked under the claim on its own run.
  EXPECT_THAT(read_file(options.out / "runs/2_s1/claim"), testing::EndsWith("/claims/2_s1.json\n"));
  EXPECT_THAT(read_file(options.out / "runs/5_s4/claim"), testing::EndsWith("/claims/5_s4.json\n"));
  const std::filesystem::directory_iterator left(options.out / "claims");
  EXPECT_EQ(std::distance(left, {}), 1);  // the folder's lock
}

TEST_F(Sweep, TakesOverWhatGivesNoSignOfLife) {
  options.lease = std::chrono::milliseconds(1500);
  claim_elsewhere(options, "2_s1");
  const auto begin = std::chrono::steady_clock::now();
  const SweepOutcome outcome = run_sweep(plan("[2]"), options);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, options.lease);
  for (const RunOutcome& run : outcome.runs) EXPECT_EQ(run.state, RunState::finished);
  EXPECT_EQ(starts("2_s1"), "new\n");
}

TEST_F(Sweep, WaitsForWhatOthersFinish) {
  claim_elsewhere(options, "2_s1");
  std::thread other([&] {
    while (!std::filesystem::exists(options.out / "done" / "2_s4.json"))
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    SweepOptions theirs = options;
    theirs.lease = std::chrono::milliseconds(0);  // the other sweep considers the claim dead
    theirs.only = {"2_s1"};
    run_sweep(plan("[2]"), theirs);
  });
  const SweepOutcome outcome = run_sweep(plan("[2]"), options);
  other.join();
  EXPECT_EQ(outcome.runs[0].state, RunState::finished);
  EXPECT_EQ(starts("2_s1"), "new\n");
}

TEST_F(Sweep, GivesUpARunThatAnotherHasTakenOver) {
  options.lease = std::chrono::milliseconds(2000);
  options.only = {"99_s1"};
  std::thread other([&] {
    while (!std::filesystem::exists(options.out / "runs" / "99_s1" / "what"))
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    claim_elsewhere(options, "99_s1");
  });
  const SweepOutcome outcome = run_sweep(plan("[99]"), options);
  other.join();
  EXPECT_EQ(outcome.runs[0].state, RunState::finished);
  EXPECT_EQ(outcome.runs[1].state, RunState::waiting);
  // Killed, so nothing was saved in between; resumed once the other was dead.
  EXPECT_EQ(starts("99_s1"), "new\nresumed\n");
}

/// Makes every heartbeat in `out` fail during its lifetime: a folder has the name of the lock file.
class NoHeartbeats {
 public:
  explicit NoHeartbeats(const std::filesystem::path& out) : lock_(out / "claims" / "lock") {
    std::filesystem::remove(lock_);
    std::filesystem::create_directory(lock_);
  }
  ~NoHeartbeats() { std::filesystem::remove(lock_); }

 private:
  std::filesystem::path lock_;
};

void wait_for(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST_F(Sweep, AFailedHeartbeatIsTriedAgain) {
  options.lease = std::chrono::seconds(12);  // a heartbeat is due after 3 s, the next attempt 0.75 s later
  options.only = {"88_s1"};
  const Logged log;
  const std::filesystem::path run = options.out / "runs" / "88_s1";
  std::thread other([&] {
    wait_for([&] { return std::filesystem::exists(run / "claim"); });
    {
      const NoHeartbeats failing(options.out);
      wait_for([&] { return log.text().find("cannot write the heartbeat") != std::string::npos; });
    }
    wait_for([&] { return log.text().find("works again") != std::string::npos; });
    write_file_atomically(run / "go", "");
  });
  const SweepOutcome outcome = run_sweep(plan("[88]"), options);
  other.join();
  EXPECT_EQ(outcome.runs[0].state, RunState::finished);
  EXPECT_EQ(starts("88_s1"), "new\n");
  const std::string lock = (options.out / "claims/lock").string();
  EXPECT_THAT(log.text(), HasSubstr("cannot write the heartbeat of 88_s1: cannot create " + lock +
                                    ": Is a directory; retrying until the claim timeout"));
}

TEST_F(Sweep, RemovesTemporariesOfInterruptedWrites) {
  std::filesystem::create_directories(options.out / "claims");
  std::filesystem::create_directories(options.out / "done");
  const std::string ending = ".json.tmp-0123456789abcdef";
  const std::vector<std::filesystem::path> left = {options.out / ("sweep" + ending),
                                                   options.out / "claims" / ("a" + ending),
                                                   options.out / "done" / ("b" + ending)};
  for (const auto& file : left) write_file_atomically(file, "");
  const std::filesystem::path mine = options.out / "done/notes.json.tmp";
  write_file_atomically(mine, "");
  const int being_written = ::open(left[1].c_str(), O_WRONLY);
  remove_sweep_leftovers(options.out);
  ::close(being_written);
  EXPECT_FALSE(std::filesystem::exists(left[0]));
  EXPECT_TRUE(std::filesystem::exists(left[1]));
  EXPECT_FALSE(std::filesystem::exists(left[2]));
  EXPECT_TRUE(std::filesystem::exists(mine));
  remove_sweep_leftovers(options.out);
  EXPECT_FALSE(std::filesystem::exists(left[1]));
}

TEST_F(Sweep, SaysThatALogIsEmpty) {
  options.only = {"74_s1"};
  EXPECT_EQ(run_sweep(plan("[74]"), options).runs[0].failure, "a read or write failed, and its log is empty");
}

TEST_F(Sweep, ARunWhoseHeartbeatFailsForALeaseIsEndedAndItsReasonGiven) {
  options.lease = std::chrono::seconds(1);
  options.only = {"88_s1"};
  std::optional<NoHeartbeats> failing;
  std::thread other([&] {
    wait_for([&] { return std::filesystem::exists(options.out / "runs/88_s1/claim"); });
    failing.emplace(options.out);
  });
  const SweepOutcome outcome = run_sweep(plan("[88]"), options);
  other.join();
  EXPECT_EQ(outcome.runs[0].state, RunState::failed);
  EXPECT_EQ(outcome.runs[0].exit_code, 128 + SIGKILL);
  EXPECT_EQ(outcome.runs[0].failure,
            "it was killed, since no heartbeat of its claim was written for 1 s: cannot create " +
                (options.out / "claims/lock").string() + ": Is a directory");
}

TEST_F(Sweep, OneThatEndsByAnErrorLetsItsRunsSaveBeforeTheirClaimsGo) {
  options.only = {"99_s1"};
  options.watch = [&](const SweepOutcome&) {
    if (std::filesystem::exists(options.out / "runs/99_s1/traps")) fail(ErrorKind::io, "the disk is full");
  };
  EXPECT_EQ(error_of(ErrorKind::io, [&] { run_sweep(plan("[99]"), options); }), "the disk is full");
  EXPECT_EQ(starts("99_s1"), "new\nsaved\n");
  EXPECT_EQ(read_file(options.out / "runs/99_s1/claimed"), "yes\n");
  EXPECT_FALSE(std::filesystem::exists(options.out / "claims/99_s1.json"));
}

TEST_F(Sweep, LooksAgainAtAFolderThatItsSlowOwnerHasNotLeft) {
  options.lease = std::chrono::milliseconds(3000);
  options.only = {"73_s1"};  // reports twice that another process is in the folder
  claim_elsewhere(options, "73_s1");
  const SweepOutcome outcome = run_sweep(plan("[73]"), options);
  EXPECT_EQ(outcome.runs[0].state, RunState::finished);
  EXPECT_EQ(starts("73_s1"), "new\nresumed\nresumed\n");
  options.only = {"73_s2"};  // not taken over: the same report is a failure
  EXPECT_EQ(run_sweep(plan("[73]"), options).runs[1].state, RunState::failed);
}

TEST_F(Sweep, RunsOnlyTheNamedOnes) {
  options.only = {"2_s2"};
  const SweepOutcome outcome = run_sweep(plan("[2]"), options);
  EXPECT_EQ(outcome.runs[0].state, RunState::waiting);
  EXPECT_EQ(outcome.runs[1].state, RunState::finished);
  options.only = {"2_s9"};
  try {
    run_sweep(plan("[2]"), options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no run 2_s9; --dry-run lists the runs"));
  }
}

}  // namespace
}  // namespace modewise::sweep
