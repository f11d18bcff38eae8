#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/evaluation_text.h"
#include "modewise/core/stop_signal.h"
#include "modewise/tasks/forecast_run.h"

namespace modewise::cli {
namespace {

struct EvaluateOptions {
  std::string run, data, split = "test";
  bool detail = false;
};

int evaluate(const Program& program, const EvaluateOptions& options) {
  install_stop_handlers();
  const tasks::ForecastRun run = tasks::open_forecast_run(options.run);
  const tasks::ForecastData data = options.split == "all" ? tasks::load_run_rows(run, options.data)
                                                          : tasks::load_run_data(run, options.data);
  const data::WindowSet& windows = options.split == "train"        ? data.windows.train
                                   : options.split == "validation" ? data.windows.validation
                                                                   : data.windows.test;
  const tasks::ForecastErrors errors = tasks::evaluate_forecaster(run.forecaster(), data, windows);
  const nlohmann::ordered_json result =
      tasks::evaluation_json(options.split, errors, run.config.forecast, data.series);
  if (program.json())
    program.print(result);
  else
    program.print(evaluation_text(result, options.detail));
  return 0;
}

}  // namespace

void add_evaluate(Program& program) {
  const auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command = program.add_command(
      program.app(), "evaluate",
      "Errors of a run's forecasts over all windows of a split, scaled and in units.",
      "modewise evaluate runs/ETTh1-hot", [&program, options] { return evaluate(program, *options); });
  command->add_option("run,--run", options->run, "run folder")->required();
  command->add_option("--data", options->data, "another file with the run's columns");
  command->add_option("--split", options->split, "test, validation, train, or all: every row of the file")
      ->check(CLI::IsMember({"test", "validation", "train", "all"}));
  command->add_flag("--detail", options->detail, "tables per series and per step");
}

}  // namespace modewise::cli
