#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "modewise/core/error.h"
#include "modewise/core/output_file.h"
#include "modewise/tasks/task_registry.h"
#include "modewise/tasks/run_documents.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<std::string> runs;
  std::string out, data;
  bool force = false;
};

void report(const Program& program, const ReportOptions& options) {
  const tasks::TaskSpec& kind = tasks::task_of_runs(options.runs);
  require(options.runs.size() == 1 || !options.out.empty(), ErrorKind::usage,
          "a report of several runs needs --out FILE.html");
  // A run's own report is made from the run and may be made again; any other file is somebody's.
  require_new(options.out, options.force);
  const fs::path out =
      options.out.empty() ? fs::path(options.runs.front()) / "report.html" : fs::path(options.out);
  if (options.runs.size() == 1) {
    const std::string& run = options.runs.front();
    tasks::reading_run(run, [&] { kind.write_report(run, options.data, out); });
  } else {
    const tasks::Comparison& comparison = kind.comparison();
    tasks::write_comparison(comparison, read_finished_runs(comparison, options.runs), out);
  }
  program.print(tasks::Result({{"report", out.string()}}, out.string()));
}

}  // namespace

void add_report(Program& program) {
  const auto [command, options] = program.add_command<ReportOptions>(
      program.app(), "report", "A run in pictures, as one HTML file; or several runs side by side.",
      "modewise report runs/ETTh1-hot runs/ETTh1-dlinear --out comparison.html", report);
  command->add_option("runs,--run", options.runs, "run folders")->required();
  command->add_option("--out", options.out, "HTML file; RUN/report.html without it");
  command->add_option("--data", options.data, "where the data of a single run lies now");
  command->add_flag("--overwrite", options.force, "overwrite the file");
}

}  // namespace modewise::cli
