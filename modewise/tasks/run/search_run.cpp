#include "modewise/tasks/run/search_run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/log.h"
#include "modewise/core/progress.h"
#include "modewise/core/stop_signal.h"
#include "modewise/sweep/search.h"
#include "modewise/sweep/sweep_runner.h"
#include "modewise/tasks/registry.h"
#include "modewise/tasks/run/commands.h"
#include "modewise/train/checkpoint/folder_lock.h"
#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNoTest = "train.test=false";

std::string absolute_if_there(const std::string& path) {
  return !path.empty() && fs::exists(path) ? fs::absolute(path).lexically_normal().string() : path;
}

sweep::SearchRequest search_request_of(const TaskSpec& task, const ModelSearchRequest& given) {
  sweep::SearchRequest request;
  request.task = task.name;
  request.config = absolute_if_there(given.config);
  request.data = absolute_if_there(given.data);
  request.settings = given.assignments;
  if (given.no_test) request.settings.emplace_back(kNoTest);
  request.seed = given.seed;
  request.budget = given.budget;
  const auto [jobs, threads] = sweep::share_cores(given.jobs, given.threads);
  request.jobs = jobs;
  request.threads = threads;
  request.steps_setting = "train.max_steps={steps}";
  request.epochs_key = "train.epochs";
  request.last_settings = {"output.report=false"};
  const Search& search = *task.search;
  Settings settings{given.config, request.settings};
  if (!given.data.empty())
    settings.assignments.insert(settings.assignments.begin(), "data.path=" + given.data);
  const SearchChoices choices = search.choose != nullptr ? search.choose(settings) : SearchChoices{};
  const auto add_choices = [&](std::vector<std::string>& to) {
    to.insert(to.end(), choices.settings.begin(), choices.settings.end());
  };
  add_choices(settings.assignments);
  const ValidationFigure& figure = choices.figure ? *choices.figure : task.validation.front();
  request.metric = {figure.path, figure.name, figure.best, figure.decimals, figure.factor};
  request.ensemble = search.ensemble;
  if (!request.ensemble.empty()) add_choices(request.ensemble);
  if (search.splits != nullptr) request.splits = search.splits(settings);
  request.min_share = search.min_share;
  if (given.refit) request.refit = search.refit(settings);
  for (const Candidate& one : search.candidates(settings)) {
    request.candidates.push_back({one.name, one.settings, one.fitted});
    add_choices(request.candidates.back().settings);
  }
  return request;
}

sweep::SearchOutcome searched(const sweep::SearchRequest& request, const fs::path& folder,
                              const std::string& program) {
  spdlog::info("{} candidates within {}, {} at once; folder {}", request.candidates.size(),
               duration_text(request.budget), request.jobs, folder.string());
  const auto look = [&](const sweep::SearchOutcome& so_far) {
    spdlog::info("so far, by {}:", request.metric.name);
    log_lines(LogLevel::info, sweep::leaderboard(so_far, request.metric).to_text());
  };
  sweep::SearchOutcome outcome = sweep::run_search(request, folder, look, program);
  if (outcome.signal != 0) throw Stopped{outcome.signal};
  return outcome;
}

/// Searches in `folder`, evaluates the best run on the test split and makes it, or its retrained version, the
/// run there. Idempotent: an interrupted call can be repeated.
Result search_in(const fs::path& folder, const TaskSpec& task, const sweep::SearchRequest& request,
                 const std::string& program) {
  const sweep::SearchOutcome outcome = searched(request, folder, program);
  const sweep::TrialResult* best = outcome.best();
  if (best == nullptr) {
    const std::vector<sweep::TrialResult>& failed = outcome.trial_results;
    fail(ErrorKind::general, "all {} candidates failed in a search of {} s{}; see {}",
         request.candidates.size(), request.budget,
         failed.empty() ? "" : fmt::format(": {}: {}", failed.front().name, failed.front().failure),
         (folder / "auto" / "leaderboard.json").string());
  }
  const std::string run = folder.string();
  const bool refitted = !outcome.refitted.empty();
  if (!refitted) sweep::become_run(folder, best->folder);
  nlohmann::ordered_json json = {{"run", run},
                                 {"chosen", best->name},
                                 {"round", best->stage},
                                 {"leaderboard", nlohmann::ordered_json::array()}};
  for (const sweep::TrialResult& one : outcome.trial_results)
    json["leaderboard"].push_back(
        {{"name", one.name},
         {"round", one.stage},
         {"steps", one.steps},
         {request.metric.path,
          one.failure.empty() ? nlohmann::ordered_json(one.value) : nlohmann::ordered_json()}});
  std::string text =
      sweep::leaderboard(outcome, request.metric).to_text() +
      fmt::format("\nchosen: {} ({}), by {}\n\n", best->name, best->stage, request.metric.name);
  if (std::find(request.settings.begin(), request.settings.end(), kNoTest) == request.settings.end()) {
    EvaluateRequest of_test;
    of_test.run = refitted ? best->folder.string() : run;
    train::RunFolder::open(of_test.run).remove_leftovers();
    Result evaluated = evaluate_run(task, of_test);
    text += evaluated.text + "\n";
    json["test"] = std::move(evaluated.json);
  }
  if (refitted) {
    sweep::become_run(folder, outcome.refitted);
    json["refit"] = true;
    text += fmt::format("retrained with all rows; the evaluated run is {}\n", best->folder.string());
  }
  train::RunFolder::open(run).remove_leftovers();
  report_run(task, run, "", folder / "report.html");
  sweep::end_search(folder);
  text += fmt::format("run folder: {}\n", run);
  return {std::move(json), std::move(text)};
}

}  // namespace

Result run_search(const TaskSpec& task, const ModelSearchRequest& given) {
  require(task.search.has_value(), ErrorKind::usage, "'modewise train {}' has no --model auto", task.command);
  require(!given.refit || task.search->refit != nullptr, ErrorKind::usage,
          "'modewise train {}' has no --refit", task.command);
  const sweep::SearchRequest request = search_request_of(task, given);
  const std::string stem = run_stem_of(data_name(request.data), "auto");
  const train::RunFolder folder = given.out.empty() ? train::RunFolder::create_numbered("runs", stem)
                                                    : train::RunFolder::create(given.out, given.exist_ok);
  sweep::remove_search(folder.path());
  return search_in(folder.path(), task, request, given.program);
}

std::optional<Result> resume_search(const TaskSpec& task, const std::string& run,
                                    const std::string& program) {
  if (!sweep::holds_search(run)) return std::nullopt;
  const sweep::SearchRequest request = sweep::read_search(run);
  require(&task_named(request.task) == &task, ErrorKind::usage,
          "{} contains a search of the task '{}', not of '{}'", run, request.task, task.name);
  const train::FolderLock lock(run);
  return search_in(run, task, request, program);
}

const TaskSpec& task_to_resume(const std::string& run) {
  return sweep::holds_search(run) ? task_named(sweep::read_search(run).task) : task_of_run(run);
}

}  // namespace modewise::tasks
