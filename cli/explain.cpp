#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "modewise/core/error.h"
#include "modewise/tasks/kinds.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

struct ExplainCommandOptions : tasks::ExplainRequest {
  std::string out;
};

int explain(const Program& program, const ExplainCommandOptions& options) {
  const tasks::Kind& kind = tasks::kind_of_run(options.run);
  require(
      kind.explain != nullptr, ErrorKind::usage,
      "{0} is of the task '{1}', which explain does not know: modewise decompose {0} measures its attention, "
      "layer by layer and head by head",
      options.run, kind.name);
  const fs::path out = options.out.empty() ? fs::path(options.run) / "explain" : fs::path(options.out);
  const tasks::Explanation explanation = kind.explain(options);
  std::error_code error;
  fs::create_directories(out, error);
  require(!error, ErrorKind::cannot_create, "cannot create {}: {}", out.string(), error.message());
  tasks::write_explanation(explanation, out);
  nlohmann::ordered_json json = tasks::explanation_json(explanation);
  json["report"] = (out / "explain.html").string();
  if (program.json()) {
    program.print(json);
    return 0;
  }
  std::string text = explanation.title + "\n";
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double v : values) sum += v / static_cast<double>(values.size());
    return sum;
  };
  if (!explanation.ranks.empty()) {
    const bool factors = !explanation.ranks.front().modes.empty();
    std::vector<report::Column> columns = {{"layer"}};
    for (const int64_t mode : explanation.ranks.front().modes)
      columns.push_back({"rank, " + explanation.mode_names[static_cast<size_t>(mode)]});
    for (const char* name : {"rank, product", "rank, sum"})
      if (factors) columns.push_back({name});
    if (!factors) columns.push_back({"rank, all tokens"});
    report::Table table(columns);
    for (size_t i = 0; i < explanation.ranks.size(); ++i) {
      const analysis::LayerRanks& ranks = explanation.ranks[i];
      std::vector<report::Cell> cells = {i + 1};
      for (const auto& heads : ranks.by_mode) cells.emplace_back(mean(heads), 2);
      for (const auto* heads : {&ranks.product, &ranks.sum, &ranks.full})
        if (!heads->empty()) cells.emplace_back(mean(*heads), 2);
      table.add_row(std::move(cells));
    }
    text += "\n" + table.to_text();
  }
  for (const tasks::Influence& one : explanation.influences) {
    const size_t most =
        static_cast<size_t>(std::max_element(one.effect.begin(), one.effect.end()) - one.effect.begin());
    text +=
        fmt::format("\n{}: {} moves the output most ({:.4g})", one.mode, one.places[most], one.effect[most]);
  }
  program.print(text + fmt::format("\n\n{}\n", (out / "explain.html").string()));
  return 0;
}

}  // namespace

void add_explain(Program& program) {
  const auto options = std::make_shared<ExplainCommandOptions>();
  CLI::App* command = program.add_command(
      program.app(), "explain",
      "Attention maps, stable ranks, and what moves a run's output: HTML, JSON, NPZ.",
      "modewise explain runs/ETTh1-hot", [&program, options] { return explain(program, *options); });
  command->add_option("run,--run", options->run, "run folder")->required();
  command->add_option("--data", options->data, "where the data lies now, or other data that fits");
  command->add_option("--masks", options->masks, "of segmenters, with --data: the masks of other images");
  command->add_option("--split", options->options.split, "test, validation or train")
      ->check(CLI::IsMember({"test", "validation", "train"}));
  command->add_option("--samples", options->options.samples, "samples to look at")
      ->check(CLI::PositiveNumber);
  command->add_option("--singles", options->options.singles, "of them, shown one by one")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--places", options->options.places, "most places of a mode taken away in turn")
      ->check(CLI::PositiveNumber);
  command->add_option("--out", options->out, "folder; RUN/explain without it");
}

}  // namespace modewise::cli
