#include "modewise/sweep/search.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <toml++/toml.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/progress.h"
#include "modewise/sweep/search_files.h"
#include "modewise/sweep/sweep_runner.h"
#include "modewise/sweep/sweep_table.h"

namespace modewise::sweep {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int64_t kTrialSteps = 10;
constexpr int64_t kEnsembleMembers = 16, kMaxSeeds = 4;
constexpr const char *kBaselines = "baselines", *kSeeds = "seeds", *kSplits = "splits",
                     *kEnsemble = "ensemble", *kRefit = "refit",
                     *kRefitEnsemble = "refit-ensemble";             // stages
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

/// The runs of the chosen result, a list per model: its own run, then those on further splits. For an
/// ensemble: the members with a weight.
std::vector<std::vector<std::string>> models_of(const TrialResult& chosen) {
  const std::string source = (chosen.folder / "metrics.json").string();
  const auto members = read_json(source).value("members", Json::array());
  if (members.empty()) return {{full_path(chosen.folder)}};
  const toml::table config = toml::parse_file((chosen.folder / "config.toml").string());
  const auto splits = config.at_path("model.ensemble.splits").value_or<int64_t>(1);
  std::vector<std::string> runs;
  if (const toml::array* named = config.at_path("model.ensemble.runs").as_array())
    for (const toml::node& one : *named) runs.push_back(one.value_or(std::string()));
  std::vector<std::vector<std::string>> models;
  for (auto run = runs.begin(); runs.end() - run >= splits; run += splits)
    if (std::any_of(members.begin(), members.end(),
                    [&](const Json& one) { return member<std::string>(one, "run", source) == *run; }))
      models.emplace_back(run, run + splits);
  return models;
}

/// The cost of a candidate, measured in its trial `run`.
TrialCost cost_of(const std::string& name, const RunOutcome& run) {
  const Json metrics = read_json(run.folder / "metrics.json"), timing = read_json(run.folder / "timing.json");
  const auto steps = member<double>(metrics, "steps", run.folder.string()),
             epochs = member<double>(metrics, "epochs", run.folder.string());
  const Json &stepped = timing.at("steps"), &evaluated = timing.at("evaluations");
  const auto each = [](const Json& elapsed) {
    return elapsed.at("seconds").get<double>() / std::max(elapsed.at("count").get<double>(), 1.0);
  };
  const toml::table config = toml::parse_file((run.folder / "config.toml").string());
  const int64_t planned = config.at_path("train.epochs").value_or<int64_t>(1);
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
    std::vector<SweepRun> fitted;
    for (const SearchCandidate& one : request_.candidates)
      if (one.fitted) fitted.push_back(run_of(one, 0));
    limit_ = request_.budget * kShareOfBaseline;
    if (!stage(kBaselines, fitted)) return std::move(outcome_);
    const std::optional<SearchPlan> plan = made_plan();
    if (!plan) return std::move(outcome_);
    limit_ = 0;
    for (size_t r = 0; r < plan->rounds.size(); ++r)
      if (!stage(round_name(r), runs_of_round(*plan, r))) return std::move(outcome_);
    if (!stage(kSeeds, seed_runs(*plan))) return std::move(outcome_);
    if (evaluate_on_splits(*plan)) show(outcome_);
    if (outcome_.signal == 0) stage(kEnsemble, ensemble_runs());
    if (outcome_.signal == 0 && !request_.refit.empty() && outcome_.best() != nullptr)
      refit(*outcome_.best());
    return std::move(outcome_);
  }

 private:
  const SearchCandidate& called(const std::string& name) const {
    const auto found = std::find_if(request_.candidates.begin(), request_.candidates.end(),
                                    [&](const SearchCandidate& one) { return one.name == name; });
    require(found != request_.candidates.end(), ErrorKind::data, "{}: unknown candidate '{}'",
            (search_folder(out_) / "plan.json").string(), name);
    return *found;
  }

