// Model search: its plan against explicit sums, and its stages with a script in place of the program.

#include "modewise/sweep/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/stop_signal.h"
#include "tests/error_of.h"
#include "tests/logged.h"
#include "tests/scratch_folder.h"

namespace modewise::sweep {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Steps = std::vector<std::pair<std::string, int64_t>>;

TrialCost cost(const std::string& name, double step, int64_t full_steps, double start = 0) {
  TrialCost out;
  out.name = name;
  out.start = start;
  out.step = step;
  out.full_steps = full_steps;
  out.steps_per_epoch = full_steps;
  return out;
}

TEST(SearchPlan, OfOneCandidateIsAFullTraining) {
  const SearchPlan plan = plan_search({cost("a", 0.5, 400)}, 200);
  ASSERT_EQ(plan.rounds.size(), 1u);
  EXPECT_EQ(plan.rounds[0].kept, 1);
  EXPECT_EQ(plan.rounds[0].steps, (Steps{{"a", 400}}));
}

TEST(SearchPlan, WithTimeForAllTheFirstRoundIsOfFullTrainings) {
  const SearchPlan plan = plan_search({cost("a", 1, 400), cost("b", 2, 800), cost("c", 1, 50)}, 2050);
  ASSERT_EQ(plan.rounds.size(), 1u);
  EXPECT_EQ(plan.rounds[0].kept, 3);
  EXPECT_EQ(plan.rounds[0].steps, (Steps{{"a", 400}, {"b", 800}, {"c", 50}}));
  EXPECT_THAT(plan.left_out, IsEmpty());
  EXPECT_EQ(plan.seconds, 2050);
}

TEST(SearchPlan, RoundsGiveAllTheSameTimeAndTheBetterHalfTwice) {
  // x seconds in the first round: 4x + 50, then 2x for two, 4x for one: 12x + 50 = 1,250.
  const SearchPlan plan = plan_search(
      {cost("a", 1, 1000), cost("b", 2, 1000), cost("short", 1, 50), cost("c", 1, 1000), cost("d", 4, 1000)},
      1250);
  ASSERT_EQ(plan.rounds.size(), 3u);
  EXPECT_EQ(plan.rounds[0].kept, 5);
  EXPECT_EQ(plan.rounds[0].steps, (Steps{{"a", 100}, {"b", 50}, {"short", 50}, {"c", 100}, {"d", 25}}));
  // A full training is in no later round.
  EXPECT_EQ(plan.rounds[1].kept, 2);
  EXPECT_EQ(plan.rounds[1].steps, (Steps{{"a", 200}, {"b", 100}, {"c", 200}, {"d", 50}}));
  EXPECT_EQ(plan.rounds[2].kept, 1);
  EXPECT_EQ(plan.rounds[2].steps, (Steps{{"a", 400}, {"b", 200}, {"c", 400}, {"d", 100}}));
  EXPECT_EQ(plan.rounds[1].steps_of("short"), 0);
  EXPECT_EQ(plan.rounds[1].steps_of("b"), 100);
}

TEST(SearchPlan, FitsItsTimeEvenIfTheSlowestStay) {
  // One of two candidates continues: 310 + 3 · 103 s, then 621 or 3 · 207 s: 1,240 s.
  const SearchPlan plan = plan_search({cost("fast", 1, 1000), cost("slow", 3, 1000)}, 1240);
  ASSERT_EQ(plan.rounds.size(), 2u);
  EXPECT_EQ(plan.rounds[0].steps, (Steps{{"fast", 310}, {"slow", 103}}));
  EXPECT_EQ(plan.rounds[1].steps, (Steps{{"fast", 621}, {"slow", 207}}));
  EXPECT_EQ(plan.rounds[1].kept, 1);
}

TEST(SearchPlan, GoesThroughItsFile) {
  const SearchPlan plan =
      plan_search({cost("b", 1.5, 1000), cost("a", 0.1, 1000, 0.3), cost("c", 9, 2000)}, 200);
  EXPECT_THAT(plan.left_out, ElementsAre("c"));
  const SearchPlan read = SearchPlan::from_json(plan.to_json(), "plan.json");
  EXPECT_EQ(read.to_json(), plan.to_json());
  EXPECT_EQ(read.rounds[0].steps, plan.rounds[0].steps);
  EXPECT_EQ(read.cost_of("a").seconds(10), plan.cost_of("a").seconds(10));
  const auto message = [](const nlohmann::ordered_json& json) {
    try {
      SearchPlan::from_json(json, "plan.json");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      return std::string(error.what());
    }
    return std::string();
  };
  nlohmann::ordered_json json = plan.to_json();
  json["rounds"][0]["steps"]["a"] = 0;
  EXPECT_EQ(message(json), "plan.json: the steps of 'a' must be positive");
  json = plan.to_json();
  json["measured"][0]["steps_per_epoch"] = 0;
  EXPECT_EQ(message(json), "plan.json: a training of 'b' has no steps");
  json.erase("seconds");
  EXPECT_EQ(message(json), "plan.json: \"seconds\" is missing or has the wrong type");
  EXPECT_EQ(error_of(ErrorKind::data, [&] { plan.cost_of("c"); }),
            "the search plan has no measured times of 'c'");
}

TEST(SearchPlan, CountsStartsAndEvaluations) {
  TrialCost one = cost("a", 2, 100, 7);
  one.evaluation = 5;
  one.steps_per_epoch = 30;
  EXPECT_EQ(one.seconds(61), 7 + 2 * 61 + 5 * 3);
  EXPECT_EQ(one.seconds(60), 7 + 2 * 60 + 5 * 2);
}

TEST(SearchPlan, LeavesOutWhatDoesNotFitBesideThoseBefore) {
  // With kFewestSteps in each round: a and b take 20 + 20 in the first round and 20 in the second.
  const SearchPlan plan = plan_search({cost("a", 1, 400), cost("b", 1, 400)}, 59);
  EXPECT_THAT(plan.left_out, ElementsAre("b"));
  ASSERT_EQ(plan.rounds.size(), 1u);
  EXPECT_EQ(plan.rounds[0].steps, (Steps{{"a", 59}}));
  // A slow candidate that does not fit is dropped in favour of a quick one after it.
  const SearchPlan quick = plan_search({cost("slow", 9, 400), cost("a", 1, 400), cost("b", 1, 400)}, 60);
  EXPECT_THAT(quick.left_out, ElementsAre("slow"));
  EXPECT_EQ(quick.rounds[0].steps, (Steps{{"a", 20}, {"b", 20}}));
  const SearchPlan none = plan_search({cost("a", 1, 400)}, 19);
  EXPECT_THAT(none.left_out, ElementsAre("a"));
  EXPECT_THAT(none.rounds, IsEmpty());
}

// One second per step, 100 steps for a full training, four more splits; x steps in the last round.
TEST(SearchPlan, TriesFewerCandidatesAndThenFewerSplitsRatherThanShortTrainings) {
  const std::vector<TrialCost> three = {cost("a", 1, 100), cost("b", 1, 100), cost("c", 1, 100)};
  const auto expect = [&](double seconds, int64_t splits, std::vector<std::string> left_out, int64_t steps) {
    const SearchPlan plan = plan_search(three, seconds, 4, 0.5);
    EXPECT_EQ(plan.splits, splits) << seconds;
    EXPECT_EQ(plan.left_out, left_out) << seconds;
    ASSERT_FALSE(plan.rounds.empty()) << seconds;
    EXPECT_EQ(plan.rounds.back().steps_of("a"), steps) << seconds;
  };
  expect(770, 4, {}, 50);          // three: 3 · 20 + 2 · x/2 + x, and 4 · 3x = 60 + 14x seconds
  expect(730, 4, {"c"}, 73);       // two: 2 · x/2 + x, and 4 · 2x = 10x
  expect(490, 4, {"b", "c"}, 98);  // one: 5x
  expect(245, 3, {"b", "c"}, 61);  // on fewer splits: 4x
  expect(99, 0, {"b", "c"}, 99);
  expect(30, 0, {"b", "c"}, 30);  // too little for half a training of one: as many steps as fit
  EXPECT_THAT(plan_search(three, 730, 4).left_out, IsEmpty());  // no minimum share
}

TEST(SearchPlan, AFullTrainingOfFewStepsIsNotMadeLonger) {
  const SearchPlan plan = plan_search({cost("a", 1, 6), cost("b", 1, 400)}, 100);
  EXPECT_EQ(plan.rounds[0].steps[0].second, 6);
  EXPECT_EQ(plan.rounds[1].steps_of("a"), 0);
}

TEST(SearchPlan, KeepsTimeForFurtherSplits) {
  const SearchPlan plan = plan_search({cost("a", 0.5, 400)}, 200, 3);
  EXPECT_EQ(plan.rounds[0].steps, (Steps{{"a", 100}}));
  // Five candidates with x, three with 2x, two with 4x, then four of those with 4x again: 35x seconds.
  const SearchPlan five = plan_search(
      {cost("a", 1, 1000), cost("b", 1, 1000), cost("c", 1, 1000), cost("d", 1, 1000), cost("e", 1, 1000)},
      3500, 1);
  EXPECT_EQ(five.rounds.back().steps.front().second, 400);
}

/// Stand-in for the program. Takes --out or --resume, model.name, train.max_steps, data.split_seed,
/// data.split_ratios, and for an ensemble its runs with their splits, its metric and members. "quick" and
/// "late" improve with steps, "lucky" is good on one split only, "bad" fails, "full" fails while there is no
/// file "space", "nan" has a NaN metric, "slow" sleeps.
constexpr const char* kSearchTraining = R"(#!/bin/bash
steps=0 members=[]
while (($#)); do
  case $1 in
    --out) folder=$2; new=yes ;;
    --resume) folder=$2 ;;
    model.name=*) name=${1#*=} ;;
    --seed) seed=$2 ;;
    --threads) threads=$2 ;;
    train.max_steps=*) steps=${1#*=} ;;
    data.split_seed=*) split=${1#*=} ;;
    model.ensemble.*) mkdir -p "$folder"; echo "$1" >> "$folder/ensemble" ;;
    value=*) value=${1#*=} ;;
    members=*) members=${1#*=} ;;
    data.split_ratios=*) mkdir -p "$folder"; echo "${1#*=}" > "$folder/ratios" ;;
    refused=*) echo "error: refused" >&2; exit 65 ;;
  esac
  shift
