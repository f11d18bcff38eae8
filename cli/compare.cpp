#include "cli/commands.h"
#include "cli/task_verbs.h"

namespace modewise::cli {

void add_compare(Program& program) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = program.add_command(program.app(), "compare",
                                          "Finished runs side by side; runs that differ in the seed alone "
                                          "are one row, mean ± standard deviation.",
                                          "modewise compare runs/ETTh1-*", [&program, options] {
                                            return verbs_of_runs(options->runs).compare(program, *options);
                                          });
  command->add_option("runs,--run", options->runs, "run folders, all of one task")->required();
  command->add_option("--format", options->format, "text, markdown or csv")
      ->check(CLI::IsMember({"text", "markdown", "csv"}));
}

}  // namespace modewise::cli
