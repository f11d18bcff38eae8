#include <algorithm>
#include <functional>
#include <set>

#include "cli/commands.h"
#include "cli/options.h"
#include "modewise/core/error.h"
#include "modewise/core/stop_signal.h"
#include "modewise/tasks/registry.h"
#include "modewise/tasks/run/commands.h"
#include "modewise/tasks/run/run_documents.h"

namespace modewise::cli {

namespace {

struct EvaluateOptions {
  tasks::EvaluateRequest request;
  std::vector<std::string> runs;
  std::vector<std::string> given;  // "--flag=value" of task-specific options
};

/// Settings of the `given` flags for a task; usage error for a flag that it does not have.
std::vector<std::string> settings_for(const tasks::TaskSpec& kind, const std::vector<std::string>& given,
                                      const std::string& run) {
  std::vector<std::string> settings;
  for (const std::string& one : given) {
    const std::string flag = one.substr(0, one.find('='));
    const auto& options = kind.evaluate_options.options;
    const auto found = std::find_if(options.begin(), options.end(),
                                    [&](const tasks::ShortOption& option) { return option.flag == flag; });
    require(found != options.end(), ErrorKind::usage, "{} is of the task '{}', which has no {}", run,
            kind.name, flag);
    settings.push_back(found->key + one.substr(flag.size()));
  }
  return settings;
}

/// The action's result; its errors of a setting, "--set KEY: …", name the option that set it.
tasks::Result with_option_names(const tasks::TaskSpec& kind, const std::function<tasks::Result()>& action) {
  try {
    return action();
  } catch (const Error& error) {
    const std::string message = error.what(), of_model = "model.";
    for (const tasks::ShortOption& option : kind.evaluate_options.options) {
      const std::string& key = option.key;
      const std::string named =
          "--set " + (key.starts_with(of_model) ? key.substr(of_model.size()) : key) + ":";
      if (message.starts_with(named))
        throw Error(error.kind(), option.flag + ":" + message.substr(named.size()));
    }
    throw;
  }
}

void evaluate(const Program& program, const EvaluateOptions& options) {
  install_stop_handlers();
  tasks::EvaluateRequest request = options.request;
  const tasks::TaskSpec& kind = tasks::task_of_runs(options.runs);
  tasks::require_shares(kind, "evaluate");
  require(options.runs.size() == 1 || kind.evaluate_options.several, ErrorKind::usage,
          "runs of the task '{}' are evaluated one at a time, got {}", kind.name, options.runs.size());
  request.run = options.runs.front();
  request.further_runs.assign(options.runs.begin() + 1, options.runs.end());
  request.settings = settings_for(kind, options.given, request.run);
  program.print(with_option_names(kind, [&] {
    return tasks::reading_run(request.run, [&] { return tasks::evaluate_run(kind, request); });
  }));
}

/// Adds the flags of all tasks without duplicates.
void add_task_options(CLI::App& command, std::vector<std::string>& given) {
  std::set<std::string> known;
  for (const tasks::TaskSpec* kind : tasks::task_specs()) {
    std::vector<tasks::ShortOption> fresh;
    for (tasks::ShortOption option : kind->evaluate_options.options) {
      if (!known.insert(option.flag).second) continue;
      option.key = option.flag;
      fresh.push_back(std::move(option));
    }
    if (fresh.empty()) continue;
    command.option_defaults()->group(kind->evaluate_options.title);
    add_short_options(command, fresh, given);
  }
  command.option_defaults()->group("Options");
}

}  // namespace

void add_evaluate(Program& program) {
  const auto [command, options] = program.add_command<EvaluateOptions>(
      program.app(), "evaluate",
      "Evaluates the model of a run on a split: forecast errors, AUC, accuracy, IoU, perplexity.",
      "modewise evaluate runs/ETTh1-hot", evaluate);
  command
      ->add_option(
          "run,--run", options.runs,
          "run folder (for image classification several), or a language model's folder or llama2.c .bin")
      ->required();
  command->add_option("--data", options.request.data, "other data of the same type");
  command->add_option("--masks", options.request.masks,
                      "segmentation, with --data: masks of the other images");
  command
      ->add_option("--split", options.request.split, "split: test, validation, train or all (default test)")
      ->check(CLI::IsMember({"test", "validation", "train", "all"}));
  command->add_flag("--detail", options.request.detail, "also print tables by series and step, or by class");
  add_task_options(*command, options.given);
}

}  // namespace modewise::cli