done
mkdir -p "$folder"
echo start >> "$folder/starts"
echo "$threads" > "$folder/threads"
if [[ $new ]]; then echo "$name $steps $split" > "$folder/what"; echo "$seed" > "$folder/seed"; fi
read name steps split < "$folder/what"
{ cat "$folder/ensemble" 2>/dev/null; printf '[train]\nepochs = 4\n'; } > "$folder/config.toml"
touch "$folder/manifest.json"
case $name in
  bad) echo "error: no good" >&2; exit 65 ;;
  full) if [[ ! -e $(dirname "$0")/space ]]; then echo "error: x: No space left on device" >&2; exit 74; fi; value=5 ;;
  slow) sleep 30 ;;
  quick) value=$((900 - steps)) ;;
  late) if ((steps > 100)); then value=1; else value=$((800 - steps)); fi ;;
  ensemble) ;;
  lucky) value=1; if [[ $split ]]; then value=2000; fi ;;
  *) value=850 ;;
esac
if [[ $name = nan ]]; then value=null; fi
echo "{\"steps\": $steps, \"epochs\": $((steps / 10)), \"best\": {\"val_mse\": $value}, \"members\": $members}" > "$folder/metrics.json"
echo "{\"steps\": {\"count\": 10, \"seconds\": 0.0001}, \"evaluations\": {\"count\": 1, \"seconds\": 0.0001}}" > "$folder/timing.json"
)";

