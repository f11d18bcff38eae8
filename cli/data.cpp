#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/forecast_options.h"
#include "modewise/core/error.h"
#include "modewise/data/describe.h"
#include "modewise/data/loader.h"

namespace modewise::cli {
namespace {

struct DataOptions {
  ForecastConfigOptions config;
  std::string file;
};

std::string description_text(const data::Description& d) {
  using report::Cell;
  std::string text = fmt::format("{}: {} rows", d.source, Cell::count(d.rows).text());
  for (const data::SeriesMode& mode : d.modes)
    text += fmt::format(" × {} {}{}", mode.labels.size(), mode.name, mode.ordered ? " (ordered)" : "");
  text += fmt::format(", {} of {} cells missing\n", Cell::count(d.missing_cells).text(),
                      Cell::count(d.cells).text());
  if (d.dated) text += fmt::format("from {} to {}, every {}\n", d.first_time, d.last_time, d.frequency);
  for (const std::string& note : d.notes) text += "note: " + note + "\n";
  report::Table variables({{"variable"}, {"missing"}, {"min"}, {"mean"}, {"max"}, {"deviation"}});
  const auto value = [](double x) { return Cell::number(x, fmt::format("{:.6g}", x)); };
  for (const data::SeriesStatistics& v : d.variables)
    variables.add_row({v.name, v.missing, value(v.min), value(v.mean), value(v.max), value(v.deviation)});
  text += "\n" + variables.to_text();
  if (!d.gaps.empty()) {
    report::Table gaps({{"gap from"}, {"to"}, {"rows"}});
    for (const data::Gap& gap : d.gaps) gaps.add_row({gap.first_time, gap.last_time, gap.rows});
    text += "\n" + gaps.to_text();
  }
  if (!d.split_problem.empty()) return text + "\nno split: " + d.split_problem + "\n";
  report::Table splits({{"split"}, {"rows"}, {"windows"}, {"from"}, {"to"}});
  for (const data::SplitLine& line : d.splits)
    splits.add_row({line.name, line.rows, line.windows, line.first_time, line.last_time});
  return text + fmt::format("\nsplit: {}\n", d.split_rule) + splits.to_text();
}

int show(const Program& program, DataOptions options) {
  if (!options.file.empty()) options.config.data = options.file;
  const tasks::ForecastConfig config = options.config.load();
  require(!config.data.path.empty() || !config.data.simulate.empty(), ErrorKind::usage,
          "no data: give a file, or --set data.simulate=lorenz96");
  const data::Series series = data::load_series(config.data);
  const data::Description description = data::describe(series, config.data, config.window());
  if (program.json())
    program.print(nlohmann::ordered_json(data::to_json(description)));
  else
    program.print(description_text(description));
  return 0;
}

}  // namespace

void add_data(Program& program) {
  CLI::App* data = program.app().add_subcommand("data", "Data sets");
  data->require_subcommand(1);
  const auto options = std::make_shared<DataOptions>();
  CLI::App* command = program.add_command(
      *data, "show", "What a file holds: dates, variables, gaps, and how it would be split.",
      "modewise data show ETTh1.csv", [&program, options] { return show(program, *options); });
  command->add_option("file", options->file, "CSV, numeric text, NPY, NPZ, or a folder of CSV files");
  options->config.add_to(*command);
}

}  // namespace modewise::cli
