#include "modewise/tasks/explain_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/output_file.h"
#include "modewise/tasks/task_registry.h"

namespace modewise::tasks {

namespace fs = std::filesystem;

Result explain_run(const ExplainRequest& request, const std::string& out, bool force) {
  const TaskSpec& kind = task_of_run(request.run);
  require(kind.explain != nullptr, ErrorKind::usage,
          "{0} is of the task '{1}', which explain does not support: modewise decompose {0} measures its "
          "attention, layer by layer and head by head",
          request.run, kind.name);
  const fs::path folder = out.empty() ? fs::path(request.run) / "explain" : fs::path(out);
  if (!out.empty())
    for (const char* file : kExplanationFiles) require_new(folder / file, force);
  const Explanation explanation = kind.explain(request);
  std::error_code error;
  fs::create_directories(folder, error);
  require(!error, ErrorKind::cannot_create, "cannot create {}: {}", folder.string(), error.message());
  write_explanation(explanation, folder);
  nlohmann::ordered_json json = explanation_json(explanation);
  json["report"] = (folder / "explain.html").string();
  std::string text = explanation.title + "\n";
  if (!explanation.ranks.empty()) text += "\nstable rank\n" + rank_table(explanation).to_text();
  for (const Influence& one : explanation.influences) {
    const auto maximum = std::max_element(one.effect.begin(), one.effect.end()) - one.effect.begin();
    text += fmt::format("\n{}: occluding {} changes the output most ({:.4g})", one.mode,
                        one.places[static_cast<size_t>(maximum)], one.effect[static_cast<size_t>(maximum)]);
  }
  text += fmt::format("\n\n{}\n", (folder / "explain.html").string());
  return {std::move(json), std::move(text)};
}

}  // namespace modewise::tasks
