#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "modewise/core/stop_signal.h"
#include "modewise/tasks/forecasting/predict.h"
#include "modewise/tasks/forecasting/spec.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/tasks/run/result_tables.h"
#include "modewise/tasks/run/same_work.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::cli {
namespace {

struct BacktestOptions {
  std::string run, data;
  int64_t stride = 0;
};

report::Table backtest_table(const nlohmann::ordered_json& result) {
  std::vector<tasks::JsonColumn> columns = {{"forecast from", "time"},
                                            {"MSE", "scaled/mse", 4},
                                            {"MAE", "scaled/mae", 4},
                                            {"MAE of repeat", "repeat_mae", 4}};
  for (size_t i = 0; i < result["intervals"].size(); ++i) {
    const double nominal = result["intervals"][i]["nominal"];
    columns.push_back({fmt::format("coverage {:g} %", std::round(1000 * nominal) / 10),
                       fmt::format("intervals/{}/coverage", i), 3});
  }
  report::Table table = json_table(columns, result["origins"]);
  nlohmann::ordered_json all = result;
  all["time"] = fmt::format("all {}", result["origins"].size());
  table.add_rule();
  table.add_row(json_row(columns, all));
  return table;
}

void run_backtest(const Program& program, const BacktestOptions& options) {
  install_stop_handlers();
  const auto run = tasks::open_run_as<tasks::ForecastRun>(tasks::forecasting_spec, options.run);
  run->load({.path = options.data});
  tasks::require_same_work(run->folder(), std::to_string(options.stride), run->hash());
  const nlohmann::ordered_json result = tasks::backtest(*run, options.stride);
  if (train::workers().is_rank_zero()) program.print(result, backtest_table(result));
}

}  // namespace

void add_backtest(Program& program) {
  const auto [command, options] = program.add_command<BacktestOptions>(
      program.app(), "backtest",
      "Evaluates forecasts from rolling origins over the test rows, for each origin.",
      "modewise backtest runs/ETTh1-hot --stride 168", run_backtest);
  command->add_option("run,--run", options.run, "run folder")->required();
  command->add_option("--data", options.data, "another file with the run's columns");
  add_positive(*command, "--stride", options.stride, "rows between origins (default: the horizon)");
}

}  // namespace modewise::cli
