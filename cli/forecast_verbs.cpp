#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "cli/evaluation_text.h"
#include "cli/forecast_options.h"
#include "cli/task_verbs.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/data/forecast/describe.h"
#include "modewise/data/forecast/load_series.h"
#include "modewise/tasks/forecast/compare.h"
#include "modewise/tasks/forecast/explain.h"
#include "modewise/tasks/forecast/predict.h"
#include "modewise/tasks/forecast/report.h"
#include "modewise/tasks/test_part.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

int evaluate(const Program& program, const EvaluateOptions& options) {
  const tasks::ForecastRun run = tasks::open_forecast_run(options.run);
  const tasks::ForecastData data = options.split == "all" ? tasks::load_run_rows(run, options.data)
                                                          : tasks::load_run_data(run, options.data);
  if (options.data.empty() && options.split == "test" && tasks::test_is_unread(run.folder)) {
    const nlohmann::ordered_json result = tasks::judge_left_out_test(run, data);
    print_result(program, result, evaluation_text(result, options.detail));
    return 0;
  }
  const data::WindowSet& windows = options.split == "train"        ? data.windows.train
                                   : options.split == "validation" ? data.windows.validation
                                                                   : data.windows.test;
  const tasks::ForecastErrors errors = tasks::evaluate_forecaster(run.forecaster(), data, windows);
  const nlohmann::ordered_json result =
      tasks::evaluation_json(options.split, errors, run.config.forecast, data.series);
  print_result(program, result, evaluation_text(result, options.detail));
  return 0;
}

int predict(const Program& program, const PredictOptions& options) {
  const fs::path out = options.out;
  const bool npz = wants_npz(options);
  require_new(out, options.force);
  const tasks::ForecastRun run = tasks::open_forecast_run(options.run);
  const data::Series series = tasks::load_run_series(run, options.data);
  const tasks::Forecast forecast = tasks::predict_beyond(run, series, options.steps);
  if (!out.empty()) {
    write_file_atomically(out, npz ? to_npz(forecast) : to_csv(forecast));
    spdlog::info("{}: {} rows from {} to {}, {} series, after the last row of {}", options.out,
                 forecast.steps(), forecast.times.front(), forecast.times.back(), forecast.names.size(),
                 series.source);
  }
  if (program.json()) {
    nlohmann::ordered_json json = to_json(forecast);
    if (!out.empty()) json["file"] = options.out;
    program.print(json);
  } else if (out.empty()) {
    program.print(to_csv(forecast));
  }
  return 0;
}

void write_report(const std::string& path, const std::string& data, const fs::path& out) {
  const tasks::ForecastRun run = tasks::open_forecast_run(path);
  const bool unread = data.empty() && tasks::test_is_unread(run.folder);
  tasks::write_forecast_report(
      run, unread ? tasks::load_forecast_data(run.config) : tasks::load_run_data(run, data), out);
}

tasks::Explanation explain(const ExplainCommandOptions& options) {
  const tasks::ForecastRun run = tasks::open_forecast_run(options.run);
  return tasks::explain_forecast(run, tasks::load_run_data(run, options.data), options.options);
}

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

int show_data(const Program& program, const ShowDataOptions& options) {
  const tasks::ForecastConfig config =
      load_forecast_options(options.config.config, options.config.all_assignments());
  require(!config.data.path.empty() || !config.data.simulate.empty(), ErrorKind::usage,
          "no data: give a file, or --set data.simulate=lorenz96");
  const data::Series series = data::load_series(config.data);
  tasks::warn_of_doubts(series);
  const data::Description description = data::describe(series, config.data, config.window());
  if (program.json())
    program.print(nlohmann::ordered_json(data::to_json(description)));
  else
    program.print(description_text(description));
  return 0;
}

}  // namespace

const TaskVerbs forecast_verbs = {"forecast",
                                  evaluate,
                                  predict,
                                  write_report,
                                  tasks::forecast_comparison,
                                  explain,
                                  show_config<load_forecast_options>,
                                  show_data};

}  // namespace modewise::cli
