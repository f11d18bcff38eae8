#include "cli/commands.h"
#include "modewise/core/stop_signal.h"
#include "modewise/tasks/task_registry.h"
#include "modewise/tasks/run_documents.h"

namespace modewise::cli {

void add_predict(Program& program) {
  const auto predict = [](const Program& run_by, const tasks::PredictRequest& request) {
    install_stop_handlers();
    const tasks::TaskSpec& kind = tasks::task_of_run(request.run);
    tasks::require_shares(kind, "predict with");
    run_by.print(tasks::reading_run(request.run, [&] { return kind.predict(request); }));
  };
  const auto [command, options] = program.add_command<tasks::PredictRequest>(
      program.app(), "predict",
      "Forecasts beyond the end of the data, in its units, with its dates continued; the classes of volumes; "
      "or the class maps of scenes.",
      "modewise predict runs/ETTh1-hot --out forecast.csv", predict);
  command->add_option("run,--run", options.run, "run folder")->required();
  command->add_option(
      "--data", options.data,
      "new data: a file with the run's columns, which forecasts follow, volumes, a scene or a folder");
  command->add_option("--future", options.future,
                      "forecasts with data.future_covariates: a file with those columns for the rows to come");
  command->add_option("--out", options.out,
                      "file.csv or file.npz; CSV on stdout without it; map.tif or a folder for class maps");
  add_positive(*command, "--steps", options.steps,
               "forecasts: rows ahead, at most the run's horizon; all of it without");
  command->add_flag("--overwrite", options.force, "overwrite the file");
  command->add_flag_callback(
      "--spreadsheet-safe", [&asked = options] { asked.csv_reader = report::CsvReader::spreadsheet; },
      "CSV: an apostrophe before names that a spreadsheet would run as a formula (= + - @)");
}

}  // namespace modewise::cli