class Searching : public testing::Test {
 protected:
  Searching() {
    program = folder.write("training", kSearchTraining);
    fs::permissions(program, fs::perms::owner_all);
    request.task = "forecast";
    request.metric = {"/best/val_mse", "validation MSE", "lowest", 3, 1};
    request.steps_setting = "train.max_steps={steps}";
    request.epochs_key = "train.epochs";
    request.last_settings = {"output.report=false"};
    request.jobs = 2;
    request.budget = 60;
    for (const char* name : {"base", "bad"})
      request.candidates.push_back({name, {std::string("model.name=") + name}, true});
    for (const char* name : {"quick", "late", "nan"})
      request.candidates.push_back({name, {std::string("model.name=") + name}, false});
  }
  ~Searching() override { set_stop_signal(0); }

  SearchOutcome run() {
    return run_search(
        request, folder / "out",
        [this](const SearchOutcome& so_far) { looks.push_back(so_far.trial_results.size()); }, program);
  }
  /// Writes the plan of an earlier start. A step takes a second.
  void write_plan(double seconds, const char* rounds, int64_t splits = 0) const {
    nlohmann::ordered_json plan = {{"seconds", seconds},
                                   {"splits", splits},
                                   {"measured", nlohmann::ordered_json::array()},
                                   {"left_out", nlohmann::ordered_json::array()},
                                   {"rounds", nlohmann::ordered_json::parse(rounds)}};
    for (const auto& [name, steps] : plan["rounds"][0]["steps"].items())
      plan["measured"].push_back({{"name", name},
                                  {"start_seconds", 0},
                                  {"step_seconds", 1},
                                  {"evaluation_seconds", 0},
                                  {"full_steps", 100},
                                  {"steps_per_epoch", 10}});
    folder.write("out/auto/plan.json", plan.dump());
  }
  std::string of_run(const std::string& stage, const std::string& name, const char* file) const {
    return read_file(folder / "out" / "auto" / stage / "runs" / name / file);
  }

