#include "modewise/tasks/segment_compare.h"

#include "modewise/tasks/segment_run.h"

namespace modewise::tasks {

FinishedRun read_finished_segmenter(const std::filesystem::path& path) {
  FinishedRun run;
  run.path = path;
  run.metrics = read_finished_metrics(path, "segment");
  const train::RunFolder folder = train::RunFolder::open(path);
  SegmentConfig config = read_segment_config(folder);
  run.model = model_title(config);
  run.task = std::filesystem::path(config.data.path).stem().string();
  run.settings = settings_of(fields_of(config),
                             {"segment.evaluation_batch", "data.masks", "data.cache_mb", "output.pictures"});
  run.seed = config.train.seed;
  run.data_hash = data::read_scene_summary(folder.file("data.json").string()).hash;
  return run;
}

report::Table segment_table(const std::vector<RunGroup>& groups) {
  using Best = report::Column::Best;
  report::Table table({{"task"},
                       {"model"},
                       {"seeds"},
                       {"accuracy %", Best::highest},
                       {"mean IoU %", Best::highest},
                       {"micro IoU %"},
                       {"mean recall %", Best::highest},
                       {"validation accuracy %"},
                       {"validation mean IoU %"}});
  table.best_by_group = true;
  for (size_t i = 0; i < groups.size(); ++i) {
    const RunGroup& group = groups[i];
    const bool new_task = begins_task(groups, i);
    if (new_task && i > 0) table.add_rule();
    table.add_row({new_task ? group.task : "", group.name, std::ssize(group.runs),
                   statistic(group, "/test/accuracy", 1, 100), statistic(group, "/test/mean_iou", 1, 100),
                   statistic(group, "/test/micro_iou", 1, 100), statistic(group, "/test/mean_recall", 1, 100),
                   statistic(group, "/validation/accuracy", 1, 100),
                   statistic(group, "/validation/mean_iou", 1, 100)});
  }
  return table;
}

nlohmann::ordered_json segment_comparison_json(const std::vector<RunGroup>& groups) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const RunGroup& group : groups)
    rows.push_back(group_json(group, {{"accuracy", "/test/accuracy"},
                                      {"mean_iou", "/test/mean_iou"},
                                      {"micro_iou", "/test/micro_iou"},
                                      {"mean_recall", "/test/mean_recall"},
                                      {"kappa", "/test/kappa"},
                                      {"validation_accuracy", "/validation/accuracy"},
                                      {"validation_mean_iou", "/validation/mean_iou"}}));
  return {{"groups", rows}};
}

}  // namespace modewise::tasks
