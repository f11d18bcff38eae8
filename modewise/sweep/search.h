#pragma once
// Model search within a time budget (`train --model auto`), by the validation split only: successive halving
// (Jamieson and Talwalkar 2016). Baselines without training steps are fitted first; the other candidates are
// trained for a few steps each (trial), then all for the same time, the better half for twice as long, and so
// on. Each round trains from scratch, with a learning rate schedule of its own length. If the validation
// split is small, the best candidates are trained again on other splits of the same samples and evaluated by
// the mean over all splits; otherwise with other seeds, if time is left. Finally one run is an ensemble of
// the best, and the winner is refitted on all samples, if requested.
//
// OUT/auto has request.json (the request), baselines/, trial/, round1/ …, seeds/, splits/, refit/,
// refit-ensemble/ (a sweep folder each), plan.json (steps per round, from the times of the trial) and
// leaderboard.json. An interrupted search resumes with its plan, with bit-identical results.
//
// The folder of a search appears atomically, with request.json in it, and becomes a run atomically: the
// chosen run is copied to OUT/auto/chosen, its files are moved to OUT, config.toml last. OUT/auto/chosen
// stays until the run has been evaluated and its report is written: until then the search has not ended.

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
  bool fitted = false;  // without training steps
};

struct SearchRequest {
  std::string task, config, data;
  std::vector<std::string> settings;  // "key=value", for every candidate
  int64_t seed = 0;
  SweepMetric metric;
  std::vector<SearchCandidate>
      candidates;  // in order of priority; the last ones are dropped if time is short
  /// Setting that limits a training to {steps} steps, key of the epochs of a full training, and settings of
  /// every run after its candidate's.
  std::string steps_setting, epochs_key;
  std::vector<std::string> last_settings;
  /// Settings of the final ensemble run; {runs} is replaced by the list of its members' folders, {splits} by
  /// the number of folders per member; empty: no ensemble.
  std::vector<std::string> ensemble;
  /// Settings of further training/validation splits, one per split; empty: the config's split only.
  std::vector<std::string> splits;
  /// Minimum fraction of a full training that is informative; with less time, fewer candidates and splits are
  /// used.
  double min_share = 0;
  /// Settings of the refit of the chosen run; empty: no refit.
  std::vector<std::string> refit;
  double budget = 300;            // seconds of wall-clock time
  int64_t jobs = 1, threads = 1;  // concurrent processes, and threads per process

  nlohmann::ordered_json to_json() const;
  /// `source` begins the messages of data errors. Requests of earlier versions open too.
  static SearchRequest from_json(const nlohmann::json& json, const std::string& source);
};

/// Result of a run of a candidate, or in the stage "splits" its mean over all splits.
struct TrialResult {
  std::string name, stage;  // stage: baselines, round1, …, seeds
  double value = 0;         // the metric; NaN for a failed run
  int64_t steps = 0;
  double seconds = 0;
  std::string failure;  // error message; "" if it succeeded
  std::filesystem::path folder;
  bool on_splits = false;  // whether the metric is the mean over all splits
};

struct SearchOutcome {
  std::vector<TrialResult>
      trial_results;  // best first; those evaluated on several splits before the others, failures last
  int signal = 0;  // signal that interrupted the search, which has the results of complete stages then; or 0
  std::filesystem::path refitted;  // refit of the best run; empty: none

  const TrialResult* best() const;  // nullptr if no run succeeded
};

/// Whether `out` holds a search that has not ended.
bool holds_search(const std::filesystem::path& out);
/// Removes the search in `out` atomically; no effect if there is none.
void remove_search(const std::filesystem::path& out);
/// Makes `out` the run `chosen`, a copy of that folder, atomically; no effect if it is that run already.
void become_run(const std::filesystem::path& out, const std::filesystem::path& chosen);
/// Ends the search, after evaluation and report of its run.
void end_search(const std::filesystem::path& out);
/// The request of the search in `out`.
SearchRequest read_search(const std::filesystem::path& out);

/// Runs the unfinished stages; calls `look` with the results so far after each stage. `program`: executable
/// of the child processes; empty: this program. Errors: as run_sweep.
SearchOutcome run_search(const SearchRequest& request, const std::filesystem::path& out,
                         const std::function<void(const SearchOutcome&)>& look,
                         const std::string& program = "");

/// One row per candidate: its best run.
report::Table leaderboard(const SearchOutcome& outcome, const SweepMetric& metric);

/// Cost of a candidate in seconds, measured in the trial.
struct TrialCost {
  std::string name;
  double start = 0, step = 0, evaluation = 0;   // per process, step and evaluation
  int64_t full_steps = 0, steps_per_epoch = 1;  // of a full training

  double seconds(int64_t steps) const;
};

/// Training steps per candidate and round. A round gives each of its candidates the same time, twice that of
/// the previous round, or less if the training is complete: such a candidate is in no later round. The better
/// half of the incomplete ones continues. The time is the largest with which all rounds, and kEvaluatedAgain
/// candidates trained on `splits` more splits, take at most `seconds` (of all processes together) even if the
/// slowest candidates are kept. A candidate that does not fit besides those before it, with kFewestSteps
/// steps each, is left out.
struct SearchPlan {
  struct Round {
    int64_t kept = 0;                                    // maximum number of candidates
    std::vector<std::pair<std::string, int64_t>> steps;  // per candidate that may reach this round

    int64_t steps_of(const std::string& name) const;  // 0 if it is not in this round
  };
  double seconds = 0;  // for all rounds and splits
  int64_t splits = 0;
  std::vector<TrialCost> costs;
  std::vector<std::string> left_out;
  std::vector<Round> rounds;

  const TrialCost& cost_of(const std::string& name) const;  // data error if it has none
  nlohmann::ordered_json to_json() const;
  /// `source` begins the messages of data errors.
  static SearchPlan from_json(const nlohmann::ordered_json& json, const std::string& source);
};
inline constexpr int64_t kFewestSteps = 20;
inline constexpr int64_t kEvaluatedAgain = 4;
/// The plan with `splits` and all candidates; if it trains the first candidate for less than `min_share` of
/// its steps, a plan without the last candidates, or with fewer splits, that does not.
SearchPlan plan_search(const std::vector<TrialCost>& candidates, double seconds, int64_t splits = 0,
                       double min_share = 0);

}  // namespace modewise::sweep
