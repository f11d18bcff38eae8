#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/language_options.h"
#include "cli/task_verbs.h"
#include "modewise/core/error.h"
#include "modewise/report/table.h"
#include "modewise/tasks/language/attention.h"
#include "modewise/tasks/language/compare.h"
#include "modewise/tasks/language/report.h"
#include "modewise/tasks/language/run.h"

namespace modewise::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

int refuse_prediction(const Program&, const PredictOptions& options) {
  fail(ErrorKind::usage, "{} is a language model: modewise generate continues a text with it", options.run);
}

void write_report(const std::string& run, const std::string&, const std::filesystem::path& out) {
  tasks::write_language_report(tasks::open_language_run(run), out);
}

int show_data(const Program& program, const ShowDataOptions& options) {
  std::vector<std::string> assignments = options.config.all_assignments();
  std::erase_if(assignments, [](const std::string& one) { return one.starts_with("model.name="); });
  tasks::LanguageConfig config = load_language_options(options.config.config, assignments);
  require(!config.data.path.empty(), ErrorKind::usage, "no text: name a file or a folder");
  const tasks::LanguageData data = tasks::load_language_data(config, tasks::tokenizer_of(config));
  const Json json = tasks::describe(config, data);
  if (program.json() || config.data.is_recall()) {
    program.print(json);
    return 0;
  }
  std::string text = fmt::format("{}: {}\n", data.set.source, data.tokenizer->name());
  for (const std::string& note : data.set.notes) text += "note: " + note + "\n";
  report::Table table({{"part"}, {"documents"}, {"tokens"}, {"bytes"}, {"words"}, {"bytes a token"}});
  for (const char* part : {"train", "validation", "test"}) {
    const Json& one = json[part];
    table.add_row({part, one["documents"].get<int64_t>(), one["tokens"].get<int64_t>(),
                   one["bytes"].get<int64_t>(), one["words"].get<int64_t>(),
                   Cell(one["bytes"].get<double>() / std::max(1.0, one["tokens"].get<double>()), 2)});
  }
  program.print(text + "\n" + table.to_text());
  return 0;
}

}  // namespace

const TaskVerbs language_verbs = {"language",
                                  evaluate_language_model,
                                  refuse_prediction,
                                  write_report,
                                  tasks::language_comparison,
                                  nullptr,
                                  show_config<load_language_options>,
                                  show_data,
                                  tasks::language_attention};

}  // namespace modewise::cli
