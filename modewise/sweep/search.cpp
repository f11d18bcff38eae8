#include "modewise/sweep/search.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <toml++/toml.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/file.h"
#include "modewise/core/progress.h"
#include "modewise/sweep/search_files.h"
#include "modewise/sweep/search_leaderboard.h"
#include "modewise/sweep/sweep_runner.h"
#include "modewise/sweep/sweep_table.h"

namespace modewise::sweep {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int64_t kTrialSteps = 10;
constexpr int64_t kEnsembleMembers = 16, kMaxSeeds = 4;
constexpr const char *kBaselines = "baselines", *kTrial = "trial", *kSplits = "splits",
                     *kEnsemble = "ensemble";                        // stages
constexpr double kShareOfBaseline = 0.25, kShareOfTrial = 1.0 / 12;  // maximum fraction of the budget for one
constexpr double kMinOfTrial = 10;      // seconds, within the share of a baseline
constexpr double kShareOfRounds = 0.9;  // of the time left after the trial
constexpr double kFirstLook = 8;        // seconds until the first results of an unfinished stage are shown

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  if (const size_t at = text.find(what); at != std::string::npos) text.replace(at, what.size(), by);
  return text;
}

std::string full_path(const fs::path& path) {
  return fs::absolute(path).lexically_normal().string();
}

/// A sweep of the search.
struct Stage {
  std::string name;
  std::function<std::vector<SweepRun>()> runs;  // by the results so far; none: the stage is left out
  double limit = 0;                             // seconds per process; 0: no limit
  std::function<void(const SweepOutcome&)> conclude = {};  // empty: its results go into the leaderboard
};

/// Folders of a model's runs: its own, then those on further splits.
using Model = std::vector<std::string>;

/// The cost of a candidate, measured in its trial `run`.
TrialCost cost_of(const std::string& name, const RunOutcome& run, const std::string& epochs_key) {
  const Json metrics = read_json(run.folder / "metrics.json"), timing = read_json(run.folder / "timing.json");
  const auto steps = member<double>(metrics, "steps", run.folder.string()),
             epochs = member<double>(metrics, "epochs", run.folder.string());
  const Json &stepped = timing.at("steps"), &evaluated = timing.at("evaluations");
  const auto each = [](const Json& elapsed) {
    return elapsed.at("seconds").get<double>() / std::max(elapsed.at("count").get<double>(), 1.0);
  };
  const toml::table config = toml::parse_file((run.folder / "config.toml").string());
  const int64_t planned = config.at_path(epochs_key).value_or<int64_t>(1);
  TrialCost cost;
  cost.name = name;
  cost.step = each(stepped);
  cost.evaluation = each(evaluated);
  cost.start = std::max(
      run.seconds - stepped.at("seconds").get<double>() - evaluated.at("seconds").get<double>(), 0.0);
  cost.steps_per_epoch = std::max<int64_t>(std::llround(steps / std::max(epochs, 1e-9)), 1);
  cost.full_steps = std::max<int64_t>(planned * cost.steps_per_epoch, 1);
  return cost;
}

class Search {
 public:
  using Look = std::function<void(const SearchOutcome&)>;

  Search(const SearchRequest& request, fs::path out, std::string program, Look look)
      : request_(request), out_(std::move(out)), program_(std::move(program)), look_(std::move(look)) {}

  SearchOutcome run() {
    const double limit = request_.budget * kShareOfBaseline;
    std::vector<Stage> stages = {{kBaselines, [this] { return runs_of_all(true); }, limit}};
    if (!fs::exists(plan_file()))
      stages.push_back({kTrial, [this] { return runs_of_all(false); },
                        std::max(request_.budget * kShareOfTrial, std::min(limit, kMinOfTrial)),
                        [this](const SweepOutcome& done) { measure(done); }});
    if (!run_stages(stages)) return std::move(outcome_);
    plan_ = made_plan();
    stages.clear();
    for (size_t r = 0; r < plan_.rounds.size(); ++r)
      stages.push_back({round_name(r), [this, r] { return runs_of_round(r); }});
    const auto keep = [this](const SweepOutcome& done) { keep_refitted(done); };
    stages.push_back({"seeds", [this] { return seed_runs(); }});
    stages.push_back(
        {kSplits, [this] { return split_runs(); }, 0, [this](const SweepOutcome& done) { average(done); }});
    stages.push_back({kEnsemble, [this] { return ensemble_runs(); }});
    stages.push_back({"refit", [this] { return refit_runs(); }, 0, keep});
    stages.push_back({"refit-ensemble", [this] { return refit_ensemble_runs(); }, 0, keep});
    if (run_stages(stages) && !refitted_.empty()) outcome_.refitted = refitted_.front();
    if (const double over = seconds_since(begin_) - request_.budget; over >= 1 && request_.refit.empty())
      spdlog::info("the search took {} longer than its budget of {}", duration_text(over),
                   duration_text(request_.budget));
    return std::move(outcome_);
  }

