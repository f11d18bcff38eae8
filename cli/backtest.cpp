#include "modewise/tasks/forecasting/backtest.h"
#include "cli/commands.h"
#include "modewise/core/stop_signal.h"

namespace modewise::cli {

void add_backtest(Program& program) {
  const auto backtest = [](const Program& run_by, const tasks::BacktestRequest& request) {
    install_stop_handlers();
    run_by.print(tasks::backtest_run(request));
  };
  const auto [command, options] = program.add_command<tasks::BacktestRequest>(
      program.app(), "backtest",
      "Evaluates forecasts from rolling origins over the test rows, for each origin.",
      "modewise backtest runs/ETTh1-hot --stride 168", backtest);
  command->add_option("run,--run", options.run, "run folder")->required();
  command->add_option("--data", options.data, "another file with the run's columns");
  add_positive(*command, "--stride", options.stride, "rows between origins (default: the horizon)");
  command->add_option("--out", options.out,
                      "CSV file of the forecasts of all origins, with dates as predict writes them");
  command->add_flag("--overwrite", options.force, "overwrite the file");
  add_positive(*command, "--windows", options.windows,
               "panels: windows of each series (default: those of its test rows)");
}

}  // namespace modewise::cli
