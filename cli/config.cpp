#include "cli/commands.h"
#include "cli/task_verbs.h"
#include "modewise/core/error.h"

namespace modewise::cli {
namespace {

int show(const Program& program, const ShowConfigOptions& options) {
  require(options.run.empty() || options.config.config.empty(), ErrorKind::usage,
          "give --run or --config, not both");
  return (options.run.empty() ? verbs_of(options.task) : verbs_of_run(options.run))
      .show_config(program, options);
}

}  // namespace

void add_config(Program& program) {
  CLI::App* config = program.app().add_subcommand("config", "Settings");
  config->require_subcommand(1);
  const auto options = std::make_shared<ShowConfigOptions>();
  CLI::App* command = program.add_command(
      *config, "show", "Every setting as TOML: the defaults, or what a file, a run and --set make of them.",
      "modewise config show --model dlinear > dlinear.toml",
      [&program, options] { return show(program, *options); });
  command->add_option("task", options->task, "the task whose settings to show; forecast without it")
      ->check(CLI::IsMember(task_names()));
  options->config.add_to(*command, "data file or folder (data.path)", "model (model.name)");
  command->add_option("--run", options->run, "a run's settings");
  command->add_flag("--help-text", options->help_text, "what each setting means");
}

}  // namespace modewise::cli