 private:
  const SearchCandidate& called(const std::string& name) const {
    const auto found = std::find_if(request_.candidates.begin(), request_.candidates.end(),
                                    [&](const SearchCandidate& one) { return one.name == name; });
    require(found != request_.candidates.end(), ErrorKind::data, "{}: unknown candidate '{}'",
            plan_file().string(), name);
    return *found;
  }

  /// Runs one stage after the other; false if a signal interrupted one.
  bool run_stages(const std::vector<Stage>& stages) {
    for (const Stage& stage : stages) {
      const std::vector<SweepRun> runs = stage.runs();
      if (runs.empty()) continue;
      const SweepOutcome done = run_sweep_of(stage, runs);
      outcome_.signal = done.signal;
      if (done.signal != 0) return false;
      for (size_t i = 0; i < runs.size(); ++i) made_[full_path(done.runs[i].folder)] = runs[i];
      if (stage.conclude) {
        stage.conclude(done);
      } else {
        add_results(trial_results_of(done), request_.metric, outcome_);
        show(outcome_);
      }
    }
    return true;
  }

  void show(const SearchOutcome& outcome) const {
    write_file_atomically(search_folder(out_) / "leaderboard.json",
                          leaderboard_json(outcome, request_.metric, out_).dump(1) + "\n");
    if (look_) look_(outcome);
  }

  /// Shows the results so far while a stage runs, at increasing intervals.
  void peek(const SweepOutcome& so_far) {
    const bool all_done = std::none_of(so_far.runs.begin(), so_far.runs.end(),
                                       [](const RunOutcome& run) { return run.state == RunState::waiting; });
    if (all_done || seconds_since(begin_) < next_look_) return;
    std::vector<TrialResult> trial_results = trial_results_of(so_far);
    if (trial_results.empty()) return;
    next_look_ = 2 * seconds_since(begin_);
    SearchOutcome shown = outcome_;
    add_results(std::move(trial_results), request_.metric, shown);
    show(shown);
  }

  static std::string round_name(size_t round) { return fmt::format("round{}", round + 1); }
  fs::path plan_file() const { return search_folder(out_) / "plan.json"; }

  /// A full run of each candidate without training steps, or a trial of each other one.
  std::vector<SweepRun> runs_of_all(bool fitted) const {
    std::vector<SweepRun> runs;
    for (const SearchCandidate& one : request_.candidates)
      if (one.fitted == fitted) runs.push_back(run_of(one, fitted ? 0 : kTrialSteps));
    return runs;
  }

  /// All candidates in the first round; later the best incomplete ones of the previous round.
  std::vector<SweepRun> runs_of_round(size_t r) {
    const SearchPlan::Round& round = plan_.rounds[r];
    std::vector<std::string> kept;
    for (const TrialResult& one : outcome_.trial_results)
      if (r > 0 && one.stage == round_name(r - 1) && one.failure.empty() && round.steps_of(one.name) > 0 &&
          std::ssize(kept) < round.kept)
        kept.push_back(one.name);
    std::vector<SweepRun> runs;
    for (const auto& [name, steps] : round.steps) {
      if (r > 0 && std::find(kept.begin(), kept.end(), name) == kept.end()) continue;
      runs.push_back(run_of(called(name), steps));
      planned_ += planned_seconds_[name] = plan_.cost_of(name).seconds(steps);
    }
    return runs;
  }

  /// Runs of the best trained candidates with other seeds, as many as fit into the remaining time.
  std::vector<SweepRun> seed_runs() const {
    if (request_.ensemble.empty() || plan_.splits > 0) return {};
    std::vector<TrialResult> best = best_candidates(std::ssize(request_.candidates));
    std::erase_if(best, [&](const TrialResult& one) { return !planned_seconds_.contains(one.name); });
    int64_t seeds = 0;
    for (best.resize(std::min<size_t>(best.size(), kEvaluatedAgain)); seeds == 0 && !best.empty();) {
      double once = 0;
      for (const TrialResult& one : best) once += planned_seconds_.at(one.name);
      seeds = std::clamp<int64_t>(static_cast<int64_t>((plan_.seconds - planned_) / once), 0, kMaxSeeds);
      if (seeds == 0) best.pop_back();
    }
    std::vector<SweepRun> runs;
    for (int64_t i = 1; i <= seeds; ++i)
      for (const TrialResult& one : best) {
        SweepRun run = made_.at(full_path(one.folder));
        run.name = fmt::format("{}-{}", one.name, i + 1);
        run.labels = {run.name};
        run.seed += i;
        runs.push_back(std::move(run));
      }
    return runs;
  }

