#include "cli/sweep_launch.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/sweep/slurm_job.h"
#include "modewise/tasks/registry.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

/// Throws the errors of a run's settings, with its name.
void check_settings(const sweep::SweepPlan& plan, const sweep::SweepRun& run) {
  std::vector<std::string> assignments = {fmt::format("train.seed={}", run.seed)};
  if (!plan.data.empty()) assignments.push_back("data.path=" + plan.data);
  if (!plan.reads_test) assignments.emplace_back("train.test=false");
  assignments.insert(assignments.end(), run.settings.begin(), run.settings.end());
  try {
    tasks::task_named(plan.command)
        .create({.file = plan.config, .assignments = assignments, .of_sweep = true});
  } catch (const Error& error) {
    fail(error.kind(), "{}: {}", run.name, error.what());
  }
}

}  // namespace

bool is_wanted(const sweep::SweepOptions& options, const sweep::SweepRun& run) {
  return options.only.empty() ||
         std::find(options.only.begin(), options.only.end(), run.name) != options.only.end();
}

void LaunchOptions::add_to(CLI::App& command, const std::string& default_out, const std::string& only_help) {
  command.add_option("--out", out,
                     fmt::format("folder (default {}); an existing one is resumed", default_out));
  add_positive(command, "--jobs", jobs, "runs at once (default: cores / --threads)");
  command
      .add_option("--launcher", launcher,
                  "launcher of the runs: local, slurm (an sbatch array) or ray (python -m modewise)")
      ->check(CLI::IsMember({"local", "slurm", "ray"}));
  command
      .add_option("--sbatch", sbatch,
                  "with --launcher slurm: option for sbatch, as in --sbatch=--partition=long")
      ->allow_extra_args(false);
  command.add_option("--only", only, only_help)->allow_extra_args(false);
  add_positive(command, "--claim-timeout", lease,
               "seconds without heartbeat after which a run of another process is taken over (default 60)");
  command.add_flag("--dry-run", dry_run, "only check the keys and values of the settings, and list the runs");
  command.add_flag("--table", table_only, "only print the table of finished runs");
}

sweep::SweepOptions LaunchOptions::of(const Program& program, const std::string& default_out) const {
  sweep::SweepOptions made;
  made.out = fs::absolute(out.empty() ? default_out : out).lexically_normal();
  const auto [at_once, threads] = sweep::share_cores(jobs, program.asked_threads());
  made.jobs = at_once;
  made.threads = threads;
  made.only = only;
  made.lease = std::chrono::seconds(lease);
  return made;
}

std::vector<sweep::SweepTask> sweep_tasks() {
  std::vector<sweep::SweepTask> all;
  for (const tasks::TaskSpec* kind : tasks::task_specs()) {
    sweep::SweepTask task{kind->name, kind->command, {}};
    for (const tasks::ValidationFigure& figure : kind->validation)
      task.metrics.push_back({figure.path, figure.name, figure.best, figure.decimals, figure.factor});
    const auto run = kind->create({});
    const tasks::RunSettings settings = run->settings();
    for (const Field& field : settings.fields.list()) task.keys.push_back(field.path);
    all.push_back(std::move(task));
  }
  return all;
}

void list_runs(const Program& program, const sweep::SweepPlan& plan, const sweep::SweepOptions& options) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::string text;
  sweep::require_runs(plan, options.only);
  for (const sweep::SweepRun& run : plan.runs) {
    if (!is_wanted(options, run)) continue;
    check_settings(plan, run);
    const auto arguments = sweep::training_arguments(plan, run, (options.out / "runs" / run.name).string(),
                                                     options.threads, false);
    json.push_back({{"name", run.name}, {"arguments", arguments}});
    text += "modewise";
    for (const std::string& argument : arguments) text += " " + command_word(argument);
    text += "\n";
  }
  program.print(tasks::Result(std::move(json), std::move(text)));
}

void submit_to_slurm(const Program& program, const LaunchOptions& options, const sweep::SweepPlan& plan,
                     const sweep::SweepOptions& sweep_options, const std::vector<std::string>& arguments) {
  sweep::SlurmJob job;
  job.name = plan.name;
  job.folder = sweep_options.out.string();
  job.threads = std::max(program.asked_threads(), 1);
  job.at_once = options.jobs;
  job.options = options.sbatch;
  const sweep::SweepOutcome found = sweep::look_at_sweep(plan, sweep_options);
  for (size_t i = 0; i < plan.runs.size(); ++i)
    if (found.runs[i].state == sweep::RunState::waiting && is_wanted(sweep_options, plan.runs[i]))
      job.runs.push_back(plan.runs[i].name);
  job.command = {fs::read_symlink("/proc/self/exe").string()};
  job.command.insert(job.command.end(), arguments.begin(), arguments.end());
  job.command.insert(job.command.end(),
                     {"--out", job.folder, "--jobs", "1", "--threads", std::to_string(job.threads)});
  if (!program.asked_device().empty())
    job.command.insert(job.command.end(), {"--device", program.asked_device()});
  job.command.insert(job.command.end(), {"--claim-timeout", std::to_string(options.lease)});
  const std::string printed = sweep::submit(job);
  program.print(
      tasks::Result({{"sweep", plan.name}, {"runs", job.runs}, {"slurm", printed}},
                    fmt::format("{}: {} runs; --table shows finished runs", printed, job.runs.size())));
}

void require_no_failures(const sweep::SweepOutcome& outcome) {
  const auto failed =
      std::count_if(outcome.runs.begin(), outcome.runs.end(),
                    [](const sweep::RunOutcome& one) { return one.state == sweep::RunState::failed; });
  require(failed == 0, ErrorKind::general, "{} of {} runs failed; run the same command to retry them", failed,
          outcome.runs.size());
}

}  // namespace modewise::cli
