#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "modewise/core/error.h"
#include "modewise/core/output_file.h"
#include "modewise/tasks/kinds.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

struct ExplainCommandOptions : tasks::ExplainRequest {
  std::string out;
  bool force = false;
};

void explain(const Program& program, const ExplainCommandOptions& options) {
  const tasks::Kind& kind = tasks::kind_of_run(options.run);
  require(kind.explain != nullptr, ErrorKind::usage,
          "{0} is of the task '{1}', which explain does not know: modewise decompose {0} measures its "
          "attention, layer by layer and head by head",
          options.run, kind.name);
  const fs::path out = options.out.empty() ? fs::path(options.run) / "explain" : fs::path(options.out);
  // A run's own explanation is made from the run and may be made again; any other file is somebody's.
  if (!options.out.empty())
    for (const char* file : tasks::kExplanationFiles) require_new(out / file, options.force);
  const tasks::Explanation explanation = kind.explain(options);
  std::error_code error;
  fs::create_directories(out, error);
  require(!error, ErrorKind::cannot_create, "cannot create {}: {}", out.string(), error.message());
  tasks::write_explanation(explanation, out);
  nlohmann::ordered_json json = tasks::explanation_json(explanation);
  json["report"] = (out / "explain.html").string();
  std::string text = explanation.title + "\n";
  if (!explanation.ranks.empty()) text += "\nstable rank\n" + tasks::rank_table(explanation).to_text();
  for (const tasks::Influence& one : explanation.influences) {
    const size_t most =
        static_cast<size_t>(std::max_element(one.effect.begin(), one.effect.end()) - one.effect.begin());
    text +=
        fmt::format("\n{}: {} moves the output most ({:.4g})", one.mode, one.places[most], one.effect[most]);
  }
  text += fmt::format("\n\n{}\n", (out / "explain.html").string());
  program.print(tasks::Result(std::move(json), std::move(text)));
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
  command->add_option("--singles", options.options.singles, "of them, shown one by one")
      ->check(non_negative_number());
  add_positive(*command, "--places", options.options.places, "most places of a mode taken away in turn");
  command->add_option("--out", options.out, "folder; RUN/explain without it");
  command->add_flag("--force", options.force, "overwrite what is there");
}

}  // namespace modewise::cli
