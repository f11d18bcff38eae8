#include "cli/commands.h"
#include "modewise/tasks/registry.h"
#include "modewise/tasks/run/commands.h"
#include "modewise/tasks/run/run_documents.h"

namespace modewise::cli {
namespace {

struct ExplainCommandOptions : tasks::ExplainRequest {
  std::string out;
  bool force = false;
};

void explain(const Program& program, const ExplainCommandOptions& options) {
  program.print(tasks::reading_run(options.run, [&] {
    return tasks::explain_run(tasks::task_of_run(options.run), options, options.out, options.force);
  }));
}

}  // namespace

void add_explain(Program& program) {
  const auto [command, options] = program.add_command<ExplainCommandOptions>(
      program.app(), "explain",
      "Explains a run: attention maps, stable ranks and occlusion, as HTML, JSON and NPZ.",
      "modewise explain runs/ETTh1-hot", explain);
  command->add_option("run,--run", options.run, "run folder")->required();
  command->add_option("--data", options.data,
                      "current location of the data, or other data of the same shape");
  command->add_option("--masks", options.masks, "segmentation, with --data: masks of the other images");
  command->add_option("--split", options.options.split, "split: test, validation or train (default test)")
      ->check(CLI::IsMember({"test", "validation", "train"}));
  add_positive(*command, "--samples", options.options.samples, "number of samples (default 32)");
  command->add_option("--num-examples", options.options.singles, "samples shown individually (default 2)")
      ->check(non_negative_number());
  add_positive(*command, "--max-positions", options.options.places,
               "maximum occluded positions per mode (default 128)");
  command->add_option("--out", options.out, "output folder (default RUN/explain)");
  command->add_flag("--overwrite", options.force, "overwrite existing files");
}

}  // namespace modewise::cli
