#include "cli/commands.h"
#include "cli/task_verbs.h"
#include "modewise/core/stop_signal.h"

namespace modewise::cli {

void add_evaluate(Program& program) {
  const auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command = program.add_command(
      program.app(), "evaluate",
      "How good a run's model is over a split: errors of forecasts, AUC, accuracy, IoU, perplexity.",
      "modewise evaluate runs/ETTh1-hot", [&program, options] {
        install_stop_handlers();
        return verbs_of_run(options->run).evaluate(program, *options);
      });
  command->add_option("run,--run", options->run, "run folder; a language model's folder or llama2.c .bin")
      ->required();
  command->add_option("--data", options->data, "other data of the same kind");
  command->add_option("--masks", options->masks, "of segmenters, with --data: the masks of other images");
  command->add_option("--split", options->split, "test, validation, train, or all: everything in the file")
      ->check(CLI::IsMember({"test", "validation", "train", "all"}));
  command->add_flag("--detail", options->detail, "tables per series and per step, or per class");
  options->language.add_to(*command);
  command->add_option("--report", options->out, "of language models: tables and figures as FILE.html");
}

}  // namespace modewise::cli
