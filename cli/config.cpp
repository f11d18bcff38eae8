#include <nlohmann/json.hpp>
#include <type_traits>

#include "cli/commands.h"
#include "cli/forecast_options.h"
#include "modewise/core/error.h"

namespace modewise::cli {
namespace {

struct ConfigOptions {
  ForecastConfigOptions config;
  std::string run;
  bool help_text = false;
};

int show(const Program& program, const ConfigOptions& options) {
  require(options.run.empty() || options.config.config.empty(), ErrorKind::usage,
          "give --run or --config, not both");
  tasks::ForecastConfig config =
      options.run.empty()
          ? options.config.load()
          : tasks::load_forecast_config(options.run + "/config.toml", options.config.all_assignments());
  const Fields fields = fields_of(config);
  if (!program.json()) {
    program.print(fields.to_toml(options.help_text));
    return 0;
  }
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Field& field : fields.list()) {
    const auto value = std::visit([](const auto* v) { return nlohmann::ordered_json(*v); }, field.value);
    if (options.help_text)
      json[field.path] = {{"value", value}, {"help", field.help}};
    else
      json[field.path] = value;
  }
  program.print(json);
  return 0;
}

}  // namespace

void add_config(Program& program) {
  CLI::App* config = program.app().add_subcommand("config", "Settings");
  config->require_subcommand(1);
  const auto options = std::make_shared<ConfigOptions>();
  CLI::App* command = program.add_command(
      *config, "show", "Every setting as TOML: the defaults, or what a file, a run and --set make of them.",
      "modewise config show --model dlinear > dlinear.toml",
      [&program, options] { return show(program, *options); });
  options->config.add_to(*command);
  command->add_option("--run", options->run, "a run's settings");
  command->add_flag("--help-text", options->help_text, "what each setting means");
}

}  // namespace modewise::cli
