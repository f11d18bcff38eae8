#include "cli/commands.h"
#include "modewise/tasks/explain_run.h"
#include "modewise/tasks/run_documents.h"

namespace modewise::cli {
namespace {

struct ExplainCommandOptions : tasks::ExplainRequest {
  std::string out;
  bool force = false;
};

void explain(const Program& program, const ExplainCommandOptions& options) {
  program.print(tasks::reading_run(options.run,
                                   [&] { return tasks::explain_run(options, options.out, options.force); }));
}

}  // namespace

void add_explain(Program& program) {
  const auto [command, options] = program.add_command<ExplainCommandOptions>(
      program.app(), "explain",
      "Attention maps, stable ranks, and what moves a run's output: HTML, JSON, NPZ.",
      "modewise explain runs/ETTh1-hot", explain);
  command->add_option("run,--run", options.run, "run folder")->required();
  command->add_option("--data", options.data, "where the data lies now, or other data that fits");
  command->add_option("--masks", options.masks, "of segmenters, with --data: the masks of other images");
  command->add_option("--split", options.options.split, "test, validation or train")
      ->check(CLI::IsMember({"test", "validation", "train"}));
  add_positive(*command, "--samples", options.options.samples, "samples to look at");
  command->add_option("--num-examples", options.options.singles, "of them, shown one by one")
      ->check(non_negative_number());
  add_positive(*command, "--max-positions", options.options.places, "most places of a mode taken away in turn");
  command->add_option("--out", options.out, "folder; RUN/explain without it");
  command->add_flag("--overwrite", options.force, "overwrite what is there");
}

}  // namespace modewise::cli
