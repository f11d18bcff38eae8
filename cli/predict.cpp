#include "cli/commands.h"
#include "modewise/core/stop_signal.h"
#include "modewise/tasks/registry.h"
#include "modewise/tasks/run/commands.h"
#include "modewise/tasks/run/run_documents.h"

namespace modewise::cli {

void add_predict(Program& program) {
  const auto predict = [](const Program& run_by, const tasks::PredictRequest& request) {
    install_stop_handlers();
    const tasks::TaskSpec& kind = tasks::task_of_run(request.run);
    tasks::require_shares(kind, "predict with");
    run_by.print(tasks::reading_run(request.run, [&] { return tasks::predict_run(kind, request); }));
  };
  const auto [command, options] = program.add_command<tasks::PredictRequest>(
      program.app(), "predict",
      "Predicts with a run: forecasts beyond the end of the data, in its units and with continued dates; "
      "classes of samples; or class maps of images.",
      "modewise predict runs/ETTh1-hot --out forecast.csv", predict);
  command->add_option("run,--run", options.run, "run folder")->required();
  command->add_option(
      "--data", options.data,
      "new data: a table that the forecast continues, samples, an image, or a folder; - for texts, one per "
      "line of standard input");
  command->add_option("--future", options.future,
                      "forecasts: file with the future covariates (data.future_covariates)");
  command->add_option("--out", options.out,
                      "output file .csv or .npz (default: CSV on stdout); .tif or a folder for class maps");
  add_positive(*command, "--steps", options.steps,
               "forecasts: number of rows, at most the run's horizon (default: the horizon)");
  command->add_flag("--overwrite", options.force, "overwrite the file");
  command->add_flag_callback(
      "--spreadsheet-safe", [&asked = options] { asked.csv_reader = report::CsvReader::spreadsheet; },
      "CSV: put an apostrophe before names that a spreadsheet would run as a formula (= + - @)");
}

}  // namespace modewise::cli
