#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/task_verbs.h"

namespace modewise::cli {

void add_report(Program& program) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* command = program.add_command(
      program.app(), "report", "A run in pictures, as one HTML file; or several runs side by side.",
      "modewise report runs/ETTh1-hot runs/ETTh1-dlinear --out comparison.html",
      [&program, options] { return verbs_of_runs(options->runs).report(program, *options); });
  command->add_option("runs,--run", options->runs, "run folders")->required();
  command->add_option("--out", options->out, "HTML file; RUN/report.html without it");
  command->add_option("--data", options->data, "where the data of a single run lies now");
  command->add_flag("--force", options->force, "overwrite the file");
}

}  // namespace modewise::cli
