#include "modewise/tasks/segment/run.h"

#include "modewise/core/error.h"
#include "modewise/tasks/load_config.h"

namespace modewise::tasks {

namespace fs = std::filesystem;

TrainedRun train_segment(const SegmentConfig& config, const data::SceneSet& data, train::RunFolder& run,
                         bool resume, bool accept_changes) {
  require(!data.areas(data::SceneSplit::validation).empty(), ErrorKind::data,
          "{}: there is nothing to validate on; data.validation gives it a share", data.source());
  SegmentTask task(config, data);
  TrainedRun result;
  result.training = train::train(task, config.train, run, resume, accept_changes);
  if (result.training.stopped_by_signal()) return result;
  result.metrics = run.read_metrics();
  const auto judge = [&](const char* name, data::SceneSplit split) {
    if (data.areas(split).empty()) return;
    const SegmentErrors errors = evaluate_areas(task.model(), data, data.areas(split), config.segment);
    result.metrics[name] = evaluation_json(name, errors.confusion, data.classes());
    result.metrics[name]["loss"] = errors.loss;
  };
  judge("validation", data::SceneSplit::validation);
  judge("test", data::SceneSplit::test);
  run.write_metrics(result.metrics);
  return result;
}

SegmentRun open_segment_run(const fs::path& path) {
  train::RunFolder folder = train::RunFolder::open(path);
  SegmentConfig config = read_run_config<SegmentConfig>(folder);
  data::SceneSummary summary = data::read_scene_summary(folder.file("data.json").string());
  SegmentRun run{std::move(folder), std::move(config), std::move(summary), nullptr};
  run.model = models::make_segmenter(run.config.model, model_shape(run.data),
                                     static_cast<uint64_t>(run.config.train.seed));
  train::load_weights(*run.model, run.folder);
  run.model->eval();
  return run;
}

data::SceneSet load_run_scenes(const SegmentRun& run, const std::string& path, const std::string& masks,
                               bool whole) {
  data::SceneConfig config = run.config.data;
  require(masks.empty() || !path.empty(), ErrorKind::usage,
          "--masks needs --data: the images that they belong to");
  if (!path.empty()) {
    require(!masks.empty(), ErrorKind::usage, "--data {} needs --masks: classes to compare with", path);
    config.path = path;
    config.masks = masks;
    config.layout = "auto";
    config.split = "auto";
  }
  return {config, run.data, whole || !path.empty()};
}

}  // namespace modewise::tasks