  ScratchFolder folder;
  std::string program;
  SearchRequest request;
  std::vector<size_t> looks;
};

/// Every file below `folder` with its text.
std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[fs::relative(entry.path(), folder).string()] = read_file(entry.path());
  return files;
}

TEST(SearchFolder, BecomesARunAndEndsOnceItIsReported) {
  const ScratchFolder folder;
  const fs::path out = folder / "out", chosen = out / "auto/round1/runs/a";
  EXPECT_FALSE(holds_search(out));
  folder.write("out/auto/request.json", "{}");
  EXPECT_TRUE(holds_search(out));
  folder.write("out/auto/round1/runs/a/config.toml", "x = 1");
  folder.write("out/auto/round1/runs/a/checkpoints/step_1/model", "weights");
  folder.write("out/auto/round1/runs/a/manifest.json", "{}");
  folder.write("out/auto/round1/runs/a/.lock", "");
  const std::map<std::string, std::string> run = {
      {"config.toml", "x = 1"}, {"checkpoints/step_1/model", "weights"}, {"manifest.json", "{}"}};
  // Leftovers of an interrupted start.
  folder.write("out/auto/chosen/checkpoints/step_1/model", "wei");
  folder.write("out/checkpoints/step_1/state", "old");
  folder.write("out/notes.txt", "mine");
  const auto before = files_of(chosen);
  become_run(out, chosen);
  EXPECT_EQ(files_of(chosen), before);
  EXPECT_TRUE(holds_search(out));  // not evaluated yet
  become_run(out, chosen);         // no change
  end_search(out);
  EXPECT_FALSE(holds_search(out));
  auto files = files_of(out);
  std::erase_if(files, [](const auto& file) { return file.first.starts_with("auto/"); });
  auto expected = run;
  expected["notes.txt"] = "mine";
  EXPECT_EQ(files, expected);
  fs::remove(out / "config.toml");
  EXPECT_TRUE(holds_search(out));
  remove_search(out);
  EXPECT_FALSE(fs::exists(out / "auto"));
  remove_search(out);
}

TEST_F(Searching, FindsTheBestOfAllRounds) {
  const SearchOutcome outcome = run();
  // There is time for full trainings, 4 epochs of 10 steps.
  ASSERT_NE(outcome.best(), nullptr);
  EXPECT_EQ(outcome.best()->name, "late");
  EXPECT_EQ(outcome.best()->value, 760);
  EXPECT_EQ(outcome.best()->steps, 40);
  EXPECT_EQ(outcome.best()->stage, "round1");
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_THAT(looks, ElementsAre(2, 5));
  const TrialResult& last = outcome.trial_results.back();
  EXPECT_FALSE(last.failure.empty());
  std::map<std::string, std::string> failures;
  for (const TrialResult& one : outcome.trial_results)
    if (!one.failure.empty()) failures[one.name] = one.failure;
  EXPECT_THAT(failures,
              ElementsAre(std::pair("bad", "error: no good"), std::pair("nan", "it has no validation MSE")));
  const std::string table = leaderboard(outcome, request.metric).to_csv();
  EXPECT_THAT(table, HasSubstr("late,760"));
  EXPECT_THAT(table, HasSubstr("base,850"));
  EXPECT_THAT(table, HasSubstr("baselines: error: no good"));
  const auto plan = nlohmann::json::parse(read_file(folder / "out" / "auto" / "plan.json"));
  std::map<std::string, int64_t> full_steps;
  for (const nlohmann::json& one : plan.at("measured")) {
    EXPECT_GT(one.at("start_seconds"), 0.0);  // what a run took beside its steps and evaluations
    full_steps[one.at("name")] = one.at("full_steps");
  }
  // The first two have no steps.
  EXPECT_EQ(full_steps, (std::map<std::string, int64_t>{
                            {"base", 1}, {"bad", 1}, {"quick", 40}, {"late", 40}, {"nan", 40}}));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 6);
}

