#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.h"
#include "cli/evaluation_text.h"
#include "cli/forecast_options.h"
#include "modewise/core/error.h"
#include "modewise/core/stop_signal.h"
#include "modewise/report/table.h"
#include "modewise/tasks/forecast_report.h"
#include "modewise/tasks/forecast_run.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

struct TrainOptions {
  ForecastConfigOptions config;
  std::string out, resume;
  bool exist_ok = false, override_config = false;
};

/// "ETTh1-hot", from the data's name and the model's.
std::string run_stem(const tasks::ForecastConfig& config) {
  std::string stem =
      config.data.simulate.empty() ? fs::path(config.data.path).stem().string() : config.data.simulate;
  stem += "-" + tasks::model_title(config);
  for (char& c : stem)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '-') c = '-';
  return stem;
}

void announce(const tasks::ForecastConfig& config, const tasks::ForecastData& data) {
  for (const std::string& note : data.series.notes) spdlog::info("{}", note);
  for (const std::string& note : data.scaler.notes) spdlog::warn("{}", note);
  std::string shape;
  for (const data::SeriesMode& mode : data.series.modes)
    shape += fmt::format("{}{} {}", shape.empty() ? "" : " × ", mode.labels.size(), mode.name);
  spdlog::info("{}: {} × {} rows ({}); windows: {} train, {} validation, {} test; model {}",
               data.series.source, shape, data.series.rows(), data.splits.rule, data.windows.train.size(),
               data.windows.validation.size(), data.windows.test.size(), tasks::model_title(config));
}

train::RunFolder new_folder(const TrainOptions& options, const tasks::ForecastConfig& config) {
  if (!options.out.empty()) return train::RunFolder::create(options.out, options.exist_ok);
  return train::RunFolder::create_numbered("runs", run_stem(config));
}

int train_forecast(const Program& program, const TrainOptions& options) {
  install_stop_handlers();
  const bool resume = !options.resume.empty();
  std::optional<train::RunFolder> folder;
  tasks::ForecastConfig config;
  if (resume) {
    require(options.config.config.empty() && options.out.empty(), ErrorKind::usage,
            "--resume takes the config and the folder of its run; --config and --out start another run");
    folder = train::RunFolder::open(options.resume);
    config =
        tasks::load_forecast_config(folder->file("config.toml").string(), options.config.all_assignments());
  } else {
    config = options.config.load();
    require(!config.data.path.empty() || !config.data.simulate.empty(), ErrorKind::usage,
            "no data: give --data FILE, or --set data.simulate=lorenz96");
  }
  const tasks::ForecastData data = tasks::load_forecast_data(config);
  models::validate(config.model, config.model_shape(data.series));
  if (!resume) {
    folder = new_folder(options, config);
    folder->write_manifest(
        {"forecast", program.command_line(), config.train.seed, program.threads(), data.hash});
    tasks::write_run_inputs(*folder, config, data);
  }
  folder->start_log();
  announce(config, data);
  const tasks::TrainedForecast result =
      tasks::train_forecast(config, data, *folder, resume, options.override_config);
  if (result.training.stopped_by_signal()) throw Stopped{result.training.signal};
  if (resume && options.override_config) folder->write_config(fields_of(config).to_toml());
  const std::string path = folder->path().string();
  if (config.output.report)
    tasks::write_run_report(tasks::open_forecast_run(path), data, folder->file("report.html"));
  if (program.json()) {
    nlohmann::ordered_json json = result.metrics;
    json["run"] = path;
    program.print(json);
  } else {
    program.print(evaluation_text(result.metrics["test"], false) + fmt::format("\nrun folder: {}\n", path));
  }
  return 0;
}

}  // namespace

void add_train(Program& program) {
  CLI::App* train = program.app().add_subcommand("train", "Trains a model on a data set");
  train->require_subcommand(1);
  const auto options = std::make_shared<TrainOptions>();
  CLI::App* forecast = program.add_command(
      *train, "forecast", "Trains a forecaster, calibrates its intervals, and judges it on the test rows.",
      "modewise train forecast --data ETTh1.csv",
      [&program, options] { return train_forecast(program, *options); });
  options->config.add_to(*forecast);
  forecast->add_option("--out,--run", options->out, "run folder to make; runs/DATA-MODEL without it");
  forecast->add_flag("--exist-ok", options->exist_ok, "start anew in a folder that holds a run");
  forecast->add_option("--resume", options->resume, "run folder to go on with; needs nothing else");
  forecast->add_flag("--override", options->override_config, "with --resume: accept changed settings");
  program.add_help_text(forecast, forecast_config_help);
}

}  // namespace modewise::cli
