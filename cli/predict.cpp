#include "cli/commands.h"
#include "modewise/core/stop_signal.h"
#include "modewise/tasks/kinds.h"

namespace modewise::cli {

void add_predict(Program& program) {
  const auto options = std::make_shared<tasks::PredictRequest>();
  CLI::App* command =
      program.add_command(program.app(), "predict",
                          "Forecasts beyond the end of the data, in its units, with its dates continued; the "
                          "classes of volumes; or the class maps of scenes.",
                          "modewise predict runs/ETTh1-hot --out forecast.csv", [&program, options] {
                            install_stop_handlers();
                            program.print(tasks::kind_of_run(options->run).predict(*options));
                            return 0;
                          });
  command->add_option("run,--run", options->run, "run folder")->required();
  command->add_option(
      "--data", options->data,
      "new data: a file with the run's columns, which forecasts follow, volumes, a scene or a folder");
  command->add_option("--out", options->out,
                      "file.csv or file.npz; CSV on stdout without it; map.tif or a folder for class maps");
  command
      ->add_option("--steps", options->steps,
                   "forecasts: rows ahead, at most the run's horizon; all of it without")
      ->check(CLI::PositiveNumber);
  command->add_flag("--force", options->force, "overwrite the file");
}

}  // namespace modewise::cli