TEST_F(Searching, TrainsTheBetterHalfOfWhatWasCutShort) {
  for (const char* name : {"short", "other"})
    request.candidates.push_back({name, {std::string("model.name=") + name}, false});
  write_plan(100,
             R"([{"candidates": 5, "steps": {"quick": 20, "late": 20, "nan": 20, "short": 40, "other": 20}},
                      {"candidates": 2, "steps": {"quick": 40, "late": 30, "nan": 40, "other": 40}},
                      {"candidates": 1, "steps": {"quick": 80, "nan": 80, "other": 80}}])");
  const SearchOutcome outcome = run();
  // After the first round late (780) and quick (880) continue; short and other have 850 there, but short is
  // complete, so that other (850) is second; late is complete after the second round.
  EXPECT_EQ(outcome.best()->name, "late");
  EXPECT_EQ(outcome.best()->steps, 30);
  const auto trained = [&](int round, const char* name) {
    return fs::exists(folder / "out" / "auto" / fmt::format("round{}", round) / "runs" / name / "what");
  };
  EXPECT_TRUE(trained(2, "late") && trained(2, "other"));
  EXPECT_FALSE(trained(2, "quick") || trained(2, "short") || trained(2, "nan"));
  EXPECT_TRUE(trained(3, "other"));
  const auto threads = [&](int round, const char* name) {
    return read_file(folder / "out" / "auto" / fmt::format("round{}", round) / "runs" / name / "threads");
  };
  EXPECT_EQ(threads(1, "other"), "1\n");
  EXPECT_EQ(threads(3, "other"), "2\n");  // alone, it gets the cores of both jobs
  EXPECT_FALSE(trained(3, "late"));
  EXPECT_FALSE(fs::exists(folder / "out" / "auto" / "seeds"));
}

TEST_F(Searching, SpendsWhatIsLeftOnOtherSeeds) {
  request.seed = 3;
  request.ensemble = {"model.name=ensemble", "model.ensemble.runs={runs}", "value=990"};
  const auto seeds = [&](double seconds) {
    fs::remove_all(folder / "out");
    // A training of n steps takes n seconds.
    write_plan(seconds, R"([{"candidates": 2, "steps": {"quick": 20, "late": 40}}])");
    std::vector<std::string> names;
    for (const TrialResult& one : run().trial_results)
      if (one.stage == "seeds") names.push_back(one.name);
    std::sort(names.begin(), names.end());
    return names;
  };
  EXPECT_THAT(seeds(60 + 39), IsEmpty());
  EXPECT_THAT(seeds(60 + 40), ElementsAre("late-2"));  // no time for both
  EXPECT_THAT(seeds(60 + 179), ElementsAre("late-2", "late-3", "quick-2", "quick-3"));
  EXPECT_EQ(of_run("seeds", "late-3", "what"), "late 40 \n");
  EXPECT_EQ(of_run("seeds", "late-3", "seed"), "5\n");
  EXPECT_EQ(of_run("round1", "late", "seed"), "3\n");
  EXPECT_EQ(seeds(1e6).size(), 8u);
  EXPECT_THAT(of_run("ensemble", "ensemble", "ensemble"), HasSubstr("/seeds/runs/late-5\""));
}

TEST_F(Searching, GoesOnWithThePlanThatItMade) {
  request.candidates.pop_back();
  write_plan(100, R"([{"candidates": 2, "steps": {"quick": 20, "late": 20}},
                      {"candidates": 1, "steps": {"quick": 40, "late": 40}}])");
  const SearchOutcome whole = run();
  const auto marker = [&](const char* stage, const char* name) {
    return folder / "out" / "auto" / stage / "done" / (std::string(name) + ".json");
  };
  fs::remove(marker("round2", "late"));
  fs::remove_all(folder / "out" / "auto" / "trial");
  const std::string plan = read_file(folder / "out" / "auto" / "plan.json");
  const SearchOutcome again = run();
  EXPECT_EQ(read_file(folder / "out" / "auto" / "plan.json"), plan);
  EXPECT_FALSE(fs::exists(folder / "out" / "auto" / "trial"));
  EXPECT_EQ(of_run("round2", "late", "starts"), "start\nstart\n");
  EXPECT_EQ(of_run("round1", "late", "starts"), "start\n");
  ASSERT_EQ(again.trial_results.size(), whole.trial_results.size());
  for (size_t i = 0; i < whole.trial_results.size(); ++i) {
    EXPECT_EQ(again.trial_results[i].name, whole.trial_results[i].name);
    EXPECT_EQ(again.trial_results[i].stage, whole.trial_results[i].stage);
  }
}

