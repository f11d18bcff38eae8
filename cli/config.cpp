#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "modewise/core/error.h"
#include "modewise/tasks/registry.h"

namespace modewise::cli {
namespace {

struct ShowConfigOptions {
  std::string task = "forecast";
  ConfigOptions config;
  std::string run;
  std::vector<std::string> sections;
  bool help_text = false;
};

nlohmann::ordered_json fields_json(const Fields& fields, bool help_text) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Field& field : fields.list()) {
    const auto value = std::visit([](const auto* v) { return nlohmann::ordered_json(*v); }, field.value);
    if (help_text)
      json[field.path] = {{"value", value}, {"help", field.help}, {"range", field.rule.text()}};
    else
      json[field.path] = value;
  }
  return json;
}

/// The fields of these sections, "train" with "train.optimizer"; all without sections. Usage error for a
/// section without fields.
Fields sections(const Fields& fields, const std::vector<std::string>& names) {
  if (names.empty()) return fields;
  std::vector<bool> used(names.size(), false);
  const Fields chosen = fields.only([&](const Field& field) -> bool {
    for (size_t i = 0; i < names.size(); ++i)
      if (field.path == names[i] || field.path.starts_with(names[i] + ".")) return used[i] = true;
    return false;
  });
  for (size_t i = 0; i < names.size(); ++i)
    require(used[i], ErrorKind::usage, "--section: there is no section '{}'; modewise config show lists all",
            names[i]);
  return chosen;
}

void show_config(const Program& program, const ShowConfigOptions& options) {
  require(options.run.empty() || options.config.config.empty(), ErrorKind::usage,
          "give --run or --config, not both");
  const tasks::TaskSpec& kind =
      options.run.empty() ? tasks::task_named(options.task) : tasks::task_of_run(options.run);
  const std::unique_ptr<tasks::Run> run =
      kind.create({options.run.empty() ? options.config.config : options.run + "/config.toml",
                   options.config.all_assignments()});
  const Fields fields = sections(run->settings().fields, options.sections);
  program.print(tasks::Result(fields_json(fields, options.help_text), fields.to_toml(options.help_text)));
}

}  // namespace

void add_config(Program& program) {
  CLI::App* config = program.app().add_subcommand("config", "Settings");
  config->require_subcommand(1);
  const auto [command, options] = program.add_command<ShowConfigOptions>(
      *config, "show", "Prints all settings as TOML: the defaults, or those of a file or run with --set.",
      "modewise config show --model dlinear > dlinear.toml", show_config);
  command->add_option("task", options.task, "task of the settings (default forecasting)")
      ->check(known_task({}));
  options.config.add_to(*command, "data file or folder (data.path)", "model (model.name)");
  command->add_option("--run", options.run, "show the settings of a run");
  command
      ->add_option("--section", options.sections,
                   "only this section, such as train or data.augment; repeatable")
      ->allow_extra_args(false);
  command->add_flag("--help-text", options.help_text, "add the description and range of each setting");
}

}  // namespace modewise::cli