  /// Runs a stage; false if a signal interrupted it.
  bool stage(const std::string& name, const std::vector<SweepRun>& runs) {
    if (runs.empty()) return true;
    const SweepOutcome done =
        run_sweep_of(name, runs, [&](const SweepOutcome& so_far) { peek(runs, so_far); });
    outcome_.signal = done.signal;
    for (size_t i = 0; i < runs.size(); ++i) made_[full_path(done.runs[i].folder)] = runs[i];
    add(trial_results_of(runs, done), outcome_);
    if (done.signal == 0) show(outcome_);
    return done.signal == 0;
  }

  void show(const SearchOutcome& outcome) const {
    write_file_atomically(search_folder(out_) / "leaderboard.json",
                          trial_results_json(outcome).dump(1) + "\n");
    if (look_) look_(outcome);
  }

  /// Shows the results so far while a stage runs, at increasing intervals.
  void peek(const std::vector<SweepRun>& runs, const SweepOutcome& so_far) {
    const bool all_done = std::none_of(so_far.runs.begin(), so_far.runs.end(),
                                       [](const RunOutcome& run) { return run.state == RunState::waiting; });
    if (all_done || seconds_since(begin_) < next_look_) return;
    std::vector<TrialResult> trial_results = trial_results_of(runs, so_far);
    if (trial_results.empty()) return;
    next_look_ = 2 * seconds_since(begin_);
    SearchOutcome shown = outcome_;
    add(std::move(trial_results), shown);
    show(shown);
  }

  static std::string round_name(size_t round) { return fmt::format("round{}", round + 1); }

  /// All candidates in the first round; later the best incomplete ones of the previous round.
  std::vector<SweepRun> runs_of_round(const SearchPlan& plan, size_t r) {
    const SearchPlan::Round& round = plan.rounds[r];
    std::vector<std::string> kept;
    for (const TrialResult& one : outcome_.trial_results)
      if (r > 0 && one.stage == round_name(r - 1) && one.failure.empty() && round.steps_of(one.name) > 0 &&
          std::ssize(kept) < round.kept)
        kept.push_back(one.name);
    std::vector<SweepRun> runs;
    for (const auto& [name, steps] : round.steps) {
      if (r > 0 && std::find(kept.begin(), kept.end(), name) == kept.end()) continue;
      runs.push_back(run_of(called(name), steps));
      planned_ += planned_seconds_[name] = plan.cost_of(name).seconds(steps);
    }
    return runs;
  }