TEST_F(Searching, EvaluatesTheBestOnFurtherSplits) {
  for (SearchCandidate& one : request.candidates)
    if (one.name == "nan") one = {"lucky", {"model.name=lucky"}, false};
  EXPECT_EQ(run().best()->name, "lucky");
  fs::remove_all(folder / "out");
  request.splits = {"data.split_seed=8", "data.split_seed=9"};
  const SearchOutcome outcome = run();
  EXPECT_EQ(outcome.best()->name, "late");
  EXPECT_EQ(outcome.best()->stage, "splits");
  EXPECT_EQ(outcome.best()->folder, folder / "out" / "auto" / "round1" / "runs" / "late");
  const std::string table = leaderboard(outcome, request.metric).to_csv();
  EXPECT_THAT(table, HasSubstr("lucky,1333.6666"));  // (1 + 2 · 2000) / 3
  EXPECT_EQ(of_run("splits", "late-3", "what"), "late " + std::to_string(outcome.best()->steps) + " 9\n");
  EXPECT_EQ(of_run("splits", "base-2", "what"), "base 0 8\n");
  fs::remove(folder / "out" / "auto" / "splits" / "done" / "quick-2.json");
  const SearchOutcome again = run();
  EXPECT_EQ(again.best()->name, "late");
  EXPECT_EQ(of_run("splits", "quick-2", "starts"), "start\nstart\n");
}

TEST_F(Searching, EvaluatesAsManyOnFurtherSplitsAsThereIsTimeFor) {
  request.candidates.clear();
  for (const char* name : {"late", "quick", "a", "b", "c", "d"})
    request.candidates.push_back({name, {std::string("model.name=") + name}, false});
  request.splits = {"data.split_seed=8"};
  const auto evaluated = [&](double seconds) {
    fs::remove_all(folder / "out");
    write_plan(
        seconds,
        R"([{"candidates": 6, "steps": {"quick": 20, "late": 40, "a": 20, "b": 20, "c": 20, "d": 20}}])", 1);
    const SearchOutcome outcome = run();
    return std::count_if(outcome.trial_results.begin(), outcome.trial_results.end(),
                         [](const TrialResult& one) { return one.on_splits; });
  };
  EXPECT_EQ(evaluated(140), 4);  // the plan's own number
  EXPECT_EQ(evaluated(140 + 40 + 20 * 4 - 1), 4);
  EXPECT_EQ(evaluated(140 + 40 + 20 * 4), 5);
  EXPECT_EQ(evaluated(140 + 40 + 20 * 5), 6);
}

TEST_F(Searching, LeavesOutSplitsAndEnsembleWithoutTimeLeft) {
  request.splits = {"data.split_seed=8"};
  request.ensemble = {"model.name=ensemble", "model.ensemble.runs={runs}"};
  request.candidates.push_back({"other", {"model.name=other"}, true});
  const Logged log;
  for (int start = 0; start < 2; ++start) {  // also when it is resumed
    write_plan(0, R"([{"candidates": 0, "steps": {}}])", 1);
    EXPECT_EQ(run().best()->stage, "baselines");
    for (const char* stage : {"splits", "ensemble"}) {
      EXPECT_FALSE(fs::exists(folder / "out" / "auto" / stage));
      EXPECT_THAT(log.text(), HasSubstr(fmt::format("the budget of 1:00 is spent: left out: {}", stage)));
    }
  }
}

