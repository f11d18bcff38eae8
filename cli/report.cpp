#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "modewise/core/error.h"
#include "modewise/tasks/forecast_report.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<std::string> runs;
  std::string out, data;
  bool force = false;
};

int report(const Program& program, const ReportOptions& options) {
  const bool single = options.runs.size() == 1;
  require(single || !options.out.empty(), ErrorKind::usage, "a report of several runs needs --out FILE.html");
  // A run's own report is made from the run and may be made again; any other file is somebody's.
  const fs::path out =
      options.out.empty() ? fs::path(options.runs.front()) / "report.html" : fs::path(options.out);
  require(options.out.empty() || options.force || !fs::exists(out), ErrorKind::cannot_create,
          "{} exists already: --force overwrites it", out.string());
  if (single) {
    const tasks::ForecastRun run = tasks::open_forecast_run(options.runs.front());
    tasks::write_run_report(run, tasks::load_run_data(run, options.data), out);
  } else {
    std::vector<tasks::FinishedRun> runs;
    for (const std::string& path : options.runs) runs.push_back(tasks::read_finished_run(path));
    tasks::write_comparison_report(runs, out);
  }
  if (program.json())
    program.print(nlohmann::ordered_json{{"report", out.string()}});
  else
    program.print(out.string());
  return 0;
}

}  // namespace

void add_report(Program& program) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* command = program.add_command(
      program.app(), "report", "A run in pictures, as one HTML file; or several runs side by side.",
      "modewise report runs/ETTh1-hot runs/ETTh1-dlinear --out comparison.html",
      [&program, options] { return report(program, *options); });
  command->add_option("runs,--run", options->runs, "run folders")->required();
  command->add_option("--out", options->out, "HTML file; RUN/report.html without it");
  command->add_option("--data", options->data, "where the data of a single run lies now");
  command->add_flag("--force", options->force, "overwrite the file");
}

}  // namespace modewise::cli
