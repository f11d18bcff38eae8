// The runner with a shell script in place of the program.

#include "modewise/sweep/sweep_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/stop_signal.h"
#include "modewise/sweep/sweep_table.h"
#include "tests/scratch_folder.h"
#include "tests/sweep/tasks.h"

namespace modewise::sweep {
namespace {

using testing::HasSubstr;

/// Takes --out or --resume, --seed and model.heads; writes what a training would. It counts its starts in
/// FOLDER/starts. heads=13 fails; heads=99 sleeps until it is stopped, the first time.
constexpr const char* kTraining = R"(#!/bin/bash
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
touch "$folder/config.toml" "$folder/manifest.json"
if [[ $heads = 13 ]]; then echo "error: thirteen brings no luck" >&2; exit 78; fi
if [[ $heads = 99 && $mode = new ]]; then
  trap 'echo saved >> "$folder/starts"; exit 143' TERM
  for i in {1..600}; do sleep 0.05; done
fi
echo "{\"best\": {\"val_mse\": $heads.5, \"val_mae\": $seed}}" > "$folder/metrics.json"
)";

class Sweep : public testing::Test {
 protected:
  Sweep() {
    options.out = folder / "out";
    options.jobs = 3;
    options.program = folder.write("training", kTraining);
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

TEST_F(Sweep, RunsEverythingAndTablesMeanAndDeviation) {
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
  EXPECT_NEAR(json["rows"][0]["metrics"]["/best/val_mae"]["deviation"], std::sqrt(7.0 / 3), 1e-12);
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

TEST_F(Sweep, ReportsFailuresGoesOnAndTriesAgain) {
  const SweepPlan grid = plan("[13, 2]");
  const SweepOutcome outcome = run_sweep(grid, options);
  EXPECT_EQ(outcome.runs[0].state, RunState::failed);
  EXPECT_EQ(outcome.runs[0].exit_code, 78);
  EXPECT_EQ(outcome.runs[5].state, RunState::finished);
  EXPECT_EQ(last_line(outcome.runs[0].log), "error: thirteen brings no luck");
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

TEST_F(Sweep, KeepsToItsJobs) {
  options.jobs = 1;
  const SweepOutcome outcome = run_sweep(plan("[2]"), options);
  for (const RunOutcome& run : outcome.runs) EXPECT_EQ(run.state, RunState::finished);
}

}  // namespace
}  // namespace modewise::sweep
