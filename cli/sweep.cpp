
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "modewise/core/closed_pipe.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/stop_signal.h"
#include "modewise/sweep/slurm_job.h"
#include "modewise/sweep/sweep_runner.h"
#include "modewise/sweep/sweep_table.h"
#include "modewise/tasks/registry.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

struct SweepCommandOptions {
  std::string file, out, format = "text", launcher = "local";
  sweep::SweepOverrides overrides;
  std::vector<std::string> only, sbatch;
  int64_t jobs = 0, lease = 60;
  bool dry_run = false, table_only = false;
};

/// An argument quoted for a shell.
std::string pasted(const std::string& argument) {
  const bool plain = !argument.empty() && std::all_of(argument.begin(), argument.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_@%+=:,./-").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return plain ? argument : sweep::bash_word(argument);
}

void list_runs(const Program& program, const sweep::SweepPlan& plan, const sweep::SweepOptions& options) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::string text;
  for (const sweep::SweepRun& run : plan.runs) {
    const auto arguments = sweep::training_arguments(plan, run, (options.out / "runs" / run.name).string(),
                                                     options.threads, false);
    json.push_back({{"name", run.name}, {"arguments", arguments}});
    text += "modewise";
    for (const std::string& argument : arguments) text += " " + pasted(argument);
    text += "\n";
  }
  program.print(tasks::Result(std::move(json), std::move(text)));
}

sweep::SweepOptions budget(const Program& program, const SweepCommandOptions& options,
                           const sweep::SweepPlan& plan) {
  sweep::SweepOptions out;
  out.out = options.out.empty() ? fs::path("runs") / ("sweep-" + plan.name) : fs::path(options.out);
  out.out = fs::absolute(out.out).lexically_normal();
  const auto [jobs, threads] = sweep::share_cores(options.jobs, program.asked_threads());
  out.jobs = jobs;
  out.threads = threads;
  out.only = options.only;
  out.lease = std::chrono::seconds(options.lease);
  return out;
}

/// Submits the remaining runs to Slurm. Each array task runs this program with the same arguments on one run.
void submit_to_slurm(const Program& program, const SweepCommandOptions& options, const sweep::SweepPlan& plan,
                     const sweep::SweepOptions& sweep_options) {
  sweep::SlurmJob job;
  job.name = plan.name;
  job.folder = sweep_options.out.string();
  job.threads = std::max(program.asked_threads(), 1);
  job.at_once = options.jobs;
  job.options = options.sbatch;
  const sweep::SweepOutcome found = sweep::look_at_sweep(plan, sweep_options);
  for (size_t i = 0; i < plan.runs.size(); ++i)
    if (found.runs[i].state == sweep::RunState::waiting) job.runs.push_back(plan.runs[i].name);
  job.command = {fs::read_symlink("/proc/self/exe").string(), "sweep", fs::absolute(options.file).string()};
  const sweep::SweepOverrides& over = options.overrides;
  const auto add = [&](const std::string& option, const std::string& value) {
    job.command.insert(job.command.end(), {option, value});
  };
  if (!over.data.empty()) add("--data", fs::absolute(over.data).string());
  for (const int64_t seed : over.seeds) add("--seeds", std::to_string(seed));
  for (const std::string& setting : over.settings) add("--set", setting);
  for (const std::string& metric : over.metrics) add("--metric", metric);
  add("--out", job.folder);
  add("--jobs", "1");
  add("--threads", std::to_string(job.threads));
  if (!program.asked_device().empty()) add("--device", program.asked_device());
  add("--claim-timeout", std::to_string(options.lease));
  const std::string printed = sweep::submit(job);
  program.print(
      tasks::Result({{"sweep", plan.name}, {"runs", job.runs}, {"slurm", printed}},
                    fmt::format("{}: {} runs; --table shows finished runs", printed, job.runs.size())));
}

std::vector<sweep::SweepTask> sweep_tasks() {
  std::vector<sweep::SweepTask> all;
  for (const tasks::TaskSpec* kind : tasks::task_specs()) {
    sweep::SweepTask task{kind->name, kind->command, {}};
    for (const tasks::ValidationFigure& figure : kind->validation)
      task.metrics.push_back({figure.path, figure.name, figure.best, figure.decimals, figure.factor});
    all.push_back(std::move(task));
  }
  return all;
}

