#include "modewise/tasks/segmentation/run.h"

#include "modewise/metrics/json_number.h"

#include "modewise/core/error.h"
#include "modewise/tasks/load_config.h"
#include "modewise/tasks/test_split.h"

namespace modewise::tasks {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// pixels, accuracy, mean_iou, micro_iou, mean_recall, kappa, classes (id, name, pixels, iou, precision,
/// recall, f1) and confusion, one row per true class.
nlohmann::ordered_json evaluation_json(const std::string& split, const metrics::ConfusionMatrix& matrix,
                                       const data::ClassMap& classes) {
  nlohmann::ordered_json result = {{"split", split},
                                   {"pixels", matrix.total()},
                                   {"accuracy", metrics::finite_or_null(matrix.accuracy())},
                                   {"mean_iou", metrics::finite_or_null(matrix.mean_iou())},
                                   {"micro_iou", metrics::finite_or_null(matrix.micro_iou())},
                                   {"mean_recall", metrics::finite_or_null(matrix.mean_recall())},
                                   {"kappa", metrics::finite_or_null(matrix.kappa())},
                                   {"classes", nlohmann::ordered_json::array()},
                                   {"confusion", nlohmann::ordered_json::array()}};
  for (int64_t c = 0; c < matrix.classes(); ++c) {
    const data::SceneClass& one = classes.classes()[static_cast<size_t>(c)];
    result["classes"].push_back({{"id", one.id},
                                 {"name", one.name},
                                 {"pixels", matrix.of_truth(c)},
                                 {"iou", metrics::finite_or_null(matrix.iou(c))},
                                 {"precision", metrics::finite_or_null(matrix.precision(c))},
                                 {"recall", metrics::finite_or_null(matrix.recall(c))},
                                 {"f1", metrics::finite_or_null(matrix.f1(c))}});
    nlohmann::ordered_json row = nlohmann::ordered_json::array();
    for (int64_t p = 0; p < matrix.classes(); ++p) row.push_back(matrix.count(c, p));
    result["confusion"].push_back(std::move(row));
  }
  return result;
}

}  // namespace

data::SceneSplit scene_split(const std::string& name) {
  if (name == "train") return data::SceneSplit::train;
  return name == "validation" ? data::SceneSplit::validation : data::SceneSplit::test;
}

Json evaluate_areas(models::Segmenter& model, const SegmentationConfig& config,
                    const data::SegmentationSet& data, const std::string& name, data::SceneSplit split,
                    train::Workers& workers) {
  const SegmentationErrors errors = evaluate_areas(model, data, data.areas(split), config.segment, workers);
  if (!workers.is_rank_zero()) return {};
  Json evaluation = evaluation_json(name, errors.confusion, data.classes());
  evaluation["loss"] = errors.mean_loss();
  return evaluation;
}

TrainedRun train_segment(const SegmentationConfig& config, const data::SegmentationSet& data,
                         train::RunFolder& run, bool resume, bool accept_changes) {
  require(!data.areas(data::SceneSplit::validation).empty(), ErrorKind::data,
          "{}: the validation split is empty; increase data.validation", data.source());
  SegmentationTask task(config, data);
  TrainedRun result;
  result.training = train::train(task, config.train, run, resume, accept_changes);
  if (!result.training.to_be_evaluated()) return result;
  result.metrics = run.read_metrics();
  result.metrics["test_read"] = config.train.test;
  for (const char* part : {"validation", "test"})
    if (const data::SceneSplit split = scene_split(part); !data.areas(split).empty())
      result.metrics[part] = evaluate_areas(task.model(), config, data, part, split);
  run.write_metrics(result.metrics);
  return result;
}

Json evaluate_left_out_test(const SegmentationRun& run, const data::SegmentationSet& set) {
  train::Workers& workers = train::workers();
  Json evaluation = evaluate_areas(*run.model, run.config, set, "test", data::SceneSplit::test, workers);
  if (!workers.is_rank_zero()) return {};
  write_test_figures(run.folder, {{"test", evaluation}}, set.hash());
  return evaluation;
}

SegmentationRun open_segment_run(const fs::path& path) {
  return open_run<SegmentationRun>(
      path, "segmentation", read_run_config<SegmentationConfig>, [](SegmentationRun& run) {
        run.data = data::read_scene_summary(run.folder.file("data.json").string());
        return models::make_segmenter(run.config.model, model_shape(run.data),
                                      static_cast<uint64_t>(run.config.train.seed));
      });
}

data::SegmentationSet load_run_scenes(const SegmentationRun& run, const std::string& path,
                                      const std::string& masks, bool whole, bool with_test) {
  data::SegmentationDataConfig config = run.config.data;
  require(masks.empty() || !path.empty(), ErrorKind::usage, "--masks needs --data: the images of the masks");
  if (!path.empty()) {
    require(!masks.empty(), ErrorKind::usage, "--data {} needs --masks: the true classes", path);
    config.path = path;
    config.masks = masks;
    config.layout = "auto";
    config.split = "auto";
  }
  return {config, run.data, whole || !path.empty(), with_test};
}

}  // namespace modewise::tasks