  /// Runs of the best trained candidates with other seeds, as many as fit into the remaining time.
  std::vector<SweepRun> seed_runs(const SearchPlan& plan) const {
    if (request_.ensemble.empty() || plan.splits > 0) return {};
    std::vector<TrialResult> best = best_candidates(std::ssize(request_.candidates));
    std::erase_if(best, [&](const TrialResult& one) { return !planned_seconds_.contains(one.name); });
    int64_t seeds = 0;
    for (best.resize(std::min<size_t>(best.size(), kEvaluatedAgain)); seeds == 0 && !best.empty();) {
      double once = 0;
      for (const TrialResult& one : best) once += planned_seconds_.at(one.name);
      seeds = std::clamp<int64_t>(static_cast<int64_t>((plan.seconds - planned_) / once), 0, kMaxSeeds);
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
    if (steps > 0) run.settings.push_back(fmt::format("train.max_steps={}", steps));
    run.settings.emplace_back("output.report=false");
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
  std::vector<TrialResult> evaluated_again(const SearchPlan& plan) const {
    std::vector<TrialResult> best = best_candidates(std::ssize(request_.candidates));
    double left = plan.seconds - planned_;
    size_t count = 0;
    for (; count < best.size(); ++count) {
      const auto planned = planned_seconds_.find(best[count].name);
      const double once =
          planned != planned_seconds_.end() ? planned->second : plan.cost_of(best[count].name).start;
      left -= once * static_cast<double>(plan.splits);
      if (left < 0 && static_cast<int64_t>(count) >= kEvaluatedAgain) break;
    }
    best.resize(count);
    return best;
  }

  /// Trains the best candidates on the other splits, for as many steps; those that succeed on every split are
  /// ranked by the mean over all splits, before those evaluated on one. False if there is nothing to do.
  bool evaluate_on_splits(const SearchPlan& plan) {
    if (plan.splits == 0) return false;
    const std::vector<TrialResult> best = evaluated_again(plan);
    if (best.empty()) return false;
    const auto splits = static_cast<size_t>(plan.splits);
    std::vector<SweepRun> runs;
    for (const TrialResult& one : best)
      for (size_t i = 0; i < splits; ++i) {
        SweepRun run = made_.at(full_path(one.folder));
        run.name = fmt::format("{}-{}", one.name, i + 2);
        run.settings.push_back(request_.splits.at(i));
        runs.push_back(std::move(run));
      }
    const SweepOutcome done = run_sweep_of(kSplits, runs);
    outcome_.signal = done.signal;
    if (done.signal != 0) return false;
    const std::vector<SweepRow> rows = sweep_rows(plan_, done);  // one per candidate
    std::vector<TrialResult> evaluated;
    for (size_t b = 0; b < best.size(); ++b) {
      const std::vector<double>& values = rows[b].values[0];
      if (values.size() < splits) continue;
      TrialResult mean = best[b];
      mean.stage = kSplits;
      mean.on_splits = true;
      mean.value =
          std::accumulate(values.begin(), values.end(), mean.value) / static_cast<double>(values.size() + 1);
      for (const size_t run : rows[b].runs) mean.seconds += done.runs[run].seconds;
      if (!std::isfinite(mean.value)) continue;
      for (const size_t run : rows[b].runs) split_runs_[mean.name].push_back(done.runs[run].folder);
      evaluated.push_back(std::move(mean));
    }
    add(std::move(evaluated), outcome_);
    return true;
  }

  /// The ensemble run of the best candidates, each with its best run, or its runs on all splits if there are
  /// several; none with fewer than two runs.
  std::vector<SweepRun> ensemble_runs() const {
    std::vector<std::string> folders;
    for (const TrialResult& one : best_candidates(kEnsembleMembers)) {
      if (one.on_splits == split_runs_.empty()) continue;
      std::vector<fs::path> runs = {one.folder};
      if (one.on_splits)
        runs.insert(runs.end(), split_runs_.at(one.name).begin(), split_runs_.at(one.name).end());
      for (const fs::path& run : runs) folders.push_back(full_path(run));
    }
    if (request_.ensemble.empty() || folders.size() < 2) return {};
    return {ensemble_of(folders, split_runs_.empty() ? 1 : split_runs_.begin()->second.size() + 1)};
  }

  /// An ensemble of models with `splits` splits each.
  SweepRun ensemble_of(const std::vector<std::string>& folders, size_t splits) const {
    SweepRun run = run_of({kEnsemble, {}, true}, 0);
    for (const std::string& setting : request_.ensemble)
      run.settings.push_back(
          replaced(replaced(setting, "{runs}", Json(folders).dump()), "{splits}", std::to_string(splits)));
    return run;
  }

  /// Refits the chosen run with request_.refit: its models, and for an ensemble also itself, with weights
  /// from the validation samples of the refit and of before.
  void refit(const TrialResult& chosen) {
    const std::vector<std::vector<std::string>> models = models_of(chosen);
    std::vector<SweepRun> runs;
    for (const std::vector<std::string>& model : models) runs.push_back(made_.at(model.front()));
    const std::optional<SweepOutcome> trained = refit_stage(kRefit, std::move(runs));
    if (!trained) return;
    if (chosen.stage != kEnsemble) {
      outcome_.refitted = trained->runs.front().folder;
      return;
    }
    std::vector<std::string> folders;
    for (size_t i = 0; i < models.size(); ++i) {
      folders.push_back(full_path(trained->runs[i].folder));
      folders.insert(folders.end(), models[i].begin(), models[i].end());
    }
    const std::optional<SweepOutcome> together =
        refit_stage(kRefitEnsemble, {ensemble_of(folders, models.front().size() + 1)});
    if (together) outcome_.refitted = together->runs.front().folder;
  }

  /// nullopt after a signal or a failed run, which is logged.
  std::optional<SweepOutcome> refit_stage(const std::string& name, std::vector<SweepRun> runs) {
    for (SweepRun& run : runs)
      run.settings.insert(run.settings.end(), request_.refit.begin(), request_.refit.end());
    SweepOutcome done = run_sweep_of(name, runs);
    outcome_.signal = done.signal;
    if (done.signal != 0) return std::nullopt;
    for (size_t i = 0; i < runs.size(); ++i)
      if (done.runs[i].state != RunState::finished) {
        spdlog::warn("the refit of {} failed: {}; the evaluated run is kept", runs[i].name,
                     done.runs[i].failure);
        return std::nullopt;
      }
    return done;
  }

  SweepOutcome run_sweep_of(const std::string& stage, const std::vector<SweepRun>& runs,
                            std::function<void(const SweepOutcome&)> watch = nullptr) {
    plan_ = {stage, request_.task, request_.config, request_.data, {"model"}, {request_.metric}, runs};
    SweepOptions options;
    options.out = search_folder(out_) / stage;
    options.jobs = request_.jobs;
    options.threads = request_.threads;  // few runs share the cores: each gets the threads of all
    if (!runs.empty()) options.threads *= std::max<int64_t>(request_.jobs / std::ssize(runs), 1);
    options.time_limit = limit_;
    options.program = program_;
    options.watch = std::move(watch);
    return run_sweep(plan_, options);
  }

  /// Results of the runs that have ended.
  std::vector<TrialResult> trial_results_of(const std::vector<SweepRun>& runs,
                                            const SweepOutcome& done) const {
    const std::vector<SweepRow> rows = sweep_rows(plan_, done);
    std::vector<TrialResult> out;
    for (size_t i = 0; i < runs.size(); ++i) {
      const RunOutcome& run = done.runs[i];
      if (run.state == RunState::waiting || run.state == RunState::stopped) continue;
      TrialResult trial_result{runs[i].name, plan_.name,  std::nan(""), 0,
                               run.seconds,  run.failure, run.folder};
      if (run.state == RunState::finished) {
        const Json metrics = read_json(run.folder / "metrics.json"),
                   members = metrics.value("members", Json());
        if (!rows[i].values[0].empty()) trial_result.value = rows[i].values[0][0];
        trial_result.steps = metrics.value("steps", int64_t{0});
        trial_result.on_splits = plan_.name == kEnsemble && !split_runs_.empty();
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

  /// Inserts before the earlier results, so that the later stage is first among equals.
  void add(std::vector<TrialResult> now, SearchOutcome& to) const {
    to.trial_results.insert(to.trial_results.begin(), now.begin(), now.end());
    std::stable_sort(to.trial_results.begin(), to.trial_results.end(),
                     [&](const TrialResult& a, const TrialResult& b) { return rank(a) < rank(b); });
  }

  /// Rank, lower is better; results over all splits come first.
  std::pair<bool, double> rank(const TrialResult& trial_result) const {
    if (!trial_result.failure.empty()) return {true, std::numeric_limits<double>::infinity()};
    return {!trial_result.on_splits,
            request_.metric.best == "highest" ? -trial_result.value : trial_result.value};
  }

  /// The saved plan, or a new one from a trial; nullopt if a signal came first.
  std::optional<SearchPlan> made_plan() {
    const fs::path file = search_folder(out_) / "plan.json";
    if (fs::exists(file)) return SearchPlan::from_json(read_json(file), file.string());
    std::vector<SweepRun> trials;
    for (const SearchCandidate& one : request_.candidates)
      if (!one.fitted) trials.push_back(run_of(one, kTrialSteps));
    limit_ = std::max(request_.budget * kShareOfTrial, std::min(limit_, kMinOfTrial));
    const SweepOutcome done = run_sweep_of("trial", trials);
    outcome_.signal = done.signal;
    if (done.signal != 0) return std::nullopt;
    std::vector<TrialCost> costs;
    for (size_t i = 0; i < trials.size(); ++i) {
      if (done.runs[i].state != RunState::finished) {
        outcome_.trial_results.push_back({trials[i].name, "trial", std::nan(""), 0, done.runs[i].seconds,
                                          done.runs[i].failure, done.runs[i].folder});
        continue;
      }
      costs.push_back(cost_of(trials[i].name, done.runs[i]));
    }
    double left =
        (request_.budget - seconds_since(begin_)) * kShareOfRounds * static_cast<double>(request_.jobs);
    // The best baseline is refitted for each split.
    if (const TrialResult* best = outcome_.best())
      left -= static_cast<double>(request_.splits.size()) * best->seconds;
    SearchPlan plan = plan_search(costs, left, std::ssize(request_.splits), request_.min_share);
    if (plan.rounds.empty())
      spdlog::warn("{} is too short to train any of {} models: use a larger --budget",
                   duration_text(request_.budget), trials.size());
    else if (!plan.left_out.empty())
      spdlog::info("skipped for lack of time: {}", fmt::join(plan.left_out, ", "));
    for (const TrialResult& one : outcome_.trial_results)  // a baseline takes as long on another split
      if (one.stage == kBaselines) plan.costs.push_back({one.name, one.seconds, 0, 0, 1, 1});
    write_file_atomically(file, plan.to_json().dump(1) + "\n");
    return plan;
  }

  Json trial_results_json(const SearchOutcome& outcome) const {
    Json out = Json::array();
    for (const TrialResult& one : outcome.trial_results) {
      Json row = {{"name", one.name},
                  {"stage", one.stage},
                  {"run", one.folder.lexically_relative(out_).string()},
                  {"steps", one.steps},
                  {"seconds", one.seconds}};
      row[request_.metric.path] = one.failure.empty() ? Json(one.value) : Json();
      if (!one.failure.empty()) row["failure"] = one.failure;
      out.push_back(std::move(row));
    }
    return out;
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
  double limit_ = 0;
  SweepPlan plan_;
  std::map<std::string, SweepRun> made_;  // the settings of the run in each folder
  // Planned seconds: of each candidate's longest training, and of all.
  std::map<std::string, double> planned_seconds_;
  double planned_ = 0;
  std::map<std::string, std::vector<fs::path>> split_runs_;  // runs of each candidate on the further splits
  SearchOutcome outcome_;
};

}  // namespace

const TrialResult* SearchOutcome::best() const {
  return trial_results.empty() || !trial_results.front().failure.empty() ? nullptr : &trial_results.front();
}

SearchOutcome run_search(const SearchRequest& request, const fs::path& out,
                         const std::function<void(const SearchOutcome&)>& look, const std::string& program) {
  begin_search(request, out);
  remove_search_leftovers(out);
  return Search(request, out, program, look).run();
}

report::Table leaderboard(const SearchOutcome& outcome, const SweepMetric& metric) {
  using Best = report::Column::Best;
  report::Table table({{"model"},
                       {metric.name, metric.best == "highest" ? Best::highest : Best::lowest},
                       {"steps"},
                       {"seconds"},
                       {"round"}});
  std::vector<std::string> shown;
  for (const TrialResult& one : outcome.trial_results) {
    if (std::find(shown.begin(), shown.end(), one.name) != shown.end()) continue;
    shown.push_back(one.name);
    table.add_row({one.name, report::Cell(one.value * metric.factor, static_cast<int>(metric.decimals)),
                   report::Cell::count(one.steps), report::Cell(one.seconds, 1),
                   one.failure.empty() ? one.stage : one.stage + ": " + one.failure});
  }
  return table;
}

}  // namespace modewise::sweep
