#include "cli/commands.h"
#include "cli/task_verbs.h"

namespace modewise::cli {
namespace {

int show(const Program& program, ShowDataOptions options) {
  if (!options.file.empty()) options.config.data = options.file;
  if (options.task == "auto") options.task = task_of_data(options.config.data);
  return verbs_of(options.task).show_data(program, options);
}

}  // namespace

void add_data(Program& program) {
  CLI::App* data = program.app().add_subcommand("data", "Data sets");
  data->require_subcommand(1);
  const auto options = std::make_shared<ShowDataOptions>();
  CLI::App* command = program.add_command(*data, "show",
                                          "What a file holds: dates, variables and gaps of series, classes "
                                          "of volumes and scenes; and its splits.",
                                          "modewise data show ETTh1.csv",
                                          [&program, options] { return show(program, *options); });
  command->add_option("file", options->file, "CSV, numeric text, NPY, NPZ, NIfTI, GeoTIFF, or a folder");
  std::vector<std::string> tasks = {"auto"};
  tasks.insert(tasks.end(), task_names().begin(), task_names().end());
  command->add_option("--task", options->task, "for which task to look at it; auto goes by the file")
      ->check(CLI::IsMember(tasks));
  options->config.add_to(*command, "data file or folder (data.path)", "model (model.name)");
}

}  // namespace modewise::cli
