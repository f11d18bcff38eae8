#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/options.h"
#include "modewise/core/closed_pipe.h"
#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/stop_signal.h"
#include "modewise/sweep/search.h"
#include "modewise/tasks/registry.h"
#include "modewise/tasks/run/search_run.h"
#include "modewise/tasks/run/train_run.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::cli {
namespace {

struct TrainOptions {
  ConfigOptions config;
  tasks::TrainRequest training;
  std::vector<std::string> track;
  std::string budget;
  int64_t jobs = 0;
  bool no_test = false, tensorboard = false, refit = false;
};

constexpr const char *kAuto = "auto", *kUsualBudget = "5m";

/// Short options of every task.
const std::vector<tasks::ShortOption>& training_options() {
  static const std::vector<tasks::ShortOption> options = {
      {"--epochs", "train.epochs", "passes over the training samples; -1: by the model"},
      {"--max-steps", "train.max_steps", "stop after this many steps; 0: no limit"},
      {"--batch-size", "train.batch_size", "samples per step"},
      {"--lr", "train.optimizer.learning_rate", "peak learning rate"},
      {"--patience", "train.patience", "stop after this many evaluations without improvement; 0: never"},
  };
  return options;
}

constexpr const char* kTensorboardSetting = "output.tensorboard=true";

std::string track_setting(const TrainOptions& options) {
  return fmt::format("train.track={}", fmt::join(options.track, ","));
}

/// Seconds of "90", "90s", "10m", "1.5h"; usage error for anything else, including 0 and less.
double seconds_of(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string unit(rest, end);
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  require(error == std::errc() && factor > 0 && std::isfinite(value) && value > 0, ErrorKind::usage,
          "--budget: '{}' is not a time such as 90s, 10m or 1.5h", text);
  return value * factor;
}

tasks::ModelSearchRequest search_request(const Program& program, const TrainOptions& options) {
  tasks::ModelSearchRequest request;
  request.config = options.config.config;
  request.data = options.config.data;
  request.out = options.training.out;
  request.assignments = options.config.short_forms;
  request.assignments.insert(request.assignments.end(), options.config.assignments.begin(),
                             options.config.assignments.end());
  if (!options.track.empty()) request.assignments.push_back(track_setting(options));
  if (options.tensorboard) request.assignments.emplace_back(kTensorboardSetting);
  request.budget = seconds_of(options.budget.empty() ? kUsualBudget : options.budget);
  request.seed = std::max<int64_t>(options.config.seed, 0);
  request.jobs = options.jobs;
  request.threads = program.asked_threads();
  request.exist_ok = options.training.exist_ok;
  request.no_test = options.no_test;
  request.refit = options.refit;
  return request;
}

/// Usage error for an option beside --resume of a search, which continues as it was started.
void refuse_options_of_search(const TrainOptions& options) {
  const ConfigOptions& config = options.config;
  const tasks::TrainRequest& training = options.training;
  const std::pair<bool, std::string> given[] = {
      {!config.data.empty(), "--data"},
      {!config.model.empty() && config.model != kAuto, "--model"},
      {!config.config.empty(), "--config"},
      {!config.assignments.empty(), "--set"},
      {!config.short_forms.empty(), config.short_forms.empty() ? "" : config.short_forms.front()},
      {config.seed >= 0, "--seed"},
      {!training.out.empty(), "--out"},
      {training.exist_ok, "--overwrite"},
      {training.accept_changes, "--allow-config-changes"},
      {!options.track.empty(), "--track"},
      {options.tensorboard, "--tensorboard"},
      {options.no_test, "--no-test"},
      {!options.budget.empty(), "--budget"},
      {options.jobs > 0, "--jobs"},
      {options.refit, "--refit"}};
  for (const auto& [is_given, name] : given)
    require(!is_given, ErrorKind::usage,
            "{} has no effect: --resume continues the search in {} with the options that it was started with",
            name, training.resume);
}

/// Usage error for an option that has no effect on this training.
void refuse_idle_options(const TrainOptions& options, bool searches) {
  const bool resumes = !options.training.resume.empty();
  require(searches || !options.refit, ErrorKind::usage,
          "--refit is for --model auto: it retrains the selected model");
  require(searches || options.budget.empty(), ErrorKind::usage,
          "--budget is for --model auto: it limits the time of the search");
  require(searches || options.jobs == 0, ErrorKind::usage,
          "--jobs is for --model auto: it is the number of trainings at once");
  require(resumes || !options.training.accept_changes, ErrorKind::usage,
          "--allow-config-changes is for --resume: a new run has no settings to change");
  require(!resumes || !options.training.exist_ok, ErrorKind::usage,
          "--resume continues its run; --overwrite is for new runs");
}

/// The command that uses the run of a training's result; "": none.
std::string next_command(const tasks::TaskSpec& kind, const nlohmann::ordered_json& result) {
  const auto run = result.at("run").get<std::string>();
  if (const auto model = result.find("pretrained_model"); model != result.end())
    return model->is_null() ? ""
                            : fmt::format("modewise train {} --data DATA --from {}", kind.command,
                                          command_word(run + "/" + model->get<std::string>()));
  const bool images = std::ranges::find(kind.options, "--images", &tasks::ShortOption::flag) !=
                      kind.options.end();  // apart from the data, as of captions
  return fmt::format("{} {}{}{}", kind.predict_with.empty() ? "modewise predict" : kind.predict_with,
                     command_word(run), result.value("needs_future", false) ? " --future FILE" : "",
                     images ? " IMAGES" : "");
}

void train(const Program& program, const tasks::TaskSpec& kind, const TrainOptions& options) {
  install_stop_handlers();
  finish_without_reader();
  if (!options.training.resume.empty() && sweep::holds_search(options.training.resume)) {
    refuse_options_of_search(options);
    if (const auto resumed = tasks::resume_search(kind, options.training.resume))
      return program.print(*resumed);
  }
  const bool searches = options.config.model == kAuto && options.training.resume.empty();
  require(!searches || train::workers().size() == 1, ErrorKind::usage,
          "--model auto starts its own trainings: run it as a single process, without torchrun");
  refuse_idle_options(options, searches);
  if (searches) return program.print(tasks::run_search(kind, search_request(program, options)));
  tasks::TrainRequest request = options.training;
  request.config = options.config.config;
  request.assignments = options.config.all_assignments();
  request.command_line = program.command_line();
  if (!options.track.empty()) request.assignments.push_back(track_setting(options));
  if (options.tensorboard) request.assignments.push_back(kTensorboardSetting);
  if (options.no_test) request.assignments.push_back("train.test=false");
  if (!request.resume.empty()) {
    require(request.config.empty() && request.out.empty(), ErrorKind::usage,
            "--resume uses the config and folder of its run; --config and --out are for new runs");
    require(!options.no_test, ErrorKind::usage,
            "--resume keeps the run's use of the test split; --no-test is for new runs");
  }
  const tasks::Result result = tasks::run_training(kind, request);
  program.print(result);
  if (result.json.contains("run"))
    if (const std::string next = next_command(kind, result.json); !next.empty())
      spdlog::info("next: {}", next);
}

void add_run_options(CLI::App& command, TrainOptions& options) {
  command.add_option("--out,--run", options.training.out, "run folder (default runs/DATA-MODEL)");
  command.add_flag("--overwrite", options.training.exist_ok, "overwrite an existing run");
  command
      .add_option("--track", options.track, "metrics recorded at each evaluation: stable_rank (train.track)")
      ->delimiter(',');
  command.add_flag("--tensorboard", options.tensorboard,
                   "write TensorBoard event files to the run folder (output.tensorboard)");
  command.add_flag("--no-test", options.no_test,
                   "do not read the test split, for model selection on validation (train.test); "
                   "evaluate RUN evaluates it later");
  command.add_option("--resume", options.training.resume, "run folder to resume; no other option is needed");
  command.add_flag("--allow-config-changes", options.training.accept_changes,
                   "with --resume: allow changed settings");
}

void add_training(Program& program, CLI::App& parent, const tasks::TaskSpec& kind) {
  const auto [command, options] = program.add_command<TrainOptions>(
      parent, kind.command, kind.summary, kind.example,
      [&kind](const Program& run_by, const TrainOptions& given) { train(run_by, kind, given); });
  std::vector<tasks::ShortOption> short_options = kind.options;
  short_options.insert(short_options.end(), training_options().begin(), training_options().end());
  for (tasks::ShortOption& one : short_options) one.help += fmt::format(" ({})", one.key);
  options.config.add_to(*command, kind.data_help, kind.model_help, "data,--data");
  add_short_options(*command, short_options, options.config.short_forms);
  add_run_options(*command, options);
  if (kind.search) {
    command->add_option("--budget", options.budget,
                        "with --model auto: time budget of the search, such as 90s, 10m, 1.5h (default 5m)");
    add_positive(*command, "--jobs", options.jobs,
                 "with --model auto: trainings at once (default: cores / --threads)");
    if (kind.search->refit != nullptr)
      command->add_flag("--refit", options.refit,
                        "with --model auto: after the evaluation, retrain the selected model with all rows, "
                        "beyond the budget");
  }
  program.add_settings(command, [&kind] { return kind.create({}); });
}

}  // namespace

void add_train(Program& program) {
  CLI::App* command =
      program.app().add_subcommand("train", "Trains a model; without a task, that of the data");
  command->require_subcommand(1);
  for (const tasks::TaskSpec* kind : tasks::task_specs()) add_training(program, *command, *kind);
}

}  // namespace modewise::cli
