#include "cli/commands.h"
#include "modewise/tasks/kinds.h"

namespace modewise::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> runs;
  std::string format = "text";
};

int compare(const Program& program, const CompareOptions& options) {
  const tasks::Comparison& comparison = tasks::kind_of_runs(options.runs).comparison();
  const std::vector<tasks::RunGroup> groups = tasks::group_runs(read_finished_runs(comparison, options.runs));
  const report::Table table = comparison_table(comparison, groups);
  if (program.json())
    program.print(comparison_json(comparison, groups));
  else if (options.format == "markdown")
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
  command->add_option("runs,--run", options->runs, "run folders, all of one task")->required();
  command->add_option("--format", options->format, "text, markdown or csv")
      ->check(CLI::IsMember({"text", "markdown", "csv"}));
}

}  // namespace modewise::cli
