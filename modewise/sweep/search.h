#pragma once
// Chooses among ways to train a task (`train --model auto`) by validation alone, within a time. What needs no
// steps is fitted first; the others are trained for a few steps each, then all for the same time, the better
// half of them for twice as long, and so on (successive halving, Jamieson and Talwalkar 2016). Each round
// trains anew, with a schedule of its own length. Where the validation part is small, the best are trained
// once more on other splits of the same samples, and judged by the mean over all of them; elsewhere with
// other seeds, if time is left. At last one run puts the best together, and what is best is trained once more
// with all samples, where that is asked for.
//
// OUT/auto holds request.json (what was asked), baselines/, trial/, round1/ …, seeds/, splits/, refit/,
// refit-ensemble/ (a sweep's folder each), plan.json (how many steps in which round, from the times of the
// trial) and leaderboard.json. A search that was stopped or killed goes on with the plan that it made, to the
// same bits.
//
// The folder of a search appears in one step, with request.json in it, and becomes a run in one step: the run
// that was chosen is copied to OUT/auto/chosen, its files get their names in OUT, config.toml last.
// OUT/auto/chosen stays until the run has been evaluated and its report is written: until then the search has
// not ended.

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modewise/report/table.h"
#include "modewise/sweep/sweep_plan.h"

namespace modewise::sweep {

struct SearchCandidate {
  std::string name;  // letters, digits, '.', '_', '-'
  std::vector<std::string> settings;
  bool fitted = false;  // at once, without steps
};

struct SearchRequest {
  std::string task, config, data;
  std::vector<std::string> settings;  // "key=value", of every candidate
  int64_t seed = 0;
  SweepMetric metric;
  std::vector<SearchCandidate> candidates;  // where time is short the last ones are left out
  /// Of a run made of the best candidates at the end, with their folders as a list in the place of {runs} and
  /// the number of folders of each in the place of {splits}; empty: none.
  std::vector<std::string> ensemble;
  /// Settings that part the samples into training and validation anew, one a split; empty: the config's split
  /// alone.
  std::vector<std::string> splits;
  /// The share of a full training below which one tells little: rather fewer candidates and splits.
  double min_share = 0;
  /// Settings with which what is chosen is trained once more; empty: it is not.
  std::vector<std::string> refit;
  double budget = 300;            // seconds on the clock
  int64_t jobs = 1, threads = 1;  // processes at once, and threads of each

  nlohmann::ordered_json to_json() const;
  /// `source` opens the messages of data errors.
  static SearchRequest from_json(const nlohmann::json& json, const std::string& source);
};

/// A run of a candidate, or in the stage "splits" its mean over all splits.
struct TrialResult {
  std::string name, stage;  // stage: baselines, round1, …, seeds
  double value = 0;         // the metric; NaN for a run that failed
  int64_t steps = 0;
  double seconds = 0;
  std::string failure;  // what it said, "" when it ended well
  std::filesystem::path folder;
  bool on_splits = false;  // whether the metric is over all splits
};

struct SearchOutcome {
  std::vector<TrialResult> trial_results;  // those judged on several splits, then the best first, failures last
  int signal = 0;                   // that stopped the search, or 0
  std::filesystem::path refitted;   // the run of the best, trained once more; empty: none

  const TrialResult* best() const;  // nullptr when no run ended well
};

/// Whether `out` holds a search that has not ended.
bool holds_search(const std::filesystem::path& out);
/// Removes the search in `out`, in one step; nothing where there is none.
void remove_search(const std::filesystem::path& out);
/// Makes `out` the run `chosen`, a copy of that folder, in one step; nothing where it is that run already.
void become_run(const std::filesystem::path& out, const std::filesystem::path& chosen);
/// Ends the search whose run is evaluated and reported.
void end_search(const std::filesystem::path& out);
/// The request of that search.
SearchRequest read_search(const std::filesystem::path& out);

/// Runs what is not done; `look` is called with the standings after each stage. `program` is what to start,
/// this program when empty. Errors: as run_sweep.
SearchOutcome run_search(const SearchRequest& request, const std::filesystem::path& out,
                         const std::function<void(const SearchOutcome&)>& look,
                         const std::string& program = "");

/// A row a candidate: its best run.
report::Table leaderboard(const SearchOutcome& outcome, const SweepMetric& metric);

/// The cost of candidates that a trial measured, in seconds.
struct TrialCost {
  std::string name;
  double start = 0, step = 0, evaluation = 0;   // of the process, of a step, of an evaluation
  int64_t full_steps = 0, steps_per_epoch = 1;  // of a training that nothing cuts short

  double seconds(int64_t steps) const;
};

/// Steps of each candidate in each round. A round gives each of its candidates the same seconds, twice those
/// of the round before, and fewer to a training that is whole before: such a candidate stands in no later
/// round. Of those whose training was cut short the better half goes on. The seconds are the most with which
/// all, and kJudgedAgain candidates trained on `splits` more splits, takes at most `seconds` (of all
/// processes together) even if the slowest were kept. A candidate that does not fit beside those before it,
/// with kFewestSteps steps each, is left out.
struct SearchPlan {
  struct Round {
    int64_t kept = 0;                                    // candidates, at most
    std::vector<std::pair<std::string, int64_t>> steps;  // of each candidate that may come that far

    int64_t steps_of(const std::string& name) const;  // 0 where it is in no such round
  };
  double seconds = 0;  // for all rounds and splits
  int64_t splits = 0;
  std::vector<TrialCost> costs;
  std::vector<std::string> left_out;
  std::vector<Round> rounds;

  const TrialCost& cost_of(const std::string& name) const;  // data error where it has none
  nlohmann::ordered_json to_json() const;
  /// `source` opens the messages of data errors.
  static SearchPlan from_json(const nlohmann::ordered_json& json, const std::string& source);
};
inline constexpr int64_t kFewestSteps = 20;
inline constexpr int64_t kEvaluatedAgain = 4;
/// The plan with `splits` and all candidates; where it trains the first of them for less than `least_share`
/// of its steps, one without the last candidates that does, or with fewer splits.
SearchPlan plan_search(const std::vector<TrialCost>& candidates, double seconds, int64_t splits = 0,
                       double min_share = 0);

}  // namespace modewise::sweep
