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
#include "modewise/core/parse_json.h"
#include "modewise/core/progress.h"
#include "modewise/sweep/sweep_runner.h"
#include "modewise/sweep/sweep_table.h"

namespace modewise::sweep {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int64_t kTrialSteps = 10;
constexpr int64_t kEnsembleMembers = 8;
constexpr const char* kSplits = "splits";  // the stage of several splits
constexpr double kShareOfOne = 0.25;       // of the budget that one baseline or one trial may take
constexpr double kShareOfRounds = 0.9;     // of what is left after the trial

fs::path folder_of(const fs::path& out) {
  return out / "auto";
}

Json read_json(const fs::path& file) {
  return parse_json(read_file(file), file.string());
}

/// A member of a JSON object that the search wrote.
template <class T>
T member(const nlohmann::json& json, const char* name, const std::string& source) {
  try {
    return json.at(name).get<T>();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::data, "{}: \"{}\" is missing or no such value as a search writes", source, name);
  }
}

/// What the trial of a candidate in `run` measured.
TrialCost cost_of(const std::string& name, const RunOutcome& run) {
  const Json metrics = read_json(run.folder / "metrics.json"), timing = read_json(run.folder / "timing.json");
  const auto steps = member<double>(metrics, "steps", run.folder.string()),
             epochs = member<double>(metrics, "epochs", run.folder.string());
  const Json &stepped = timing.at("steps"), &evaluated = timing.at("evaluations");
  const auto each = [](const Json& spent) {
    return spent.at("seconds").get<double>() / std::max(spent.at("count").get<double>(), 1.0);
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
  Search(const SearchRequest& request, fs::path out, std::string program)
      : request_(request), out_(std::move(out)), program_(std::move(program)) {}

  SearchOutcome run(const std::function<void(const SearchOutcome&)>& look) {
    const auto show = [&] {
      if (outcome_.signal != 0) return false;
      write_file_atomically(folder_of(out_) / "leaderboard.json", standings_json().dump(1) + "\n");
      if (look) look(outcome_);
      return true;
    };
    const auto stage = [&](const std::string& name, const std::vector<SweepRun>& runs) {
      if (runs.empty()) return true;
      run_stage(name, runs);
      return show();
    };
    std::vector<SweepRun> fitted;
    for (const SearchCandidate& one : request_.candidates)
      if (one.fitted) fitted.push_back(run_of(one, 0));
    limit_ = request_.budget * kShareOfOne;
    if (!stage("baselines", fitted)) return std::move(outcome_);
    const std::optional<SearchPlan> plan = made_plan();
    if (!plan) return std::move(outcome_);
    limit_ = 0;
    std::vector<std::string> kept;
    for (size_t r = 0; r < plan->rounds.size(); ++r) {
      const SearchPlan::Round& round = plan->rounds[r];
      std::vector<SweepRun> runs;
      for (const auto& [name, steps] : round.steps)
        if (r == 0 || std::find(kept.begin(), kept.end(), name) != kept.end())
          runs.push_back(run_of(called(name), steps));
      const std::string name = fmt::format("round{}", r + 1);
      if (!stage(name, runs)) break;
      kept = best_of(name, r + 1 < plan->rounds.size() ? plan->rounds[r + 1].kept : 1);
    }
    if (outcome_.signal == 0 && judge_on_splits()) show();
    if (outcome_.signal == 0) stage("ensemble", ensemble_runs());
    return std::move(outcome_);
  }

 private:
  const SearchCandidate& called(const std::string& name) const {
    const auto found = std::find_if(request_.candidates.begin(), request_.candidates.end(),
                                    [&](const SearchCandidate& one) { return one.name == name; });
    require(found != request_.candidates.end(), ErrorKind::data, "{}: no candidate is called '{}'",
            (folder_of(out_) / "plan.json").string(), name);
    return *found;
  }

  SweepRun run_of(const SearchCandidate& candidate, int64_t steps) const {
    SweepRun run{candidate.name, {candidate.name}, request_.seed, request_.settings};
    run.settings.insert(run.settings.end(), candidate.settings.begin(), candidate.settings.end());
    if (steps > 0) run.settings.push_back(fmt::format("train.max_steps={}", steps));
    run.settings.emplace_back("output.report=false");
    return run;
  }

  /// The best run of each of the `most` best candidates.
  std::vector<Standing> best_candidates(int64_t most) const {
    std::vector<Standing> out;
    for (const Standing& one : outcome_.standings)
      if (one.failure.empty() && std::ssize(out) < most &&
          std::none_of(out.begin(), out.end(), [&](const Standing& other) { return other.name == one.name; }))
        out.push_back(one);
    return out;
  }

  /// Trains the best candidates on the other splits, for as many steps; those that end well on each stand by
  /// the mean over all splits, before what was judged on one. False where there is nothing to do.
  bool judge_on_splits() {
    const std::vector<Standing> best = best_candidates(kJudgedAgain);
    if (request_.splits.empty() || best.size() < 2) return false;
    std::vector<SweepRun> runs;
    for (const Standing& one : best)
      for (size_t i = 0; i < request_.splits.size(); ++i) {
        SweepRun run = made_.at(one.folder);
        run.name = fmt::format("{}-{}", one.name, i + 2);
        run.settings.push_back(request_.splits[i]);
        runs.push_back(std::move(run));
      }
    const SweepOutcome done = run_sweep_of(kSplits, runs);
    outcome_.signal = done.signal;
    if (done.signal != 0) return false;
    const std::vector<SweepRow> rows = sweep_rows(plan_, done);  // one a candidate
    std::vector<Standing> judged;
    for (size_t b = 0; b < best.size(); ++b) {
      const std::vector<double>& values = rows[b].values[0];
      if (values.size() < request_.splits.size()) continue;
      Standing mean = best[b];
      mean.stage = kSplits;
      mean.value =
          std::accumulate(values.begin(), values.end(), mean.value) / static_cast<double>(values.size() + 1);
      for (const size_t run : rows[b].runs) mean.seconds += done.runs[run].seconds;
      if (std::isfinite(mean.value)) judged.push_back(std::move(mean));
    }
    add(std::move(judged));
    return true;
  }

  /// The run that puts the best candidates together, each by its best run; none where there are not two.
  std::vector<SweepRun> ensemble_runs() const {
    std::vector<std::string> folders;
    for (const Standing& one : best_candidates(kEnsembleMembers))
      folders.push_back(fs::absolute(one.folder).lexically_normal().string());
    if (request_.ensemble.empty() || folders.size() < 2) return {};
    SweepRun run = run_of({"ensemble", {}, true}, 0);
    for (std::string setting : request_.ensemble) {
      if (const size_t at = setting.find("{runs}"); at != std::string::npos)
        setting.replace(at, 6, Json(folders).dump());
      run.settings.push_back(std::move(setting));
    }
    return {run};
  }

  SweepOutcome run_sweep_of(const std::string& stage, const std::vector<SweepRun>& runs) {
    plan_ = {stage, request_.task, request_.config, request_.data, {"model"}, {request_.metric}, runs};
    SweepOptions options;
    options.out = folder_of(out_) / stage;
    options.jobs = request_.jobs;
    options.threads = request_.threads;
    options.time_limit = limit_;
    options.program = program_;
    return run_sweep(plan_, options);
  }

  void run_stage(const std::string& stage, const std::vector<SweepRun>& runs) {
    const SweepOutcome done = run_sweep_of(stage, runs);
    outcome_.signal = done.signal;
    const std::vector<SweepRow> rows = sweep_rows(plan_, done);
    std::vector<Standing> now;  // before the earlier ones, so that of equals the later round stands first
    for (size_t i = 0; i < runs.size(); ++i) {
      const RunOutcome& run = done.runs[i];
      if (run.state == RunState::waiting || run.state == RunState::stopped) continue;
      Standing standing{runs[i].name, stage, std::nan(""), 0, run.seconds, "", run.folder};
      if (run.state == RunState::failed) {
        standing.failure = run.failure;
      } else {
        if (!rows[i].values[0].empty()) standing.value = rows[i].values[0][0];
        standing.steps = read_json(run.folder / "metrics.json").value("steps", int64_t{0});
        if (!std::isfinite(standing.value))
          standing.failure = fmt::format("it has no {}", request_.metric.name);
      }
      made_[run.folder] = runs[i];
      now.push_back(std::move(standing));
    }
    add(std::move(now));
  }

  void add(std::vector<Standing> now) {
    outcome_.standings.insert(outcome_.standings.begin(), now.begin(), now.end());
    std::stable_sort(outcome_.standings.begin(), outcome_.standings.end(),
                     [&](const Standing& a, const Standing& b) { return rank(a) < rank(b); });
  }

  /// The less the better; what was judged on several splits before the rest.
  std::pair<bool, double> rank(const Standing& standing) const {
    if (!standing.failure.empty()) return {true, std::numeric_limits<double>::infinity()};
    return {standing.stage != kSplits, request_.metric.best == "highest" ? -standing.value : standing.value};
  }

  std::vector<std::string> best_of(const std::string& stage, int64_t count) const {
    std::vector<std::string> out;
    for (const Standing& one : outcome_.standings)
      if (one.stage == stage && one.failure.empty() && std::ssize(out) < count) out.push_back(one.name);
    return out;
  }

  /// The plan of an earlier start, or a new one from a trial; nothing when a signal came before it was made.
  std::optional<SearchPlan> made_plan() {
    const fs::path file = folder_of(out_) / "plan.json";
    if (fs::exists(file)) return read_plan(file);
    std::vector<SweepRun> trials;
    for (const SearchCandidate& one : request_.candidates)
      if (!one.fitted) trials.push_back(run_of(one, kTrialSteps));
    if (trials.empty()) return SearchPlan();
    const SweepOutcome done = run_sweep_of("trial", trials);
    outcome_.signal = done.signal;
    if (done.signal != 0) return std::nullopt;
    std::vector<TrialCost> costs;
    Json measured = Json::array();
    for (size_t i = 0; i < trials.size(); ++i) {
      if (done.runs[i].state != RunState::finished) {
        outcome_.standings.push_back({trials[i].name, "trial", std::nan(""), 0, done.runs[i].seconds,
                                      done.runs[i].failure, done.runs[i].folder});
        continue;
      }
      costs.push_back(cost_of(trials[i].name, done.runs[i]));
      const TrialCost& cost = costs.back();
      measured.push_back({{"name", cost.name},
                          {"start_seconds", cost.start},
                          {"step_seconds", cost.step},
                          {"evaluation_seconds", cost.evaluation},
                          {"full_steps", cost.full_steps}});
    }
    const double spent = std::chrono::duration<double>(Clock::now() - begin_).count();
    double left = (request_.budget - spent) * kShareOfRounds * static_cast<double>(request_.jobs);
    // The best baseline is fitted again for each split.
    if (const Standing* best = outcome_.best())
      left -= static_cast<double>(request_.splits.size()) * best->seconds;
    const SearchPlan plan = plan_search(costs, left, std::ssize(request_.splits));
    if (plan.rounds.empty())
      spdlog::warn("{} leaves no time to train any of {} models: give a larger --budget",
                   duration_text(request_.budget), trials.size());
    else if (!plan.left_out.empty())
      spdlog::info("left out for want of time: {}", fmt::join(plan.left_out, ", "));
    write_file_atomically(file, plan_json(plan, measured).dump(1) + "\n");
    return plan;
  }

  static Json plan_json(const SearchPlan& plan, const Json& measured) {
    Json rounds = Json::array();
    for (const SearchPlan::Round& round : plan.rounds) {
      Json steps = Json::object();
      for (const auto& [name, count] : round.steps) steps[name] = count;
      rounds.push_back({{"candidates", round.kept}, {"steps", steps}});
    }
    return {{"measured", measured}, {"left_out", plan.left_out}, {"rounds", rounds}};
  }

  static SearchPlan read_plan(const fs::path& file) {
    const Json json = read_json(file);
    SearchPlan plan;
    const Json rounds = member<Json>(json, "rounds", file.string());
    for (const Json& one : rounds) {
      SearchPlan::Round round{member<int64_t>(one, "candidates", file.string()), {}};
      const Json steps = member<Json>(one, "steps", file.string());
      for (const auto& [name, count] : steps.items()) {
        require(count.is_number_integer() && count.get<int64_t>() > 0, ErrorKind::data,
                "{}: the steps of '{}' are no number above 0", file.string(), name);
        round.steps.emplace_back(name, count.get<int64_t>());
      }
      plan.rounds.push_back(std::move(round));
    }
    return plan;
  }

  Json standings_json() const {
    Json out = Json::array();
    for (const Standing& one : outcome_.standings) {
      Json row = {{"name", one.name}, {"stage", one.stage}, {"steps", one.steps}, {"seconds", one.seconds}};
      row[request_.metric.path] = one.failure.empty() ? Json(one.value) : Json();
      if (!one.failure.empty()) row["failure"] = one.failure;
      out.push_back(std::move(row));
    }
    return out;
  }

  using Clock = std::chrono::steady_clock;
  const SearchRequest& request_;
  const fs::path out_;
  const std::string program_;
  const Clock::time_point begin_ = Clock::now();
  double limit_ = 0;
  SweepPlan plan_;
  std::map<fs::path, SweepRun> made_;  // what was asked of the run in a folder
  SearchOutcome outcome_;
};

}  // namespace

