#include "cli/commands.h"
#include "modewise/tasks/registry.h"

namespace modewise::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> runs;
  std::string format = "text";
};

void compare(const Program& program, const CompareOptions& options) {
  const tasks::TaskSpec& kind = tasks::task_of_runs(options.runs);
  const tasks::Comparison& comparison = kind.comparison();
  const std::vector<tasks::RunGroup> groups =
      tasks::group_runs(tasks::read_finished_runs(kind, options.runs));
  program.print(comparison_json(comparison, groups),
                comparison_table(comparison, groups, options.format == "csv"), options.format);
}

}  // namespace

void add_compare(Program& program) {
  const auto [command, options] =
      program.add_command<CompareOptions>(program.app(), "compare",
                                          "Compares finished runs; runs that differ only in the seed "
                                          "are one row, mean ± standard deviation.",
                                          "modewise compare runs/ETTh1-*", compare);
  command->add_option("runs,--run", options.runs, "run folders, all of one task")->required();
  command->add_option("--format", options.format, "text, markdown or csv (default text)")
      ->check(CLI::IsMember({"text", "markdown", "csv"}));
}

}  // namespace modewise::cli
