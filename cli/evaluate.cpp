#include <map>

#include "cli/commands.h"
#include "cli/options.h"
#include "modewise/core/error.h"
#include "modewise/core/stop_signal.h"
#include "modewise/tasks/kinds.h"

namespace modewise::cli {

namespace {

struct EvaluateOptions {
  tasks::EvaluateRequest request;
  std::map<const tasks::Kind*, std::vector<std::string>> settings;  // of each task's own options
};

void evaluate(const Program& program, const EvaluateOptions& options) {
  install_stop_handlers();
  tasks::EvaluateRequest request = options.request;
  const tasks::Kind& kind = tasks::kind_of_run(request.run);
  for (const auto& [owner, settings] : options.settings) {
    require(owner == &kind || settings.empty(), ErrorKind::usage, "{} is of the task '{}': {} is for '{}'",
            request.run, kind.name, settings.empty() ? "" : settings.front(), owner->name);
    if (owner == &kind) request.settings = settings;
  }
  program.print(kind.evaluate(request));
}

}  // namespace

void add_evaluate(Program& program) {
  const auto [command, options] = program.add_command<EvaluateOptions>(
      program.app(), "evaluate",
      "How good a run's model is over a split: errors of forecasts, AUC, accuracy, IoU, perplexity.",
      "modewise evaluate runs/ETTh1-hot", evaluate);
  command
      ->add_option("run,--run", options.request.run, "run folder; a language model's folder or llama2.c .bin")
      ->required();
  command->add_option("--data", options.request.data, "other data of the same kind");
  command->add_option("--masks", options.request.masks,
                      "of segmenters, with --data: the masks of other images");
  command
      ->add_option("--split", options.request.split,
                   "test, validation, train, or all: everything in the file")
      ->check(CLI::IsMember({"test", "validation", "train", "all"}));
  command->add_flag("--detail", options.request.detail, "tables per series and per step, or per class");
  for (const tasks::Kind* kind : tasks::kinds()) {
    if (kind->evaluate_options.empty()) continue;
    command->option_defaults()->group(kind->evaluate_title);
    add_short_options(*command, kind->evaluate_options, options.settings[kind]);
  }
  command->option_defaults()->group("Options");
}

}  // namespace modewise::cli
