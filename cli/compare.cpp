#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "modewise/core/error.h"
#include "modewise/tasks/forecast_compare.h"

namespace modewise::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> runs;
  std::string format = "text";
};

int compare(const Program& program, const CompareOptions& options) {
  std::vector<tasks::FinishedRun> runs;
  for (const std::string& path : options.runs) runs.push_back(tasks::read_finished_run(path));
  const std::vector<tasks::RunGroup> groups = tasks::group_runs(std::move(runs));
  if (program.json()) {
    program.print(tasks::comparison_json(groups));
    return 0;
  }
  const report::Table table = tasks::comparison_table(groups);
  if (options.format == "markdown")
    program.print(table.to_markdown());
  else if (options.format == "csv")
    program.print(table.to_csv());
  else
    program.print(table);
  return 0;
}

}  // namespace

void add_compare(Program& program) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = program.add_command(program.app(), "compare",
                                          "Finished runs side by side; runs that differ in the seed alone "
                                          "are one row, mean ± standard deviation.",
                                          "modewise compare runs/ETTh1-*",
                                          [&program, options] { return compare(program, *options); });
  command->add_option("runs,--run", options->runs, "run folders")->required();
  command->add_option("--format", options->format, "text, markdown or csv")
      ->check(CLI::IsMember({"text", "markdown", "csv"}));
}

}  // namespace modewise::cli
