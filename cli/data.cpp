#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/file.h"
#include "modewise/core/output_file.h"
#include "modewise/tasks/language_modeling/passkey.h"
#include "modewise/tasks/registry.h"
#include "modewise/tasks/run/load_config.h"

namespace modewise::cli {
namespace {

struct ShowDataOptions {
  std::string task = "auto", file;
  ConfigOptions config;
};

void show_data(const Program& program, const ShowDataOptions& options) {
  ConfigOptions config = options.config;
  if (!options.file.empty()) config.data = options.file;
  require(!tasks::is_run_config(config.data + "/config.toml"), ErrorKind::usage,
          "{0} is a run, not data: modewise config show --run {1} lists its settings", config.data,
          command_word(config.data));
  std::vector<std::string> settings;
  for (const std::string& one : config.assignments) settings.push_back(one.substr(0, one.find('=')));
  const tasks::TaskSpec& kind =
      options.task == "auto" ? tasks::task_of_data(config.data, settings) : tasks::task_named(options.task);
  program.print(kind.describe_data({config.config, config.all_assignments()}));
}

struct PasskeyTexts {
  std::string file;
  int64_t count = 40000, length = 512, seed = 1;
  bool force = false;
};

void write_passkeys(const Program& program, const PasskeyTexts& options) {
  prepare_output(options.file, options.force);
  std::string lines;
  for (int64_t i = 0; i < options.count; ++i) {
    const nlohmann::ordered_json line = {
        {"text",
         tasks::passkey_text(options.length, static_cast<uint64_t>(options.seed), static_cast<uint64_t>(i))}};
    lines += line.dump() + "\n";
  }
  write_file_atomically(options.file, lines);
  program.print(tasks::Result({{"file", options.file}, {"texts", options.count}, {"bytes", lines.size()}},
                              fmt::format("{}: {} texts\n", options.file, options.count)));
}

void add_passkeys(Program& program, CLI::App& data) {
  const auto [command, options] =
      program.add_command<PasskeyTexts>(data, "passkeys",
                                        "Writes training texts for passkey retrieval, as evaluated by "
                                        "`evaluate --passkey`.",
                                        "modewise data passkeys passkeys.jsonl", write_passkeys);
  command->add_option("file", options.file, ".jsonl to write")->required();
  command->add_option("--count", options.count, "texts")->check(CLI::Range(int64_t{1}, int64_t{10000000}));
  command->add_option("--length", options.length, "maximum bytes of a text")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  command->add_option("--seed", options.seed, "seed of numbers and depths")->check(non_negative_number());
  command->add_flag("--overwrite", options.force, "overwrite the file");
}

}  // namespace

void add_data(Program& program) {
  CLI::App* data = program.app().add_subcommand("data", "Data sets");
  data->require_subcommand(1);
  const auto [command, options] =
      program.add_command<ShowDataOptions>(*data, "show",
                                           "Describes data: dates, variables and gaps of series, classes "
                                           "of samples and masks, and the splits.",
                                           "modewise data show ETTh1.csv", show_data);
  command->add_option("file", options.file, "CSV, numeric text, NPY, NPZ, NIfTI, GeoTIFF, or a folder");
  command->add_option("--task", options.task, "task of the data (default auto: detected)")
      ->check(known_task({"auto"}));
  options.config.add_to(*command, "data file or folder (data.path)", "model (model.name)");
  add_passkeys(program, *data);
}

}  // namespace modewise::cli