TEST_F(Searching, PutsTheBestTogether) {
  request.ensemble = {"model.name=ensemble", "model.ensemble.runs={runs}", "model.ensemble.splits={splits}",
                      "value=760"};
  SearchOutcome outcome = run();
  EXPECT_EQ(outcome.best()->name, "ensemble");  // the last among equals
  const auto path = [&](const char* stage, const char* name) {
    return fs::absolute(folder / "out" / "auto" / stage / "runs" / name).lexically_normal().string();
  };
  const std::string asked = of_run("ensemble", "ensemble", "ensemble");
  EXPECT_THAT(asked, HasSubstr("model.ensemble.splits=1"));
  EXPECT_EQ(of_run("ensemble", "ensemble", "what"), "ensemble 0 \n");  // steps are not limited
  for (const char* name : {"late", "quick", "base"}) EXPECT_THAT(asked, HasSubstr(std::string(name) + '"'));
  EXPECT_THAT(asked, HasSubstr('"' + path("round1", "late") + '"'));
  fs::remove_all(folder / "out" / "auto" / "ensemble");
  request.ensemble.emplace_back(R"(members=[{"run":"/a/late","weight":1}])");
  outcome = run();
  EXPECT_THAT(outcome.best()->name, testing::StartsWith("late"));
  const auto found = std::find_if(outcome.trial_results.begin(), outcome.trial_results.end(),
                                  [](const TrialResult& one) { return one.name == "ensemble"; });
  ASSERT_NE(found, outcome.trial_results.end());
  EXPECT_EQ(found->failure, "no ensemble is better than late alone");
}

TEST_F(Searching, PutsTheTrainingsOfAllSplitsTogether) {
  request.candidates.pop_back();
  request.splits = {"data.split_seed=8", "data.split_seed=9"};
  request.ensemble = {"model.name=ensemble", "model.ensemble.runs={runs}", "model.ensemble.splits={splits}",
                      "value=770"};
  SearchOutcome outcome = run();
  // After the better result on all splits, before those evaluated on one.
  EXPECT_EQ(outcome.best()->name, "late");
  EXPECT_EQ(outcome.trial_results[1].name, "ensemble");
  EXPECT_TRUE(outcome.trial_results[1].on_splits);
  const std::string asked = of_run("ensemble", "ensemble", "ensemble");
  EXPECT_THAT(asked, HasSubstr("model.ensemble.splits=3"));
  const auto at = [&](const std::string& run) { return asked.find("/runs/" + run + '"'); };
  for (const char* name : {"late", "quick", "base"}) {
    const std::string second = std::string(name) + "-2", third = std::string(name) + "-3";
    EXPECT_LT(at(name), at(second)) << name;
    EXPECT_LT(at(second), at(third)) << name;
    EXPECT_NE(at(third), std::string::npos) << name;
  }
  fs::remove_all(folder / "out" / "auto" / "ensemble");
  request.ensemble.back() = "value=760";
  outcome = run();
  EXPECT_EQ(outcome.best()->name, "ensemble");  // as good as late on all splits
}

TEST_F(Searching, TrainsWhatItChoseOnceMore) {
  request.candidates.pop_back();
  request.refit = {"data.split_ratios=0.9,0.1,0"};
  SearchOutcome outcome = run();
  EXPECT_EQ(outcome.best()->name, "late");
  EXPECT_EQ(outcome.refitted, folder / "out" / "auto" / "refit" / "runs" / "late");
  EXPECT_EQ(of_run("refit", "late", "what"), of_run("round1", "late", "what"));
  EXPECT_EQ(of_run("refit", "late", "ratios"), "0.9,0.1,0\n");
  EXPECT_FALSE(fs::exists(folder / "out" / "auto" / "round1" / "runs" / "late" / "ratios"));
  for (const TrialResult& one : outcome.trial_results) EXPECT_NE(one.stage, "refit") << one.name;

  fs::remove_all(folder / "out");
  request.refit = {"refused=yes"};
  outcome = run();
  EXPECT_EQ(outcome.best()->name, "late");
  EXPECT_TRUE(outcome.refitted.empty());
}

TEST_F(Searching, TrainsTheMembersOfAnEnsembleOnceMore) {
  request.candidates.pop_back();
  request.refit = {"data.split_ratios=0.9,0.1,0"};
  request.splits = {"data.split_seed=8", "data.split_seed=9"};
  const auto path = [&](const std::string& run) {
    return fs::absolute(folder / "out" / "auto" / run).lexically_normal().string();
  };
  request.ensemble = {"model.name=ensemble", "model.ensemble.runs={runs}", "model.ensemble.splits={splits}",
                      "value=1",
                      fmt::format(R"(members=[{{"run":"{}","weight":0.6}},{{"run":"{}","weight":0.4}}])",
                                  path("round1/runs/late"), path("baselines/runs/base"))};
  const SearchOutcome outcome = run();
  EXPECT_EQ(outcome.best()->name, "ensemble");
  EXPECT_EQ(outcome.refitted, folder / "out" / "auto" / "refit-ensemble" / "runs" / "ensemble");
  EXPECT_EQ(of_run("refit", "late", "ratios"), "0.9,0.1,0\n");
  EXPECT_EQ(of_run("refit", "base", "ratios"), "0.9,0.1,0\n");
  EXPECT_EQ(of_run("refit-ensemble", "ensemble", "ratios"), "0.9,0.1,0\n");
  EXPECT_FALSE(fs::exists(path("refit/runs/quick")));  // it has no weight
  const nlohmann::json runs = {path("refit/runs/late"),    path("round1/runs/late"),
                               path("splits/runs/late-2"), path("splits/runs/late-3"),
                               path("refit/runs/base"),    path("baselines/runs/base"),
                               path("splits/runs/base-2"), path("splits/runs/base-3")};
  EXPECT_EQ(of_run("refit-ensemble", "ensemble", "ensemble"),
            "model.ensemble.runs=" + runs.dump() + "\nmodel.ensemble.splits=4\n");
}

