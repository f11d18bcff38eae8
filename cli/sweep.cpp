#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/sweep_launch.h"
#include "modewise/core/closed_pipe.h"
#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/core/stop_signal.h"
#include "modewise/sweep/sweep_table.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

struct SweepCommandOptions {
  std::string file, format = "text";
  sweep::SweepOverrides overrides;
  LaunchOptions launch;
};

/// The arguments that make the same plan in a job of Slurm.
std::vector<std::string> same_arguments(const SweepCommandOptions& options) {
  std::vector<std::string> out = {"sweep", fs::absolute(options.file).string()};
  const sweep::SweepOverrides& over = options.overrides;
  const auto add = [&](const std::string& option, const std::string& value) {
    out.insert(out.end(), {option, value});
  };
  if (!over.data.empty()) add("--data", fs::absolute(over.data).string());
  for (const int64_t seed : over.seeds) add("--seeds", std::to_string(seed));
  for (const std::string& setting : over.settings) add("--set", setting);
  for (const std::string& metric : over.metrics) add("--metric", metric);
  return out;
}

void run(const Program& program, const SweepCommandOptions& options) {
  install_stop_handlers();
  require(options.launch.launcher != "ray", ErrorKind::usage,
          "--launcher ray needs Python: python -m modewise sweep {} --launcher ray",
          command_word(options.file));
  sweep::SweepPlan plan = sweep::read_sweep_plan(options.file, sweep_tasks(), options.overrides);
  const sweep::SweepOptions sweep_options = options.launch.of(program, "runs/sweep-" + plan.name);
  if (options.launch.dry_run) return list_runs(program, plan, sweep_options);
  if (!options.launch.table_only) finish_without_reader();
  make_folders(sweep_options.out);
  sweep::remove_sweep_leftovers(sweep_options.out);
  write_file_atomically(sweep_options.out / "sweep.toml", read_file(options.file));
  if (options.launch.launcher == "slurm" && !options.launch.table_only)
    return submit_to_slurm(program, options.launch, plan, sweep_options, same_arguments(options));
  sweep::SweepOutcome outcome = options.launch.table_only ? sweep::look_at_sweep(plan, sweep_options)
                                                          : sweep::run_sweep(plan, sweep_options);
  const auto alone = sweep::lock_results(sweep_options);
  sweep::look_again(plan, sweep_options, outcome);
  auto rows = sweep::sweep_rows(plan, outcome);
  sweep::drop_absent_metrics(plan, rows);
  sweep::write_sweep_results(plan, outcome, rows, sweep_options.out);
  if (outcome.signal != 0) throw Stopped{outcome.signal};
  sweep::require_metrics(plan, outcome, rows);
  program.print(sweep::sweep_json(plan, outcome, rows), sweep::sweep_table(plan, rows), options.format);
  require_no_failures(outcome);
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
  options.launch.add_to(*command, "runs/sweep-NAME", "start only this run; repeatable");
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
}

}  // namespace modewise::cli
