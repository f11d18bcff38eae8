#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/stop_signal.h"
#include "modewise/tasks/forecast_predict.h"

namespace modewise::cli {
namespace {

struct PredictOptions {
  std::string run, data, out;
  int64_t steps = 0;
  bool force = false;
};

int predict(const Program& program, const PredictOptions& options) {
  install_stop_handlers();
  const std::filesystem::path out = options.out;
  const bool npz = out.extension() == ".npz";
  require(out.empty() || npz || out.extension() == ".csv", ErrorKind::usage,
          "--out must end in .csv or .npz, got '{}'", options.out);
  require(out.empty() || options.force || !std::filesystem::exists(out), ErrorKind::cannot_create,
          "{} exists already: --force overwrites it", options.out);
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

}  // namespace

void add_predict(Program& program) {
  const auto options = std::make_shared<PredictOptions>();
  CLI::App* command =
      program.add_command(program.app(), "predict",
                          "Forecasts beyond the end of the data, in its units, with its dates continued.",
                          "modewise predict runs/ETTh1-hot --out forecast.csv",
                          [&program, options] { return predict(program, *options); });
  command->add_option("run,--run", options->run, "run folder")->required();
  command->add_option("--data", options->data,
                      "a newer file with the run's columns; forecasts follow its last row");
  command->add_option("--out", options->out, "file.csv or file.npz; CSV on stdout without it");
  command->add_option("--steps", options->steps, "rows ahead, at most the run's horizon; all of it without")
      ->check(CLI::PositiveNumber);
  command->add_flag("--force", options->force, "overwrite the file");
}

}  // namespace modewise::cli