Json SearchRequest::to_json() const {
  Json all = Json::array();
  for (const SearchCandidate& one : candidates)
    all.push_back({{"name", one.name}, {"settings", one.settings}, {"fitted", one.fitted}});
  return {{"task", task},
          {"config", config},
          {"data", data},
          {"settings", settings},
          {"seed", seed},
          {"metric",
           {{"path", metric.path},
            {"name", metric.name},
            {"best", metric.best},
            {"decimals", metric.decimals},
            {"factor", metric.factor}}},
          {"budget_seconds", budget},
          {"jobs", jobs},
          {"threads", threads},
          {"ensemble", ensemble},
          {"splits", splits},
          {"candidates", all}};
}

SearchRequest SearchRequest::from_json(const nlohmann::json& json, const std::string& source) {
  const auto metric = member<nlohmann::json>(json, "metric", source);
  SearchRequest out;
  out.task = member<std::string>(json, "task", source);
  out.config = member<std::string>(json, "config", source);
  out.data = member<std::string>(json, "data", source);
  out.settings = member<std::vector<std::string>>(json, "settings", source);
  out.seed = member<int64_t>(json, "seed", source);
  out.metric = {member<std::string>(metric, "path", source), member<std::string>(metric, "name", source),
                member<std::string>(metric, "best", source), member<int64_t>(metric, "decimals", source),
                member<double>(metric, "factor", source)};
  out.budget = member<double>(json, "budget_seconds", source);
  out.jobs = member<int64_t>(json, "jobs", source);
  out.threads = member<int64_t>(json, "threads", source);
  out.ensemble = member<std::vector<std::string>>(json, "ensemble", source);
  out.splits = member<std::vector<std::string>>(json, "splits", source);
  const auto all = member<nlohmann::json>(json, "candidates", source);
  for (const nlohmann::json& one : all)
    out.candidates.push_back({member<std::string>(one, "name", source),
                              member<std::vector<std::string>>(one, "settings", source),
                              member<bool>(one, "fitted", source)});
  return out;
}