  SweepRun run_of(const SearchCandidate& candidate, int64_t steps) const {
    SweepRun run{candidate.name, {candidate.name}, request_.seed, request_.settings};
    run.settings.insert(run.settings.end(), candidate.settings.begin(), candidate.settings.end());
    if (steps > 0) run.settings.push_back(replaced(request_.steps_setting, "{steps}", std::to_string(steps)));
    run.settings.insert(run.settings.end(), request_.last_settings.begin(), request_.last_settings.end());
    return run;
  }

  /// The best run of each of the `maximum` best candidates.
  std::vector<TrialResult> best_candidates(int64_t maximum) const {
    std::vector<TrialResult> out;
    for (const TrialResult& one : outcome_.trial_results)
      if (one.failure.empty() && std::ssize(out) < maximum &&
          std::none_of(out.begin(), out.end(),
                       [&](const TrialResult& other) { return other.name == one.name; }))
        out.push_back(one);
    return out;
  }

  /// The best candidates to train on the other splits, as many as fit into the remaining time, at least
  /// kEvaluatedAgain.
  std::vector<TrialResult> evaluated_again() const {
    std::vector<TrialResult> best = best_candidates(std::ssize(request_.candidates));
    double left = plan_.seconds - planned_;
    size_t count = 0;
    for (; count < best.size(); ++count) {
      const auto planned = planned_seconds_.find(best[count].name);
      const double once =
          planned != planned_seconds_.end() ? planned->second : plan_.cost_of(best[count].name).start;
      left -= once * static_cast<double>(plan_.splits);
      if (left < 0 && static_cast<int64_t>(count) >= kEvaluatedAgain) break;
    }
    best.resize(count);
    return best;
  }

  /// Runs of the best candidates on the other splits, for as many steps.
  std::vector<SweepRun> split_runs() {
    std::vector<SweepRun> runs;
    if (plan_.splits == 0 || leave_out(kSplits)) return runs;
    for (const TrialResult& one : evaluated_again())
      for (size_t i = 0; i < static_cast<size_t>(plan_.splits); ++i) {
        SweepRun run = made_.at(full_path(one.folder));
        run.name = fmt::format("{}-{}", one.name, i + 2);
        run.settings.push_back(request_.splits.at(i));
        runs.push_back(std::move(run));
      }
    return runs;
  }

  /// Ranks the candidates that succeed on every split by the mean over all splits, before those evaluated on
  /// one.
  void average(const SweepOutcome& done) {
    const std::vector<TrialResult> best = evaluated_again();
    const std::vector<SweepRow> rows = sweep_rows(sweep_, done);  // one per candidate
    std::vector<TrialResult> evaluated;
    for (size_t b = 0; b < best.size(); ++b) {
      const std::vector<double>& values = rows[b].values[0];
      if (std::ssize(values) < plan_.splits) continue;
      TrialResult mean = best[b];
      mean.stage = kSplits;
      mean.on_splits = true;
      mean.value =
          std::accumulate(values.begin(), values.end(), mean.value) / static_cast<double>(values.size() + 1);
      for (const size_t run : rows[b].runs) mean.seconds += done.runs[run].seconds;
      if (!std::isfinite(mean.value)) continue;
      for (const size_t run : rows[b].runs)
        split_runs_[mean.name].push_back(full_path(done.runs[run].folder));
      evaluated.push_back(std::move(mean));
    }
    add_results(std::move(evaluated), request_.metric, outcome_);
    show(outcome_);
  }

  /// The ensemble run of the best candidates, each with its best run, or its runs on all splits if there are
  /// several; none with fewer than two runs.
  std::vector<SweepRun> ensemble_runs() {
    for (const TrialResult& one : best_candidates(kEnsembleMembers)) {
      if (one.on_splits == split_runs_.empty()) continue;
      Model& model = models_.emplace_back(Model{full_path(one.folder)});
      if (!one.on_splits) continue;
      const Model& further = split_runs_.at(one.name);
      model.insert(model.end(), further.begin(), further.end());
    }
    if (request_.ensemble.empty() || models_.empty() || models_.size() * models_.front().size() < 2 ||
        leave_out(kEnsemble))
      return {};
    return {ensemble_of(models_)};
  }

