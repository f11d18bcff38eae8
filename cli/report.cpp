#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "modewise/core/error.h"
#include "modewise/core/output_file.h"
#include "modewise/tasks/registry.h"
#include "modewise/tasks/run/commands.h"
#include "modewise/tasks/run/run_documents.h"

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
  const fs::path out =
      options.out.empty() ? fs::path(options.runs.front()) / "report.html" : fs::path(options.out);
  // A run's own report can always be rewritten; other files are protected.
  prepare_output(out, options.force || options.out.empty());
  if (options.runs.size() == 1) {
    const std::string& run = options.runs.front();
    tasks::reading_run(run, [&] { tasks::report_run(kind, run, options.data, out); });
  } else {
    tasks::write_comparison(kind.comparison(), tasks::read_finished_runs(kind, options.runs), out);
  }
  program.print(tasks::Result({{"report", out.string()}}, out.string()));
}

}  // namespace

void add_report(Program& program) {
  const auto [command, options] = program.add_command<ReportOptions>(
      program.app(), "report", "Writes the HTML report of a run, or a comparison of several runs.",
      "modewise report runs/ETTh1-hot runs/ETTh1-dlinear --out comparison.html", report);
  command->add_option("runs,--run", options.runs, "run folders")->required();
  command->add_option("--out", options.out, "HTML file (default RUN/report.html)");
  command->add_option("--data", options.data, "current location of the data of a single run");
  command->add_flag("--overwrite", options.force, "overwrite the file");
}

}  // namespace modewise::cli
