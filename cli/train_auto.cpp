#include "cli/train_auto.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/log.h"
#include "modewise/core/progress.h"
#include "modewise/core/stop_signal.h"
#include "modewise/sweep/search.h"
#include "modewise/tasks/registry.h"
#include "modewise/tasks/run/commands.h"
#include "modewise/train/checkpoint/folder_lock.h"
#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNoTest = "train.test=false";

std::string absolute_if_there(const std::string& path) {
  return !path.empty() && fs::exists(path) ? fs::absolute(path).lexically_normal().string() : path;
}

sweep::SearchRequest request_of(const Program& program, const tasks::TaskSpec& kind,
                                const AutoOptions& options) {
  sweep::SearchRequest request;
  request.task = kind.name;
  request.config = absolute_if_there(options.config);
  request.data = absolute_if_there(options.data);
  request.settings = options.settings;
  if (options.no_test) request.settings.emplace_back(kNoTest);
  request.seed = options.seed;
  request.budget = seconds_of(options.budget);
  const tasks::ValidationFigure& figure = kind.validation.front();
  request.metric = {figure.path, figure.name, figure.best, figure.decimals, figure.factor};
  const auto [jobs, threads] = program.share_cores(options.jobs);
  request.jobs = jobs;
  request.threads = threads;
  tasks::Settings settings{options.config, request.settings};
  if (!options.data.empty())
    settings.assignments.insert(settings.assignments.begin(), "data.path=" + options.data);
  const tasks::Search& search = *kind.search;
  request.ensemble = search.ensemble;
  if (search.splits != nullptr) request.splits = search.splits(settings);
  request.min_share = search.min_share;
  if (options.refit) request.refit = search.refit(settings);
  for (const tasks::Candidate& one : search.candidates(settings))
    request.candidates.push_back({one.name, one.settings, one.fitted});
  return request;
}

sweep::SearchOutcome searched(const sweep::SearchRequest& request, const fs::path& folder) {
  spdlog::info("{} candidates within {}, {} at once; folder {}", request.candidates.size(),
               duration_text(request.budget), request.jobs, folder.string());
  sweep::SearchOutcome outcome = sweep::run_search(request, folder, [&](const sweep::SearchOutcome& so_far) {
    spdlog::info("so far, by {}:", request.metric.name);
    log_lines(LogLevel::info, sweep::leaderboard(so_far, request.metric).to_text());
  });
  if (outcome.signal != 0) throw Stopped{outcome.signal};
  return outcome;
}

/// Evaluates the best run on the test split, makes it, or its retrained version, the run of `folder`, and
/// prints the result. Idempotent: an interrupted call can be repeated.
void conclude(const Program& program, const tasks::TaskSpec& kind, const sweep::SearchRequest& request,
              const sweep::SearchOutcome& outcome, const fs::path& folder) {
  const sweep::TrialResult* best = outcome.best();
  require(best != nullptr, ErrorKind::general, "all {} candidates failed; see {}", request.candidates.size(),
          (folder / "auto" / "leaderboard.json").string());
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
    tasks::EvaluateRequest of_test;
    of_test.run = refitted ? best->folder.string() : run;
    train::RunFolder::open(of_test.run).remove_leftovers();
    tasks::Result evaluated = tasks::evaluate_run(kind, of_test);
    text += evaluated.text + "\n";
    json["test"] = std::move(evaluated.json);
  }
  if (refitted) {
    sweep::become_run(folder, outcome.refitted);
    json["refit"] = true;
    text += fmt::format("retrained with all rows; the evaluated run is {}\n", best->folder.string());
  }
  train::RunFolder::open(run).remove_leftovers();
  tasks::report_run(kind, run, "", folder / "report.html");
  sweep::end_search(folder);
  text += fmt::format("run folder: {}\n", run);
  program.print(tasks::Result(std::move(json), std::move(text)));
}

}  // namespace

double seconds_of(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string unit(rest, end);
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  require(error == std::errc() && factor > 0 && std::isfinite(value) && value > 0, ErrorKind::usage,
          "--budget: '{}' is not a time such as 90s, 10m or 1.5h", text);
  return value * factor;
}

void train_auto(const Program& program, const tasks::TaskSpec& kind, const AutoOptions& options) {
  require(kind.search.has_value(), ErrorKind::usage, "'modewise train {}' has no --model auto", kind.command);
  const sweep::SearchRequest request = request_of(program, kind, options);
  const std::string stem = tasks::run_stem_of(fs::path(request.data).stem().string(), "auto");
  const train::RunFolder folder = options.out.empty()
                                      ? train::RunFolder::create_numbered("runs", stem)
                                      : train::RunFolder::create(options.out, options.exist_ok);
  sweep::remove_search(folder.path());
  conclude(program, kind, request, searched(request, folder.path()), folder.path());
}

bool resume_auto(const Program& program, const tasks::TaskSpec& kind, const std::string& run) {
  if (!sweep::holds_search(run)) return false;
  const sweep::SearchRequest request = sweep::read_search(run);
  require(&tasks::task_named(request.task) == &kind, ErrorKind::usage,
          "{} contains a search of the task '{}', not of '{}'", run, request.task, kind.name);
  const train::FolderLock lock(run);
  conclude(program, kind, request, searched(request, run), run);
  return true;
}

}  // namespace modewise::cli