  SweepRun ensemble_of(const std::vector<Model>& models) const {
    SweepRun run = run_of({kEnsemble, {}, true}, 0);
    std::vector<std::string> folders;
    for (const Model& model : models) folders.insert(folders.end(), model.begin(), model.end());
    const std::string splits = std::to_string(models.front().size());
    for (const std::string& setting : request_.ensemble)
      run.settings.push_back(replaced(replaced(setting, "{runs}", Json(folders).dump()), "{splits}", splits));
    return run;
  }

  /// The chosen model; for an ensemble: its members with a weight.
  std::vector<Model> chosen_models() const {
    const TrialResult& chosen = *outcome_.best();
    if (chosen.stage != kEnsemble) return {{full_path(chosen.folder)}};
    const std::string source = (chosen.folder / "metrics.json").string();
    std::set<std::string> weighted;
    for (const Json& one : member<Json>(read_json(source), "members", source))
      weighted.insert(member<std::string>(one, "run", source));
    std::vector<Model> models = models_;
    std::erase_if(models, [&](const Model& model) { return !weighted.contains(model.front()); });
    return models;
  }

  SweepRun refit_of(SweepRun run) const {
    run.settings.insert(run.settings.end(), request_.refit.begin(), request_.refit.end());
    return run;
  }

  std::vector<SweepRun> refit_runs() const {
    std::vector<SweepRun> runs;
    if (request_.refit.empty() || outcome_.best() == nullptr) return runs;
    for (const Model& model : chosen_models()) runs.push_back(refit_of(made_.at(model.front())));
    return runs;
  }

  /// The chosen ensemble with its refitted members, weighted by the validation samples of the refit and of
  /// before.
  std::vector<SweepRun> refit_ensemble_runs() const {
    if (refitted_.empty() || outcome_.best()->stage != kEnsemble) return {};
    std::vector<Model> models = chosen_models();
    for (size_t i = 0; i < models.size(); ++i) models[i].insert(models[i].begin(), full_path(refitted_[i]));
    return {refit_of(ensemble_of(models))};
  }

  /// Keeps the folders of a refit; none after a failed run, which is logged.
  void keep_refitted(const SweepOutcome& done) {
    refitted_.clear();
    for (size_t i = 0; i < done.runs.size(); ++i)
      if (done.runs[i].state != RunState::finished)
        return spdlog::warn("the refit of {} failed: {}; the evaluated run is kept", sweep_.runs[i].name,
                            done.runs[i].failure);
    for (const RunOutcome& run : done.runs) refitted_.push_back(run.folder);
  }

  SweepOutcome run_sweep_of(const Stage& stage, const std::vector<SweepRun>& runs) {
    sweep_ = {stage.name, request_.task, request_.config, request_.data, {"model"}, {request_.metric}, runs};
    SweepOptions options;
    options.out = search_folder(out_) / stage.name;
    options.jobs = request_.jobs;
    // Few runs share the cores: each gets the threads of all.
    options.threads = request_.threads * std::max<int64_t>(request_.jobs / std::ssize(runs), 1);
    options.time_limit = stage.limit;
    options.program = program_;
    if (!stage.conclude) options.watch = [this](const SweepOutcome& so_far) { peek(so_far); };
    SweepOutcome done = run_sweep(sweep_, options);
    require_files(done);
    return done;
  }

  /// A candidate that could not read or write its files, as on a full disk, may be the best one.
  void require_files(const SweepOutcome& done) const {
    for (size_t i = 0; i < done.runs.size(); ++i) {
      const RunOutcome& run = done.runs[i];
      require(run.state != RunState::failed || run.exit_code != static_cast<int>(ErrorKind::io),
              ErrorKind::io, "the search stops: {} ended with '{}'; continue with --resume {}",
              sweep_.runs[i].name, run.failure, command_word(out_.string()));
    }
  }

