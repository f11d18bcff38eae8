#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "modewise/core/closed_pipe.h"
#include "modewise/core/log.h"
#include "modewise/core/stop_signal.h"
#include "modewise/tasks/forecasting/spec.h"
#include "modewise/tasks/run/train_run.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

// A chaotic system on a ring of sites with two time scales: the dynamics depend on neighbours, which naive,
// seasonal and linear forecasts do not use.
const std::vector<std::string> kSharedSettings = {
    "data.simulate=lorenz96", "data.simulate_rows=6000", "forecast.lookback=24",
    "forecast.horizon=12",    "forecast.loss=mse",       "output.predictions=200",
};

struct DemoModel {
  std::string name;
  std::vector<std::string> settings;
};
const std::vector<DemoModel> kDemoModels = {
    {"hot",
     {"model.name=hot", "model.patch.length=4", "model.patch.stride=4", "model.dropout=0",
      "train.batch_size=64", "train.epochs=12", "train.optimizer.learning_rate=0.002", "train.patience=12"}},
    {"dlinear",
     {"model.name=dlinear", "train.batch_size=64", "train.epochs=30", "train.optimizer.learning_rate=0.005",
      "train.patience=30"}},
    {"seasonal", {"model.name=seasonal", "model.period=24"}},
    {"repeat", {"model.name=repeat"}},
};

struct DemoOptions {
  std::string out = "runs/demo";
  int64_t seed = 1;
};

/// Trains or resumes the run in `path`, or keeps it if an earlier demo finished it.
void make_run(const Program& program, const DemoModel& demo_model, const DemoOptions& options,
              const fs::path& path) {
  if (fs::exists(path / "report.html")) {
    spdlog::info("{}: kept from an earlier demo", path.string());
    return;
  }
  spdlog::info("{}:", path.string());
  tasks::TrainRequest request;
  request.command_line = program.command_line();
  if (fs::exists(path / "config.toml")) {
    request.resume = path.string();
  } else {
    request.assignments = demo_model.settings;
    request.assignments.insert(request.assignments.end(), kSharedSettings.begin(), kSharedSettings.end());
    request.assignments.push_back(fmt::format("train.seed={}", options.seed));
    request.out = path.string();
    // An interrupted start has a manifest without a config: start again.
    request.exist_ok = true;
  }
  tasks::run_training(tasks::forecasting_spec, request);
}

void demo(const Program& program, const DemoOptions& options) {
  install_stop_handlers();
  finish_without_reader();
  const tasks::Comparison& comparison = tasks::forecasting_spec.comparison();
  std::vector<tasks::FinishedRun> runs;
  for (const DemoModel& demo_model : kDemoModels) {
    const fs::path path = fs::path(options.out) / demo_model.name;
    make_run(program, demo_model, options, path);
    runs.push_back(tasks::read_finished_run(tasks::forecasting_spec, path));
  }
  log_to_file("");
  const std::vector<tasks::RunGroup> groups = tasks::group_runs(runs);
  const fs::path report = fs::path(options.out) / "report.html";
  write_comparison(comparison, runs, report);
  if (program.json()) {
    nlohmann::ordered_json json = comparison_json(comparison, groups);
    json["report"] = report.string();
    program.print(json);
    return;
  }
  program.print(comparison_table(comparison, groups));
  program.print(fmt::format("\nreport: {}\nfigures of the model: {}\n", report.string(),
                            (fs::path(options.out) / "hot" / "report.html").string()));
}

}  // namespace

void add_demo(Program& program) {
  const auto [command, options] = program.add_command<DemoOptions>(
      program.app(), "demo",
      "Simulates a chaotic system, trains hot and baselines on it, prints a table and writes a report.",
      "modewise demo", demo);
  command->add_option("--out", options.out, "folder of the runs; an interrupted demo is resumed");
  command->add_option("--seed", options.seed, "seed of everything random")->check(non_negative_number());
}

}  // namespace modewise::cli
