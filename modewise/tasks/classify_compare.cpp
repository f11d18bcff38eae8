#include "modewise/tasks/classify_compare.h"

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/tasks/classify_config.h"
#include "modewise/train/run_folder.h"

namespace modewise::tasks {

FinishedRun read_finished_classifier(const std::filesystem::path& path) {
  FinishedRun run;
  run.path = path;
  run.metrics = read_finished_metrics(path, "classify");
  const train::RunFolder folder = train::RunFolder::open(path);
  ClassifyConfig config;
  fields_of(config).load_toml_file(folder.file("config.toml").string());
  run.model = model_title(config);
  run.task = std::filesystem::path(config.data.path).stem().string();
  run.settings = settings_of(fields_of(config), {"classify.evaluation_batch"});
  run.seed = config.train.seed;
  const auto data = nlohmann::json::parse(read_file(folder.file("data.json")), nullptr, false);
  require(data.is_object(), ErrorKind::data, "{} is not a JSON object", folder.file("data.json").string());
  run.data_hash = data.value("hash", "");
  return run;
}

report::Table classify_table(const std::vector<RunGroup>& groups) {
  using Best = report::Column::Best;
  report::Table table({{"task"},
                       {"model"},
                       {"seeds"},
                       {"AUC %", Best::highest},
                       {"accuracy %", Best::highest},
                       {"balanced %"},
                       {"validation AUC %"},
                       {"log loss", Best::lowest}});
  table.best_by_group = true;
  for (size_t i = 0; i < groups.size(); ++i) {
    const RunGroup& group = groups[i];
    const bool new_task = begins_task(groups, i);
    if (new_task && i > 0) table.add_rule();
    table.add_row({new_task ? group.task : "", group.name, std::ssize(group.runs),
                   statistic(group, "/test/auc", 1, 100), statistic(group, "/test/accuracy", 1, 100),
                   statistic(group, "/test/balanced_accuracy", 1, 100),
                   statistic(group, "/validation/auc", 1, 100), statistic(group, "/test/loss", 3)});
  }
  return table;
}

nlohmann::ordered_json classify_comparison_json(const std::vector<RunGroup>& groups) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const RunGroup& group : groups)
    rows.push_back(group_json(group, {{"auc", "/test/auc"},
                                      {"accuracy", "/test/accuracy"},
                                      {"balanced_accuracy", "/test/balanced_accuracy"},
                                      {"loss", "/test/loss"},
                                      {"validation_auc", "/validation/auc"},
                                      {"validation_accuracy", "/validation/accuracy"}}));
  return {{"groups", rows}};
}

}  // namespace modewise::tasks