  /// Results of the runs that have ended.
  std::vector<TrialResult> trial_results_of(const SweepOutcome& done) const {
    const std::vector<SweepRow> rows = sweep_rows(sweep_, done);
    std::vector<TrialResult> out;
    for (size_t i = 0; i < done.runs.size(); ++i) {
      const RunOutcome& run = done.runs[i];
      if (run.state == RunState::waiting || run.state == RunState::stopped) continue;
      TrialResult trial_result{sweep_.runs[i].name, sweep_.name, std::nan(""), 0,
                               run.seconds,         run.failure, run.folder};
      if (run.state == RunState::finished) {
        const Json metrics = read_json(run.folder / "metrics.json"),
                   members = metrics.value("members", Json());
        if (!rows[i].values[0].empty()) trial_result.value = rows[i].values[0][0];
        trial_result.steps = metrics.value("steps", int64_t{0});
        trial_result.on_splits = sweep_.name == kEnsemble && !split_runs_.empty();
        if (members.size() == 1)
          trial_result.failure = fmt::format("no ensemble is better than {} alone",
                                             fs::path(members[0].value("run", "")).filename().string());
        else if (!std::isfinite(trial_result.value))
          trial_result.failure = fmt::format("it has no {}", request_.metric.name);
      }
      out.push_back(std::move(trial_result));
    }
    return out;
  }

  /// Takes the cost of each candidate from its trial.
  void measure(const SweepOutcome& done) {
    for (size_t i = 0; i < done.runs.size(); ++i) {
      const RunOutcome& run = done.runs[i];
      const std::string& name = sweep_.runs[i].name;
      if (run.state == RunState::finished)
        costs_.push_back(cost_of(name, run, request_.epochs_key));
      else
        outcome_.trial_results.push_back(
            {name, kTrial, std::nan(""), 0, run.seconds, run.failure, run.folder});
    }
  }

  void write_plan(const SearchPlan& plan) const {
    write_file_atomically(plan_file(), plan.to_json().dump(1) + "\n");
  }

  /// Whether a stage is left out because the budget is spent; saved for a search that is resumed.
  bool leave_out(const char* stage) {
    if (fs::exists(search_folder(out_) / stage)) return false;  // begun in time
    if (plan_.seconds > 0 && seconds_since(begin_) < request_.budget) return false;
    spdlog::info("the budget of {} is spent: left out: {}", duration_text(request_.budget), stage);
    plan_.seconds = 0;
    write_plan(plan_);
    return true;
  }

  /// The saved plan, or a new one by the measured costs.
  SearchPlan made_plan() const {
    if (fs::exists(plan_file())) return SearchPlan::from_json(read_json(plan_file()), plan_file().string());
    double left =
        (request_.budget - seconds_since(begin_)) * kShareOfRounds * static_cast<double>(request_.jobs);
    // The best baseline is refitted for each split.
    if (const TrialResult* best = outcome_.best())
      left -= static_cast<double>(request_.splits.size()) * best->seconds;
    SearchPlan plan = plan_search(costs_, left, std::ssize(request_.splits), request_.min_share);
    if (plan.rounds.empty())
      spdlog::warn("{} is too short to train any of {} models: use a larger --budget",
                   duration_text(request_.budget),
                   std::ranges::count(request_.candidates, false, &SearchCandidate::fitted));
    else if (!plan.left_out.empty())
      spdlog::info("skipped for lack of time: {}", fmt::join(plan.left_out, ", "));
    for (const TrialResult& one : outcome_.trial_results)  // a baseline takes as long on another split
      if (one.stage == kBaselines) plan.costs.push_back({one.name, one.seconds, 0, 0, 1, 1});
    write_plan(plan);
    return plan;
  }

  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  const SearchRequest& request_;
  const fs::path out_;
  const std::string program_;
  const Look look_;
  const Clock::time_point begin_ = Clock::now();
  double next_look_ = kFirstLook;
  std::vector<TrialCost> costs_;
  SearchPlan plan_;
  SweepPlan sweep_;                       // of the current stage
  std::map<std::string, SweepRun> made_;  // the settings of the run in each folder
  // Planned seconds: of each candidate's longest training, and of all.
  std::map<std::string, double> planned_seconds_;
  double planned_ = 0;
  std::map<std::string, Model> split_runs_;  // runs of each candidate on the further splits
  std::vector<Model> models_;                // of the ensemble
  std::vector<fs::path> refitted_;           // the refitted models, or their ensemble
  SearchOutcome outcome_;
};

}  // namespace

SearchOutcome run_search(const SearchRequest& request, const fs::path& out,
                         const std::function<void(const SearchOutcome&)>& look, const std::string& program) {
  begin_search(request, out);
  remove_search_leftovers(out);
  return Search(request, out, program, look).run();
}

}  // namespace modewise::sweep
