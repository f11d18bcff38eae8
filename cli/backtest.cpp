#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "modewise/core/stop_signal.h"
#include "modewise/tasks/forecast/backtest.h"

namespace modewise::cli {
namespace {

struct BacktestOptions {
  std::string run, data;
  int64_t stride = 0;
};

report::Table backtest_table(const tasks::Backtest& result) {
  std::vector<report::Column> columns = {{"forecast from"}, {"MSE"}, {"MAE"}, {"MAE of repeat"}};
  for (const auto& interval : result.intervals)
    columns.push_back({fmt::format("{:g} % holds", std::round(1000 * interval.nominal) / 10)});
  report::Table table(columns);
  const auto add = [&](const std::string& name, const tasks::PointErrors& errors, double repeat,
                       const std::vector<tasks::QuantileErrors::Interval>& intervals) {
    std::vector<report::Cell> cells = {name, report::Cell(errors.mse, 4), report::Cell(errors.mae, 4),
                                       report::Cell(repeat, 4)};
    for (const auto& interval : intervals) cells.emplace_back(interval.coverage, 3);
    table.add_row(std::move(cells));
  };
  for (const tasks::BacktestOrigin& origin : result.origins)
    add(origin.time, origin.scaled, origin.repeat_mae, origin.intervals);
  table.add_rule();
  add(fmt::format("all {}", result.origins.size()), result.scaled, result.repeat_mae, result.intervals);
  return table;
}

int run_backtest(const Program& program, const BacktestOptions& options) {
  install_stop_handlers();
  const tasks::ForecastRun run = tasks::open_forecast_run(options.run);
  const tasks::ForecastData data = tasks::load_run_data(run, options.data);
  const tasks::Backtest result = tasks::backtest(run, data, options.stride);
  if (program.json())
    program.print(to_json(result));
  else
    program.print(backtest_table(result));
  return 0;
}

}  // namespace

void add_backtest(Program& program) {
  const auto options = std::make_shared<BacktestOptions>();
  CLI::App* command = program.add_command(
      program.app(), "backtest", "Forecasts from rolling origins over the test rows, each judged on its own.",
      "modewise backtest runs/ETTh1-hot --stride 168",
      [&program, options] { return run_backtest(program, *options); });
  command->add_option("run,--run", options->run, "run folder")->required();
  command->add_option("--data", options->data, "another file with the run's columns");
  command->add_option("--stride", options->stride, "rows between origins; the horizon without it")
      ->check(CLI::PositiveNumber);
}

}  // namespace modewise::cli