const Standing* SearchOutcome::best() const {
  return standings.empty() || !standings.front().failure.empty() ? nullptr : &standings.front();
}

bool holds_search(const fs::path& out) {
  return fs::exists(folder_of(out) / "request.json") && !fs::exists(out / "config.toml");
}

SearchRequest read_search(const fs::path& out) {
  const fs::path file = folder_of(out) / "request.json";
  return SearchRequest::from_json(read_json(file), file.string());
}

SearchOutcome run_search(const SearchRequest& request, const fs::path& out,
                         const std::function<void(const SearchOutcome&)>& look, const std::string& program) {
  std::error_code error;
  fs::create_directories(folder_of(out), error);
  require(!error, ErrorKind::cannot_create, "cannot create {}: {}", folder_of(out).string(), error.message());
  const fs::path file = folder_of(out) / "request.json";
  if (!fs::exists(file)) write_file_atomically(file, request.to_json().dump(1) + "\n");
  return Search(request, out, program).run(look);
}

report::Table leaderboard(const SearchOutcome& outcome, const SweepMetric& metric) {
  using Best = report::Column::Best;
  report::Table table({{"model"},
                       {metric.name, metric.best == "highest" ? Best::highest : Best::lowest},
                       {"steps"},
                       {"seconds"},
                       {"round"}});
  std::vector<std::string> shown;
  for (const Standing& one : outcome.standings) {
    if (std::find(shown.begin(), shown.end(), one.name) != shown.end()) continue;
    shown.push_back(one.name);
    table.add_row({one.name, report::Cell(one.value * metric.factor, static_cast<int>(metric.decimals)),
                   report::Cell::count(one.steps), report::Cell(one.seconds, 1),
                   one.failure.empty() ? one.stage : one.stage + ": " + one.failure});
  }
  return table;
}

}  // namespace modewise::sweep