void run(const Program& program, const SweepCommandOptions& options) {
  install_stop_handlers();
  require(options.launcher != "ray", ErrorKind::usage,
          "--launcher ray needs Python: python -m modewise sweep {} --launcher ray", options.file);
  const sweep::SweepPlan plan = sweep::read_sweep_plan(options.file, sweep_tasks(), options.overrides);
  const sweep::SweepOptions sweep_options = budget(program, options, plan);
  if (options.dry_run) return list_runs(program, plan, sweep_options);
  if (!options.table_only) finish_without_reader();
  fs::create_directories(sweep_options.out);
  write_file_atomically(sweep_options.out / "sweep.toml", read_file(options.file));
  if (options.launcher == "slurm" && !options.table_only)
    return submit_to_slurm(program, options, plan, sweep_options);
  sweep::SweepOutcome outcome =
      options.table_only ? sweep::look_at_sweep(plan, sweep_options) : sweep::run_sweep(plan, sweep_options);
  const auto alone = sweep::lock_results(sweep_options);
  sweep::look_again(plan, sweep_options, outcome);
  const auto rows = sweep::sweep_rows(plan, outcome);
  sweep::write_sweep_results(plan, outcome, rows, sweep_options.out);
  if (outcome.signal != 0) throw Stopped{outcome.signal};
  program.print(sweep::sweep_json(plan, outcome, rows), sweep::sweep_table(plan, rows), options.format);
  const auto failed =
      std::count_if(outcome.runs.begin(), outcome.runs.end(),
                    [](const sweep::RunOutcome& one) { return one.state == sweep::RunState::failed; });
  require(failed == 0, ErrorKind::general, "{} of {} runs failed; run the same command to retry them", failed,
          plan.runs.size());
}

}  // namespace

void add_sweep(Program& program) {
  const auto [command, options] = program.add_command<SweepCommandOptions>(
      program.app(), "sweep",
      "Trains a grid of settings and seeds, several runs at once, and prints a table of validation metrics; "
      "the test split stays unread.",
      "modewise sweep experiments/sweeps/etth1-positions.toml --data ETTh1.csv --jobs 4", run);
  command->add_option("file", options.file, "TOML file of the sweep (docs/sweeps.md)")->required();
  command->add_option("--data", options.overrides.data, "data file or folder, instead of the sweep's");
  command->add_option("--out", options.out, "folder (default runs/sweep-NAME); an existing sweep is resumed");
  add_positive(*command, "--jobs", options.jobs, "runs at once (default: cores / --threads)");
  command
      ->add_option("--launcher", options.launcher,
                   "launcher of the runs: local, slurm (an sbatch array) or ray (python -m modewise)")
      ->check(CLI::IsMember({"local", "slurm", "ray"}));
  command
      ->add_option("--sbatch", options.sbatch,
                   "with --launcher slurm: option for sbatch, as in --sbatch=--partition=long")
      ->allow_extra_args(false);
  command->add_option("--only", options.only, "start only this run; repeatable")->allow_extra_args(false);
  add_positive(*command, "--claim-timeout", options.lease,
               "seconds without heartbeat after which a run of another process is taken over (default 60)");
  command->add_option("--seeds", options.overrides.seeds, "seeds instead of the sweep's")->delimiter(',');
  command
      ->add_option("--set", options.overrides.settings,
                   "set one key for all runs, as in --set train.epochs=5")
      ->allow_extra_args(false);
  command
      ->add_option("--metric", options.overrides.metrics,
                   "table column: path in metrics.json, such as best.val_mse; repeatable")
      ->allow_extra_args(false);
  command->add_option("--format", options.format, "text, markdown or csv (default text)")
      ->check(CLI::IsMember({"text", "markdown", "csv"}));
  command->add_flag("--dry-run", options.dry_run, "only list the runs");
  command->add_flag("--table", options.table_only, "only print the table of finished runs");
}

}  // namespace modewise::cli