TEST_F(Searching, HasATimeForEachBaseline) {
  request.budget = 2;
  request.candidates = {{"base", {"model.name=base"}, true}, {"slow", {"model.name=slow"}, true}};
  const SearchOutcome outcome = run();
  ASSERT_EQ(outcome.trial_results.size(), 2u);
  EXPECT_EQ(outcome.best()->name, "base");
  EXPECT_EQ(outcome.trial_results[1].failure, "it took longer than 0.5 s");
}

TEST_F(Searching, KeepsItsRequest) {
  EXPECT_FALSE(holds_search(folder / "out"));
  request.settings = {"data.target=x"};
  request.seed = 7;
  run();
  EXPECT_TRUE(holds_search(folder / "out"));
  EXPECT_EQ(read_search(folder / "out").to_json(), request.to_json());
  folder.write("out/config.toml", "");
  EXPECT_FALSE(holds_search(folder / "out"));
  folder.write("out/auto/request.json", "{\"task\": 3}");
  try {
    read_search(folder / "out");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_THAT(error.what(), HasSubstr("auto/request.json: \"metric\" is missing or has the wrong type"));
  }
}

TEST_F(Searching, OpensARequestOfAnEarlierVersion) {
  nlohmann::ordered_json json = request.to_json();
  for (const char* name : {"steps_setting", "epochs_key", "last_settings"}) EXPECT_EQ(json.erase(name), 1u);
  EXPECT_EQ(SearchRequest::from_json(json, "request.json").to_json(), request.to_json());
}

TEST_F(Searching, SpellsNoKeyOfATask) {
  request.steps_setting = "model.steps={steps}";
  request.last_settings = {"data.split_ratios=7"};
  EXPECT_EQ(run().best()->value, 800);  // the program finds no train.max_steps
  EXPECT_EQ(of_run("round1", "late", "ratios"), "7\n");
}

TEST_F(Searching, RefusesARequestThatNobodyMakes) {
  const auto message = [&](const char* key, const nlohmann::ordered_json& value) {
    nlohmann::ordered_json json = request.to_json();
    json[nlohmann::ordered_json::json_pointer(key)] = value;
    try {
      SearchRequest::from_json(json, "request.json");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("/metric/decimals", 2'000'000'000),
            "request.json: decimals must be from 0 to 17, got 2000000000");
  EXPECT_THAT(message("/metric/path", "/a~b"), HasSubstr("expected a path into metrics.json"));
  EXPECT_EQ(message("/jobs", 0), "request.json: budget_seconds, jobs and threads must be positive, got " +
                                     fmt::format("{}, 0 and {}", request.budget, request.threads));
}

TEST_F(Searching, StopsAtAFullDiskAndContinues) {
  request.candidates.insert(request.candidates.begin(), {"full", {"model.name=full"}, true});
  EXPECT_EQ(
      error_of(ErrorKind::io, [&] { run(); }),
      fmt::format(
          "the search stops: full ended with 'error: x: No space left on device'; continue with --resume {}",
          (folder / "out").string()));
  folder.write("space", "");
  EXPECT_EQ(run().best()->name, "full");
}

TEST_F(Searching, NothingThatEndsWellIsNoBest) {
  request.candidates = {{"bad", {"model.name=bad"}, true}};
  const SearchOutcome outcome = run();
  EXPECT_EQ(outcome.best(), nullptr);
  EXPECT_EQ(outcome.trial_results.size(), 1u);
}

}  // namespace
}  // namespace modewise::sweep
